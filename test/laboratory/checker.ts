import { askingFaults, deciderFaults, endsOf, isAsking, type Outage, timerFaults } from './approval-rules.ts'
import type { CardKind, HistoryEvent, Kind } from './history.ts'

type Of<E extends HistoryEvent['event']> = Extract<HistoryEvent, { event: E }>
/** A broken rule, with the number of the planned request. */
export interface Violation {
  readonly rule: string
  readonly n: number
  readonly what: string
}
export interface CheckOptions {
  /** Maximum time until a request ends, after the last start or the last action of its people. Seconds. */
  readonly terminalSeconds: number
  /** A kill within this time after a card arrived may have kept the acknowledgement from the service. Milliseconds. */
  readonly doubtMilliseconds: number
}
/** A card that arrives within this time after a kill was already on its way when its sender died. Milliseconds. */
const onItsWay = 250
const usual: CheckOptions = { terminalSeconds: 60, doubtMilliseconds: 1000 }

/** A second copy of the allowed transitions, so that the service is not checked against its own table (DESIGN §4). */
const legal: Readonly<Record<string, readonly string[]>> = {
  '': ['pendingApproval', 'queued'],
  pendingApproval: ['queued', 'rejected', 'expired'],
  queued: ['provisioning'],
  provisioning: ['succeeded'],
  succeeded: [],
  rejected: [],
  expired: [],
}
const failures = ['failed', 'cancelled']

/** The objects in the tenant for each kind after its creation. */
const whole: Readonly<Record<Kind, Readonly<Partial<Record<Of<'made'>['what'], number>>>>> = {
  teamSite: { unifiedGroup: 1, securityGroup: 1, site: 1 },
  communicationSite: { securityGroup: 1, site: 1 },
  sharedMailbox: { mailbox: 1 },
  roomMailbox: { mailbox: 1 },
  equipmentMailbox: { mailbox: 1 },
}

/** All events of one planned request. */
interface Story {
  readonly n: number
  readonly submitted: Of<'submitted'> | undefined
  readonly events: readonly HistoryEvent[]
  readonly ends: readonly Of<'end'>[]
}
interface World {
  readonly kills: readonly number[]
  readonly lastUp: number
  readonly outages: readonly Outage[]
  readonly webhooks: ReadonlyMap<string, readonly Of<'webhook'>[]>
  readonly options: CheckOptions
}

/**
 * Checks a whole history: acknowledged requests exist once and have ended; nothing was created twice or without a
 * request; no decision counts twice; nobody was notified twice; every timeline follows the allowed transitions.
 */
export function violationsIn(history: readonly HistoryEvent[], options: Partial<CheckOptions> = {}): Violation[] {
  const world: World = {
    kills: only(history, 'killed').map(({ at }) => at),
    lastUp: Math.max(0, ...only(history, 'up').map(({ at }) => at)),
    outages: outagesIn(history),
    webhooks: Map.groupBy(only(history, 'webhook'), ({ requestId }) => requestId),
    options: { ...usual, ...options },
  }
  const byRequest = Map.groupBy(
    history.filter((one) => 'n' in one),
    ({ n }) => n,
  )
  return [...byRequest].flatMap(([n, events]) => {
    const [submitted] = only(events, 'submitted')
    const story = { n, submitted, events, ends: only(events, 'end') }
    return rules.flatMap(([rule, check]) => check(story, world).map((what) => ({ rule, n, what })))
  })
}

const only = <E extends HistoryEvent['event']>(events: readonly HistoryEvent[], event: E): Of<E>[] =>
  events.filter((one): one is Of<E> => one.event === event)

type Rule = readonly [name: string, check: (story: Story, world: World) => string[]]
const rules: readonly Rule[] = [
  ['acknowledged once', acknowledgedOnce],
  ['ended in time', endedInTime],
  ['created once and completely', createdOnce],
  ['decided once', decidedOnce],
  ['timers on time', timersOnTime],
  ['notified once', notifiedOnce],
  ['legal timeline', legalTimeline],
  ['announced by webhook', announcedOnce],
  ['answered correctly', ({ events }) => only(events, 'refused').map(({ why }) => why)],
]

