import { setTimeout } from 'node:timers/promises'
import { actionsOf, pressed, textOf } from '../support/cards.ts'
import type { ChangeKind, Step } from '../support/change-points.ts'
import type { Card } from '../support/connector.ts'
import { until } from '../support/until.ts'
import type { Change } from './changes-aim.ts'
import { admin, type ClientPlace, peopleOf } from './changes-people.ts'
import { type ChangesWorld, digestHour } from './changes-world.ts'
import type { Person } from './plan.ts'

/** The number of rows of a batch. */
export const rowsOfBatch = 4
/** How long a change waits for one event, whatever the number of kills. Seconds. */
const longestWait = 300

/** Facts that a change notes for the check. */
export interface Traces {
  requestIds: string[]
  batchId?: string
  /** When the batch was accepted. */
  acceptedAt?: number
  erasureId?: string
  /** The person of an erasure, the approver of a digest, and the absent approver of a rejection. */
  person?: Person
  /** The person who decides for the absent approver. */
  delegate?: Person
  /** When the first decision was clicked first. */
  clickedAt?: number
  /** The text of the answer to the former approver's click on the old card. */
  refused?: string
  /** Errors that no client should see. */
  readonly errors: string[]
}
export interface Scene {
  readonly world: ChangesWorld
  readonly change: Change
  readonly traces: Traces
  /** Returns a template whose stages have these approvers. All approvers of a stage must approve. */
  readonly template: (...stages: readonly (readonly Person[])[]) => Promise<string>
  /** Settles when the change may prepare a start at which digests are due. Returns the time of this start. */
  readonly wake: () => Promise<number>
}

const question = /Your decision, please/
export const nameOf = (n: number): string => `Lab ${String(n).padStart(4, '0')}`
const mailNameOf = (n: number): string => nameOf(n).toLowerCase().replace(' ', '-')

/** Plays a change with all its people, to its end. */
export const play = (scene: Scene): Promise<void> => players[scene.change.kind](scene)

const players: { readonly [K in ChangeKind]: (scene: Scene) => Promise<void> } = {
  batch: playBatch,
  reassign: playReassign,
  twoStages: playTwoStages,
  rejection: playRejection,
  digest: playDigest,
  erasure: playErasure,
}

async function playBatch(scene: Scene): Promise<void> {
  const { world, change, traces } = scene
  const { requester, first } = peopleOf(change.n)
  await meet(scene, requester, first)
  // The first progress card contains no name yet.
  change.ids.add(requester.id)
  const templateId = await scene.template([first])
  const rows = Array.from({ length: rowsOfBatch }, (_, place) => ({
    key: String(place + 1),
    body: roomBody(change.n, templateId, place + 1),
  }))
  const how = { wanted: 202, key: `batch-${change.n}`, body: { resource: 'mailbox', rows } }
  const { batchId } = await world.people.send(requester, '/requests/v1/batch', { ...how, ...before(scene, 'submit') })
  world.aim.answered(change, 'submit')
  traces.batchId = String(batchId)
  traces.acceptedAt = Date.now()
  change.ids.add(traces.batchId)
  const asked = await card(scene, first, question)
  const clicked = { replyToId: asked.id, ...pressed(asked.card, 'Approve all') }
  await world.people.click(first, {
    ...{ ...clicked, ...before(scene, 'approve') },
    read: (shown, text) => /You approved/.test(text) || (shown && !has(shown, 'Approve all')) || undefined,
  })
  world.aim.answered(change, 'approve')
  await card(scene, requester, /Your batch has ended/)
}

async function playReassign(scene: Scene): Promise<void> {
  const { world, change, traces } = scene
  const { requester, first, second } = peopleOf(change.n)
  await meet(scene, requester, first, second, admin)
  const requestId = await submit(scene, requester, await scene.template([first]))
  change.ids.add(second.id)
  const old = await card(scene, first, question)
  await reassign(scene, requestId, first, second)
  world.aim.answered(change, 'reassign')
  const asked = await card(scene, second, question)
  traces.refused = await world.people.click(first, {
    ...{ replyToId: old.id, verb: 'approval.approve', data: { requestId, stage: 1, comment: '' } },
    read: (_, text) => (isTemporary(text) ? undefined : text),
  })
  await decide(scene, second, asked, 'approve')
  await hasEnded(scene)
}

