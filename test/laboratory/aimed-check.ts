import { textOf } from '../support/cards.ts'
import { type JourneyKind, journeyKinds, linkOf, wholeTimeline } from '../support/journey.ts'
import { tenantCalls } from '../support/kill-points.ts'
import { people } from '../support/teams-user.ts'
import { until } from '../support/until.ts'
import type { Journey } from './aim.ts'
import type { AimedWorld } from './aimed-world.ts'
import type { Violation } from './checker.ts'
import type { HistoryEvent } from './history.ts'
import { statusCardOf } from './plan.ts'

const cardOf = (world: AimedWorld, { wish }: Journey) => world.connector.activity(statusCardOf(wish))

/** Waits until every status card has its link: what comes by itself has come then. */
export async function everyStatusCard(world: AimedWorld, journeys: readonly Journey[]): Promise<void> {
  const isThere = (one: Journey) => linkOf(cardOf(world, one)) !== undefined
  // Those without a link in the end are found by the check, one by one.
  await until(() => journeys.every(isThere) || undefined, 'every status card', 60).catch(() => undefined)
}

/** What is wrong with a journey beside what the history's checker finds: all that its requester sees, exactly. */
export async function faultsOf(world: AimedWorld, journey: Journey): Promise<Violation[]> {
  const { wish, kind, requestId, met } = journey
  const { n, requester } = wish
  const events = world.history.events.filter((one) => 'n' in one && one.n === n)
  const faults = requestId ? await asRead(world, journey, events, requestId, requester) : ['has no request']
  faults.push(...followUpFaults(world.history.events, events, journey))
  const why = `${kind}, killed ${met.map(({ name }) => name).join('; then ') || 'nowhere of its own'}`
  return faults.map((what) => ({ rule: 'whole as its requester sees it', n, what: `${what} (${why})` }))
}

async function asRead(
  world: AimedWorld,
  journey: Journey,
  events: readonly HistoryEvent[],
  requestId: string,
  requester: Journey['wish']['requester'],
): Promise<string[]> {
  const request = await world.clients.get(requester, `/requests/v1/${requestId}`)
  const { url = '', address = url } = (request['resource'] ?? {}) as { url?: string; address?: string }
  const status = cardOf(world, journey)
  const timeline = events.flatMap((one) => (one.event === 'end' ? one.timeline.map(({ action }) => action) : []))
  const whole = wholeTimeline(journey.kind)
  return [
    ...(request['status'] === 'succeeded' && request['problem'] === null ? [] : [`is ${request['status']}`]),
    ...(timeline.join() === whole.join() ? [] : [`its timeline is ${timeline.join(', ')}`]),
    ...(address !== '' && linkOf(status) === address ? [] : [`its card has ${linkOf(status)} instead of ${address}`]),
    ...(textOf(status?.card ?? {}).includes('Ready') ? [] : ['its card does not say that it is ready']),
  ]
}

/** Exactly one follow-up card; none where a kill took it, or came between the end of the work and its status card. */
export function followUpFaults(
  all: readonly HistoryEvent[],
  events: readonly HistoryEvent[],
  { met }: Pick<Journey, 'met'>,
): string[] {
  const count = events.filter((one) => one.event === 'card' && one.card === 'followUp').length
  const isLost = met.some(({ part, place }) => part === 'end' && place.at === 'card' && place.card.how === 'lose')
  if (isLost) return count === 0 ? [] : [`${count} follow-up cards, and it was lost`]
  if (count > 1) return [`${count} follow-up cards`]
  const timeline = events.flatMap((one) => (one.event === 'end' ? one.timeline : []))
  const from = timeline.find(({ action }) => action === 'succeeded')?.at ?? 0
  const to = events.find((one) => one.event === 'card' && one.card === 'ready')?.at ?? from
  const isDoubtful = all.some((one) => one.event === 'killed' && one.at >= from && one.at <= to + 1000)
  return count === 1 || isDoubtful ? [] : ['no follow-up card, and no kill that would have taken it']
}

/** What the steps call; the rest is looked up before, or reads people. */
const ofSteps =
  /^(graph\.groups\.(?!list|transitive)|graph\.sites|graph\.users\.update|sharepoint\.(?!site\.exists)|exchange\.)/

/** Calls of the work at which no kill is aimed, or the other way round: none, if the list of points is whole. */
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

/** What was given up: nothing, as nothing was ever refused. */
export const deadLetters = async ({ clients }: AimedWorld): Promise<unknown> =>
  (await clients.get(people.sam, '/admin/v1/dead-letters'))['value']
