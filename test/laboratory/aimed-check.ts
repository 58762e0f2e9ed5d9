import { textOf } from '../support/cards.ts'
import { isShort, type JourneyKind, journeyKinds, linkOf, wholeTimeline } from '../support/journey.ts'
import { tenantCalls } from '../support/kill-points.ts'
import { people } from '../support/teams-user.ts'
import { until } from '../support/until.ts'
import type { Journey } from './aim.ts'
import type { AimedWorld } from './aimed-world.ts'
import type { Violation } from './checker.ts'
import type { HistoryEvent } from './history.ts'
import { statusCardOf } from './plan.ts'

const cardOf = (world: AimedWorld, { planned }: Journey) => world.connector.activity(statusCardOf(planned))

/** Waits until every status card has its link, or one line that points to the follow-up card. All automatic updates have arrived by then. */
export async function everyStatusCard(world: AimedWorld, journeys: readonly Journey[]): Promise<void> {
  const isThere = (one: Journey) => isShort(cardOf(world, one)) || linkOf(cardOf(world, one)) !== undefined
  // The check reports the cards that still lack a link, one by one.
  await until(() => journeys.every(isThere) || undefined, 'every status card', 60).catch(() => undefined)
}

/** Returns faults that the history's checker does not find: everything that the requester sees must be exact. */
export async function faultsOf(world: AimedWorld, journey: Journey): Promise<Violation[]> {
  const { planned, kind, requestId, met } = journey
  const { n, requester } = planned
  const events = world.history.events.filter((one) => 'n' in one && one.n === n)
  const faults = requestId ? await asRead(world, journey, events, requestId, requester) : ['has no request']
  faults.push(...followUpFaults(world.history.events, events, journey))
  const why = `${kind}, killed ${met.map(({ name }) => name).join('; then ') || 'at none of its points'}`
  return faults.map((what) => ({ rule: 'complete for its requester', n, what: `${what} (${why})` }))
}

async function asRead(
  world: AimedWorld,
  journey: Journey,
  events: readonly HistoryEvent[],
  requestId: string,
  requester: Journey['planned']['requester'],
): Promise<string[]> {
  const request = await world.clients.get(requester, `/requests/v1/${requestId}`)
  const { url = '', address = url } = (request['resource'] ?? {}) as { url?: string; address?: string }
  const status = cardOf(world, journey)
  const timeline = events.flatMap((one) => (one.event === 'end' ? one.timeline.map(({ action }) => action) : []))
  const whole = wholeTimeline(journey.kind)
  return [
    ...(request['status'] === 'succeeded' && request['problem'] === null ? [] : [`is ${request['status']}`]),
    ...(timeline.join() === whole.join() ? [] : [`its timeline is ${timeline.join(', ')}`]),
    ...(isShort(status) || (address !== '' && linkOf(status) === address)
      ? []
      : [`its card has ${linkOf(status)} instead of ${address}`]),
    ...(isShort(status) || textOf(status?.card ?? {}).includes('Ready')
      ? []
      : ['its card does not say that it is ready']),
  ]
}

/**
 * Returns faults of the follow-up cards: exactly one, or none if a kill lost it or came between the end of the job and
 * its status card.
 */
export function followUpFaults(
  all: readonly HistoryEvent[],
  events: readonly HistoryEvent[],
  { met }: Pick<Journey, 'met'>,
): string[] {
  const count = events.filter((one) => one.event === 'card' && one.card === 'followUp').length
  const isLost = met.some(({ part, place }) => part === 'end' && place.at === 'card' && place.card.how === 'lose')
  if (isLost) return count === 0 ? [] : [`${count} follow-up cards, although it was lost`]
  if (count > 1) return [`${count} follow-up cards`]
  const timeline = events.flatMap((one) => (one.event === 'end' ? one.timeline : []))
  const from = timeline.find(({ action }) => action === 'succeeded')?.at ?? 0
  const to = events.find((one) => one.event === 'card' && one.card === 'ready')?.at ?? from
  const isDoubtful = all.some((one) => one.event === 'killed' && one.at >= from && one.at <= to + 1000)
  return count === 1 || isDoubtful ? [] : ['no follow-up card, and no kill that explains it']
}

/** Matches the operations of the steps. Other calls look names up before, or read people. */
const ofSteps =
  /^(graph\.groups\.(?!list|transitive)|graph\.sites|graph\.users\.update|sharepoint\.(?!site\.exists)|exchange\.)/

/**
 * Returns calls of the steps without a kill point, and kill points without a call; empty if the list of points is
 * complete.
 */
export function unaimed(journeys: readonly Journey[]): Record<JourneyKind, string[]> {
  const of = (kind: JourneyKind) => {
    const called = new Set(journeys.filter((one) => one.kind === kind).flatMap(({ operations }) => [...operations]))
    const listed = new Set(tenantCalls[kind].map(({ operation }) => operation))
    return [...called]
      .filter((one) => ofSteps.test(one))
      .filter((one) => !listed.has(one))
      .concat([...listed].filter((one) => !called.has(one)))
  }
  return Object.fromEntries(journeyKinds.map((kind) => [kind, of(kind)])) as Record<JourneyKind, string[]>
}

/** Returns the dead letters. There must be none, because no call was refused. */
export const deadLetters = async ({ clients }: AimedWorld): Promise<unknown> =>
  (await clients.get(people.sam, '/admin/v1/dead-letters'))['value']