/** Half of the reassignments are clicks of an admin; the others are calls of the approver. */
async function reassign({ world, change, ...scene }: Scene, requestId: string, from: Person, to: Person) {
  const gate = before({ world, change, ...scene }, 'reassign')
  if (change.n % 2 === 0) {
    const how = { wanted: 200, key: `reassign-${change.n}`, body: { to: to.id }, ...gate }
    return world.people.send(from, `/requests/v1/${requestId}/reassign`, how)
  }
  const data = { requestId, from: from.id, to: to.id, comment: '' }
  return world.people.click(admin, {
    ...{ replyToId: `reassign-${change.n}`, verb: 'admin.reassign', data, ...gate },
    read: (shown, text) => (shown && !isTemporary(text) && !has(shown, 'Reassign') ? true : undefined),
  })
}

async function playTwoStages(scene: Scene): Promise<void> {
  const { requester, first, second } = peopleOf(scene.change.n)
  await meet(scene, requester, first, second)
  await submit(scene, requester, await scene.template([first], [second]))
  await decide(scene, first, await card(scene, first, question), 'approve')
  await decide(scene, second, await card(scene, second, /Approval 2 of 2/), 'approveNext', 2)
  await hasEnded(scene)
}

/** Both approvers must approve. The delegate of the absent one approves, then the other one rejects. */
async function playRejection(scene: Scene): Promise<void> {
  const { world, change, traces } = scene
  const { requester, second } = peopleOf(change.n)
  const [person, delegate] = [world.freshPerson(), world.freshPerson()]
  Object.assign(traces, { person, delegate })
  await meet(scene, requester, second, person, delegate)
  const lastDay = new Date(Date.now() + 7 * 86_400_000).toISOString().slice(0, 10)
  await world.people.click(person, {
    ...{ replyToId: `away-${change.n}`, verb: 'delegation.save', data: { to: delegate.id, until: lastDay } },
    read: (_, text) => text.includes(`${delegate.name} can also decide for you until`) || undefined,
  })
  await submit(scene, requester, await scene.template([person, second]))
  // A kill can delay this card until the decisions below end the request. Then the service rightly never sends it.
  await card(scene, person, question)
  await decide(scene, delegate, await card(scene, delegate, question), 'approve')
  await decide(scene, second, await card(scene, second, question), 'reject')
  // The request has ended, but these two cards are still on their way, and the kill may be aimed at them.
  await card(scene, requester, /Nothing was created\. You can change the request/)
  await until(
    () => shownTo(world, delegate, /then rejected the request/, nameOf(change.n)),
    `the end of ${change.n}`,
    longestWait,
  )
}

async function playDigest(scene: Scene): Promise<void> {
  const { world, change, traces } = scene
  const { requester } = peopleOf(change.n)
  const person = world.freshPerson()
  traces.person = person
  await meet(scene, requester)
  // Shortly after midnight there, so that no digest is due yet.
  await world.people.move(person, placeWhere(0, 10, Date.now()))
  await submit(scene, requester, await scene.template([person]))
  const asked = await card(scene, person, question)
  change.isAsleep = true
  await world.people.move(person, placeWhere(digestHour, 0, await scene.wake()))
  change.begun.add('digest')
  await card(scene, person, /Waiting for your decision/)
  await decide(scene, person, asked, 'approve')
  await hasEnded(scene)
}

async function playErasure(scene: Scene): Promise<void> {
  const { world, change, traces } = scene
  const { requester, first } = peopleOf(change.n)
  const person = world.freshPerson()
  traces.person = person
  change.ids.add(person.id)
  await meet(scene, person, requester, admin)
  const templateId = await scene.template([first])
  for (const [by, row] of [[person, 1] as const, [requester, 2] as const]) {
    const requestId = await submit(scene, by, templateId, row, `For ${person.name}.`)
    const how = { wanted: 200, key: `cancel-${requestId}`, body: { comment: `${person.name} needs no room.` } }
    await world.people.send(by, `/requests/v1/${requestId}/cancel`, how)
  }
  const erasureId = crypto.randomUUID()
  traces.erasureId = erasureId
  const data = { personId: person.id, address: addressOf(person), erasureId }
  const click = (gate: Pick<Parameters<typeof world.people.click>[1], 'before'>) =>
    world.people.click(admin, {
      ...{ replyToId: `erase-${change.n}`, verb: 'admin.erase', data, ...gate },
      read: (_, text) => /I am erasing the data/.test(text) || undefined,
    })
  await click(before(scene, 'erase'))
  world.aim.answered(change, 'erase')
  await until(() => sentTo(world, admin, /The data is erased/, person.id), `the erasure of ${change.n}`, longestWait)
  await click({})
  await setTimeout(500)
}

