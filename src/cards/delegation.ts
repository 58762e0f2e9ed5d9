import { z } from 'zod'
import type { Delegation, Delegations, Fault, Person } from '../core/index.ts'
import { defineCard } from './define-card.ts'
import { choice, faultLine, faultsOfForm, partsOf } from './form-faults.ts'
import { type Look, look, plain } from './look.ts'
import { strings } from './messages.ts'
import { cut, lastDay, longest, type Viewer } from './words.ts'

/** A day as inputs write it, `2026-11-30`; `''` for none. */
const day = z.union([z.literal(''), z.iso.date()])
const remarks = ['check', 'several', 'nobody', 'unclearDay'] as const

/** What is said above the form of what was typed: who was found, or what was not understood. */
export interface Remark {
  readonly words: (typeof remarks)[number]
  /** What was typed; of `check` the name and sign-in name that was found. */
  readonly typed: string
}

/** The form: who decides while somebody is away, and until when. */
export interface DelegationForm {
  readonly values: { readonly to: string; readonly until: string }
  /** Whose names the picker shows, or from among whom to choose. */
  readonly people: readonly Person[]
  readonly isChoice: boolean
  readonly remarks: readonly Remark[]
  readonly faults: readonly Fault[]
  /** The viewer's today. */
  readonly earliest: string
}

/** What waits for somebody now; `more`: that is not all. */
export interface Waiting {
  readonly count: number
  readonly more: boolean
}

/** How it stands with somebody's delegation, or what has just become of it. */
export type DelegationNow =
  | { readonly step: 'form'; readonly form: DelegationForm }
  | { readonly step: 'saved'; readonly waiting: Waiting }
  | { readonly step: 'ended'; readonly ended: Delegation | undefined }

const who = z.strictObject({ name: z.string(), address: z.string(), at: z.string() })

export const delegationCard = defineCard({
  name: 'delegation',
  data: z.strictObject({
    heading: z.enum(['away', 'delegated', 'mistake', 'mistakes', 'saved', 'ended', 'nothing']),
    look,
    faultCount: z.int(),
    /** Whoever decides for the viewer; nobody has no name. */
    own: who,
    /** Whoever did until just now. */
    former: z.string(),
    asks: z.boolean(),
    waiting: z.enum(['', 'none', 'one', 'several', 'many']),
    count: z.int(),
    remarks: z.array(z.strictObject({ words: z.enum(remarks), typed: z.string() })),
    isChoice: z.boolean(),
    people: z.array(choice),
    values: z.strictObject({ to: z.union([z.literal(''), z.uuid()]), until: day }),
    faults: z.strictObject({ to: faultLine, until: faultLine }),
    otherFaults: z.array(z.strictObject({ detail: z.string() })),
    earliest: day,
    toMe: z.array(who.omit({ address: true })),
    moreToMe: z.int(),
  }),
})
type View = Parameters<typeof delegationCard.render>[0]

/** Beyond as many, only their number is shown. */
const mostToMe = 6
const nobody = { name: '', address: '', at: '' }
const done: Look = { mark: '✓', color: 'Good', band: 'good' }
const noForm: DelegationForm = {
  ...{ values: { to: '', until: '' }, people: [], isChoice: false, remarks: [], faults: [], earliest: '' },
}

/** Who decides for the viewer, for whom the viewer decides, and what can be done about it. */
export function delegationView(now: DelegationNow, { own, toMe }: Delegations, viewer: Viewer): View {
  const form = now.step === 'form' ? now.form : noForm
  const faults = faultsOfForm(form.faults, undefined, {
    ids: ['to', 'until'],
    label: (id) => (id === 'to' ? strings.delegation.to.label : strings.delegation.until.label),
    inputOf: (fault) => partsOf(fault)[0] ?? '',
    resource: 'delegation',
  })
  const { heading, look } = faults.view
  return {
    ...(heading === 'mistake' || heading === 'mistakes' ? { heading, look } : headingOf(now, own)),
    faultCount: faults.view.faultCount,
    own: own ? whoOf(own.delegate, own, viewer) : nobody,
    former: now.step === 'ended' && now.ended ? cut(now.ended.delegate.displayName, longest.name) : '',
    asks: now.step === 'form',
    waiting: now.step === 'saved' ? waitingWords(now.waiting) : '',
    count: now.step === 'saved' ? now.waiting.count : 0,
    remarks: form.remarks.map(({ words, typed }) => ({ words, typed: cut(typed, longest.title) })),
    isChoice: form.isChoice,
    people: form.people.map((person) => ({ title: titleOf(person, form.isChoice), value: person.id })),
    values: form.values,
    faults: { to: faults.lineOf('to'), until: faults.lineOf('until') },
    otherFaults: faults.view.otherFaults,
    earliest: form.earliest,
    toMe: toMe.slice(0, mostToMe).map((one) => {
      const { name, at } = whoOf(one.person, one, viewer)
      return { name, at }
    }),
    moreToMe: Math.max(0, toMe.length - mostToMe),
  }
}

/** "Omar Haddad decides for you until 30 November 2026." in its parts; nobody's are empty. */
export const delegateOf = (own: Delegation | undefined, viewer: Viewer): { name: string; at: string } => {
  const { name, at } = own ? whoOf(own.delegate, own, viewer) : nobody
  return { name, at }
}

const whoOf = (person: Person, { until }: Delegation, viewer: Viewer) => ({
  name: cut(person.displayName, longest.name),
  address: cut(person.userPrincipalName, longest.address),
  at: lastDay(until, viewer),
})

/** Among several of one name only the sign-in name tells who is who. */
const titleOf = ({ displayName, userPrincipalName }: Person, isChoice: boolean): string => {
  const name = cut(displayName, longest.name)
  return isChoice ? `${name} (${cut(userPrincipalName, longest.address)})` : name
}

function headingOf(now: DelegationNow, own: Delegation | undefined): Pick<View, 'heading' | 'look'> {
  if (now.step === 'saved') return { heading: 'saved', look: done }
  if (now.step === 'ended') return now.ended ? { heading: 'ended', look: done } : { heading: 'nothing', look: plain }
  return own ? { heading: 'delegated', look: plain } : { heading: 'away', look: plain }
}

function waitingWords({ count, more }: Waiting): View['waiting'] {
  if (more) return 'many'
  if (count === 0) return 'none'
  return count === 1 ? 'one' : 'several'
}
