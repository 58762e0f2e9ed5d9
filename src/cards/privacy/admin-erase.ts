import { z } from 'zod'
import { type Delegation, type Erasure, type ErasureCounts, type Request, referenceOf } from '../../core/index.ts'
import { look, looks, toKnow } from '../shared/look.ts'
import { commandName, format, restText, strings } from '../shared/messages.ts'
import { defineCard, type ViewOf } from '../shared/render.ts'
import { cut, lastDay, longest, peopleList, quantity, shortName, type Viewer } from '../shared/texts.ts'

/** The status of an erasure: to confirm, blocked, ordered, or done. */
export type ErasureNow =
  | { readonly step: 'confirm' | 'mismatch' | 'blocked' | 'ordered'; readonly erasure: Erasure }
  | { readonly step: 'done'; readonly personId: string; readonly removed: ErasureCounts }

const line = z.strictObject({ text: z.string() })
const steps = ['confirm', 'mismatch', 'blocked', 'you', 'ordered', 'done'] as const

export const adminEraseCard = defineCard({
  name: 'admin-erase',
  data: z.strictObject({
    step: z.enum(steps),
    look,
    personId: z.uuid(),
    person: z.strictObject({ name: z.string(), address: z.string() }),
    /** The text that the admin must type to confirm: an address, or an id for a person without one. */
    confirms: z.enum(['address', 'id']),
    expected: z.string(),
    erasureId: z.union([z.literal(''), z.uuid()]),
    /** The items that block the erasure, each with a command that shows it. */
    rows: z.array(z.strictObject({ title: z.string(), says: z.string(), command: z.string() })).max(6),
    /** How many more there are, or `''`. */
    more: z.string(),
    notes: z.array(line),
    goes: z.array(line),
    stays: z.array(line),
    /** Whether the card can end delegations. */
    delegations: z.boolean(),
  }),
})
type View = ViewOf<typeof adminEraseCard>
type Row = View['rows'][number]

const most = 6

/** Shows the data that the erasure removes and keeps, its blockers, or its result. */
export function adminEraseView(now: ErasureNow, viewer: Viewer): View {
  if (now.step === 'done') return doneView(now.personId, now.removed)
  const { person, isYou, confirmWith, templates, erasureId } = now.erasure
  const step = now.step === 'blocked' && isYou ? 'you' : now.step
  const isAsked = step === 'confirm' || step === 'mismatch'
  const all = step === 'blocked' ? blocksOf(now.erasure, viewer) : []
  const texts = strings.erase
  return {
    step,
    look: step === 'ordered' ? looks.queued : toKnow,
    personId: person.id,
    person: {
      name: cut(person.displayName || person.id, longest.title),
      address: cut(person.userPrincipalName, longest.address),
    },
    confirms: confirmWith === person.id ? 'id' : 'address',
    expected: cut(confirmWith, longest.address),
    erasureId,
    rows: all.slice(0, most),
    more: restText(texts.more, all.length - most),
    notes:
      isAsked && templates.length > 0
        ? lines([
            format(texts.note.templates, {
              names: peopleList(
                templates.map((one) => ({ displayName: one })),
                'and',
              ),
            }),
          ])
        : [],
    goes: isAsked ? lines(Object.values(texts.will)) : [],
    stays: isAsked ? stays(person.id) : [],
    delegations: step === 'blocked' && now.erasure.blocks.delegations.length > 0,
  }
}

function doneView(personId: string, removed: ErasureCounts): View {
  const counts = Object.entries(strings.erase.was).flatMap(([name, message]) => {
    const count = name in removed ? removed[name as keyof ErasureCounts] : 0
    return count > 0 ? [format(message, { count: quantity(count) })] : []
  })
  return {
    ...{ step: 'done', look: looks.succeeded, personId, person: { name: '', address: '' } },
    confirms: 'id',
    expected: '',
    erasureId: '',
    rows: [],
    more: '',
    notes: [],
    delegations: false,
    goes: lines(counts.length > 0 ? counts : [strings.erase.wasNothing]),
    stays: stays(personId),
  }
}

const lines = (texts: readonly string[]): z.output<typeof line>[] => texts.map((text) => ({ text }))
const stays = (id: string) => lines(Object.values(strings.erase.keeps).map((message) => format(message, { id })))

function blocksOf({ blocks, person }: Erasure, viewer: Viewer): Row[] {
  const texts = strings.erase.blocks
  const isListed = new Set([...blocks.waiting, ...blocks.open].map(({ requestId }) => requestId))
  // No request's card shows their end, so the command checks the erasure again.
  const lookAgain = `${strings.types.adminErase} ${person.id}`
  const ofRequest = (request: Request, says: string): Row => ({
    title: `${referenceOf(request)} · ${shortName(request.details)}`,
    says,
    command: `${commandName('admin status')} ${referenceOf(request)}`,
  })
  const ofDelegation = ({ person, delegate, until }: Delegation): Row => ({
    title: texts.delegationTitle,
    says: format(texts.delegation, {
      name: shortName(delegate),
      other: shortName(person),
      date: lastDay(until, viewer),
    }),
    command: lookAgain,
  })
  return [
    ...blocks.waiting.map((request) => ({
      ...ofRequest(request, texts.waiting),
      command: format(strings.queue.types.reassign, { reference: referenceOf(request) }),
    })),
    ...blocks.open.map((request) =>
      ofRequest(request, format(texts.open, { state: strings.state[request.status].name })),
    ),
    ...blocks.named
      .filter(({ requestId }) => !isListed.has(requestId))
      .map((request) => ofRequest(request, format(texts.named, { state: strings.state[request.status].name }))),
    ...blocks.delegations.map(ofDelegation),
    ...(blocks.batches > 0 ? [{ title: texts.batches, says: texts.batchesEnd, command: lookAgain }] : []),
  ]
}