const before = ({ world, change, traces }: Scene, step: Step) => ({
  async before() {
    await world.aim.before(change, step)
    if (step === 'approve') traces.clickedAt ??= Date.now()
  },
})
const meet = ({ world }: Scene, ...people: readonly Person[]) => Promise.all(people.map(world.people.meet))
const has = (card: Card, title: string): boolean => actionsOf(card).some((one) => one.title === title)
const isTemporary = (text: string): boolean => /try again|in a moment/i.test(text)
export const addressOf = ({ name }: Person): string => `${name.toLowerCase().replace(' ', '')}@contoso.example`

function roomBody(n: number, templateId: string, row?: number, reason = 'Of the laboratory.'): object {
  const more = row === undefined ? ['', ''] : [`-${row}`, ` ${row}`]
  return { name: `${mailNameOf(n)}${more[0]}`, displayName: `${nameOf(n)}${more[1]}`, templateId, reason }
}

/** Submits a request of the change by REST. */
async function submit(
  { world, change, traces }: Scene,
  requester: Person,
  templateId: string,
  row?: number,
  reason?: string,
): Promise<string> {
  const how = { key: `lab-${change.n}-${row}`, body: roomBody(change.n, templateId, row, reason) }
  const { requestId } = await world.people.send(requester, '/mail/v1/mailboxes/', { wanted: 202, ...how })
  traces.requestIds.push(String(requestId))
  change.ids.add(String(requestId))
  return String(requestId)
}

/** Decides the request of the change, or a stage of it, by a click on this card. */
async function decide(scene: Scene, person: Person, { id: replyToId }: { id: string }, step: Step, stage = 1) {
  const { world, change, traces } = scene
  const isRejection = step === 'reject'
  const data = { requestId: traces.requestIds[0], stage, comment: isRejection ? 'We have enough rooms.' : '' }
  const done = isRejection ? /Rejected by you/ : /Approved by you/
  await world.people.click(person, {
    ...{ replyToId, verb: isRejection ? 'approval.reject' : 'approval.approve', data, ...before(scene, step) },
    read: (_, text) => done.test(text) || undefined,
  })
  world.aim.answered(change, step)
}

/** Waits until the request of the change has ended. */
async function hasEnded({ world, traces, change }: Scene): Promise<void> {
  const ended = async () => {
    const { status } = await world.people.get(admin, `/requests/v1/${traces.requestIds[0]}`)
    return /^(succeeded|rejected|failed|expired|cancelled)$/.test(String(status)) || undefined
  }
  await until(ended, `the end of ${change.n}`, longestWait)
}

const texts = new WeakMap<Card, string>()
/** Returns the text of a card. Many people look for their cards among thousands, again and again. */
function known(card: Card): string {
  const text = texts.get(card) ?? textOf(card)
  texts.set(card, text)
  return text
}

/** Returns the last card in a person's chat with these texts. */
export function sentTo(
  { connector, people }: ChangesWorld,
  person: Person,
  says: RegExp,
  name: string,
): { readonly id: string; readonly card: Card } | undefined {
  const chat = people.chatOf(person)
  const found = connector.sent.findLast(({ conversationId, card }) => {
    if (conversationId !== chat || !card) return false
    const text = known(card)
    return says.test(text) && text.includes(name)
  })
  return found?.card && { id: found.id, card: found.card }
}

/** Returns whether a card in a person's chat shows these texts now. */
const shownTo = ({ connector, people }: ChangesWorld, person: Person, says: RegExp, name: string): boolean =>
  connector
    .chat(people.chatOf(person))
    .some(({ card }) => says.test(textOf(card ?? {})) && textOf(card ?? {}).includes(name))

/** Waits for a card about the change in a person's chat. */
const card = ({ world, change }: Scene, person: Person, says: RegExp) =>
  until(() => sentTo(world, person, says, nameOf(change.n)), `${says} of ${change.n} for ${person.name}`, longestWait)

const minute = 60_000
/** Returns a place where it is this local time at the minute of `at`, on a day that is no weekend there. */
function placeWhere(hour: number, minutes: number, at: number): ClientPlace {
  const utc = Math.floor(at / minute) % 1440
  const offset = ((hour * 60 + minutes - utc + 2160) % 1440) - 720
  const two = (value: number): string => String(value).padStart(2, '0')
  const size = Math.abs(offset)
  const localTimezone = `${offset < 0 ? '-' : '+'}${two(Math.floor(size / 60))}:${two(size % 60)}`
  const isSunday = new Date(at + offset * minute).getUTCDay() === 0
  // In India only Sunday is a weekend, in Israel Friday and Saturday are.
  return { localTimezone, locale: isSunday ? 'en-IL' : 'en-IN' }
}