/**
 * Returns faults of acknowledgements. Every client repeats until it has one; exactly the acknowledged request exists.
 */
function acknowledgedOnce({ submitted, events, ends }: Story): string[] {
  const acknowledged = new Set(only(events, 'acknowledged').map(({ requestId }) => requestId))
  const there = ends.map(({ requestId }) => requestId)
  return [
    ...(submitted && acknowledged.size === 0 ? ['was never acknowledged'] : []),
    ...(acknowledged.size > 1 ? [`was acknowledged as ${[...acknowledged].join(' and ')}`] : []),
    ...[...acknowledged].filter((id) => !there.includes(id)).map((id) => `${id} was acknowledged and is lost`),
    ...there.filter((id) => !acknowledged.has(id)).map((id) => `${id} exists and was never acknowledged`),
  ]
}

function endedInTime({ submitted, events, ends }: Story, { lastUp, options }: World): string[] {
  const acts = events.filter(({ event }) => event === 'acknowledged' || event === 'decided').map(({ at }) => at)
  const since = Math.max(lastUp, ...acts)
  return ends.flatMap(({ status, problem, timeline }) => {
    if (!endsOf(submitted?.asks).includes(status)) return [`is ${status} in the end${problem ? `: ${problem}` : ''}`]
    const ended = timeline.find(({ action }) => action === status)?.at ?? Number.POSITIVE_INFINITY
    const seconds = (ended - since) / 1000
    return seconds > options.terminalSeconds ? [`ended ${seconds.toFixed(1)} s after the last start`] : []
  })
}

function createdOnce({ submitted, events, ends }: Story): string[] {
  const made = only(events, 'made')
  const ids = ends.map(({ requestId }) => requestId)
  const stray = made.filter(({ requestId }) => requestId === null || !ids.includes(requestId))
  const wanted = submitted && ends.some(({ status }) => status === 'succeeded') ? whole[submitted.kind] : {}
  const counts = Map.groupBy(made, ({ what }) => what)
  return [
    ...stray.map(
      ({ what, name, requestId }) => `${what} ${name} has ${requestId ?? 'no mark'}, which is not a request`,
    ),
    ...(['unifiedGroup', 'securityGroup', 'site', 'mailbox'] as const).flatMap((what) => {
      const [is, should] = [counts.get(what)?.length ?? 0, wanted[what] ?? 0]
      return is === should ? [] : [`${is} × ${what} instead of ${should}`]
    }),
  ]
}

/**
 * Returns faults of decisions. One of the people who are asked decides, unless the request expires. Every acknowledged
 * decision is stored.
 */
function decidedOnce({ submitted, events, ends }: Story): string[] {
  if (ends.length === 0) return []
  const decisions = ends.flatMap((end) => end.decisions)
  const entries = ends.flatMap(({ timeline }) => timeline.filter(({ action }) => /^(approved|rejected)$/.test(action)))
  const should = submitted?.approval && ends.every(({ status }) => status !== 'expired') ? 1 : 0
  const unheard = only(events, 'decided').filter(
    ({ by, verdict }) => !decisions.some((one) => one.by === by && one.verdict === verdict),
  )
  const isEnded = ends.every(({ status }) => endsOf(submitted?.asks).includes(status))
  return [
    ...(decisions.length > should || (isEnded && decisions.length < should)
      ? [`${decisions.length} decisions instead of ${should}`]
      : []),
    ...(entries.length > should ? [`the timeline has ${entries.length} decisions`] : []),
    ...unheard.map(({ by, verdict }) => `the decision of ${by} (${verdict}) was acknowledged and is not stored`),
    ...ends.flatMap((end) => deciderFaults(submitted?.asks, end)),
  ]
}

function timersOnTime({ submitted, ends }: Story, world: World): string[] {
  return ends.flatMap((end) => timerFaults(submitted?.asks, end, world, world.options.terminalSeconds))
}

/** Returns the times between the kill of the last running replica and the next start of one. */
function outagesIn(history: readonly HistoryEvent[]): Outage[] {
  const running = new Set<number>()
  const outages: Outage[] = []
  let from: number | undefined
  for (const event of history) {
    if (event.event === 'killed' && running.delete(event.replica) && running.size === 0) from = event.at
    if (event.event !== 'up') continue
    if (from !== undefined) outages.push({ from, to: event.at })
    from = undefined
    running.add(event.replica)
  }
  return outages
}

/**
 * Returns faults of cards. A card is sent again only if a kill may have kept its acknowledgement from the service
 * (decision 6).
 */
function notifiedOnce({ submitted, events, ends }: Story, { kills, options }: World): string[] {
  const isDoubtful = ({ at, unheard }: Of<'card'>) =>
    unheard === true || kills.some((kill) => kill >= at - onItsWay && kill <= at + options.doubtMilliseconds)
  const cards = only(events, 'card')
  const sent = Map.groupBy(
    cards.filter(({ card }) => card !== 'ready' && card !== 'over' && !isAsking(card)),
    ({ card, chat }) => `${card} in ${chat}`,
  )
  const again = [...sent].flatMap(([what, sendings]) => {
    const heard = sendings.slice(0, -1).filter((one) => !isDoubtful(one))
    return heard.length > 0
      ? [`${sendings.length} × ${what}, of which ${heard.length} were acknowledged before the last`]
      : []
  })
  const timeline = ends.flatMap((end) => end.timeline)
  const notificationFaults = (status: string, name: string, kinds: readonly CardKind[]): string[] => {
    const is = ends.some((end) => end.status === status)
    const isReported = cards.some(({ card }) => kinds.includes(card))
    if (is === isReported) return []
    return [is ? `nobody was notified that it is ${name}` : `was reported as ${name} and is not`]
  }
  return [
    ...again,
    ...askingFaults(submitted?.asks, cards, timeline, isDoubtful),
    ...notificationFaults('succeeded', 'ready', ['followUp', 'ready']),
    ...notificationFaults('expired', 'expired', ['expired', 'over']),
  ]
}

function legalTimeline({ ends }: Story): string[] {
  return ends.flatMap(({ timeline, status }) => {
    const actions = timeline.map(({ action }) => action)
    const states = actions.filter((action) => action in legal || failures.includes(action))
    const jumps = states.filter((state, index) => !(legal[states[index - 1] ?? ''] ?? []).includes(state))
    const single = actions.filter((action) => /^(step:|announced$)/.test(action))
    const twice = single.filter((action, index) => single.indexOf(action) !== index)
    const steps = actions.flatMap((action, index) => (action.startsWith('step:') ? [index] : []))
    const [from, to] = [actions.indexOf('provisioning'), actions.indexOf('succeeded')]
    const outside = steps.filter((index) => index < from || from < 0 || (to >= 0 && index > to))
    const back = timeline.some(({ at }, index) => at < (timeline[index - 1]?.at ?? 0))
    return [
      ...jumps.map((state) => `${state} in ${states.join(', ')}`),
      ...(states.at(-1) === status ? [] : [`ends as ${states.at(-1)} and is ${status}`]),
      ...twice.map((action) => `${action} twice`),
      ...outside.map((index) => `${actions[index]} outside of provisioning`),
      ...(back ? ['goes back in time'] : []),
    ]
  })
}

/**
 * Returns faults of webhooks. Delivery is at least once; a repeated delivery has the same id, so that a receiver
 * recognises it (Standard Webhooks).
 */
function announcedOnce({ ends }: Story, { webhooks }: World): string[] {
  return ends.flatMap(({ requestId, status, timeline }) => {
    const ids = new Set((webhooks.get(requestId) ?? []).map(({ id, type }) => `${type} ${id}`))
    if (timeline.length === 0 || ids.size === 1) return []
    return ids.size === 0 ? [`no webhook reports that it is ${status}`] : [`${ids.size} events: ${[...ids].join(', ')}`]
  })
}
