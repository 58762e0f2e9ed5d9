import { askedOften, decidedFor, endsOf, isAsking, tendedInTime } from './approval-rules.ts'
import type { CardKind, HistoryEvent, Kind } from './history.ts'

type Of<E extends HistoryEvent['event']> = Extract<HistoryEvent, { event: E }>
/** Something that must not be, and whose it is. */
export interface Violation {
  readonly rule: string
  readonly n: number
  readonly what: string
}
export interface CheckOptions {
  /** Within how many seconds a request ends: after the last start, or after the last thing its people did. */
  readonly terminalSeconds: number
  /** For how long after the connector took a card a kill may have kept the service from hearing so. Milliseconds. */
  readonly doubtMilliseconds: number
}
/** A card that comes so many milliseconds after a kill was under way when its sender died. */
const onItsWay = 250
const usual: CheckOptions = { terminalSeconds: 60, doubtMilliseconds: 1000 }

/** Written out a second time, so that the service is not judged by its own table (DESIGN §4). */
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

/** What stands in the tenant for each kind once it is made. */
const whole: Readonly<Record<Kind, Readonly<Partial<Record<Of<'made'>['what'], number>>>>> = {
  teamSite: { unifiedGroup: 1, securityGroup: 1, site: 1 },
  communicationSite: { securityGroup: 1, site: 1 },
  sharedMailbox: { mailbox: 1 },
  roomMailbox: { mailbox: 1 },
  equipmentMailbox: { mailbox: 1 },
}

/** All that one wish left behind. */
interface Story {
  readonly n: number
  readonly asked: Of<'asked'> | undefined
  readonly events: readonly HistoryEvent[]
  readonly ends: readonly Of<'end'>[]
}
interface World {
  readonly kills: readonly number[]
  readonly lastUp: number
  readonly webhooks: ReadonlyMap<string, readonly Of<'webhook'>[]>
  readonly options: CheckOptions
}

/**
 * Decides over a whole history: what was acknowledged is there once and has ended, nothing was made twice or without a
 * request, nobody's decision counts twice, nobody was told twice, and every timeline is one that the states allow.
 */
export function violationsIn(history: readonly HistoryEvent[], options: Partial<CheckOptions> = {}): Violation[] {
  const world: World = {
    kills: only(history, 'killed').map(({ at }) => at),
    lastUp: Math.max(0, ...only(history, 'up').map(({ at }) => at)),
    webhooks: Map.groupBy(only(history, 'webhook'), ({ requestId }) => requestId),
    options: { ...usual, ...options },
  }
  const byWish = Map.groupBy(
    history.filter((one) => 'n' in one),
    ({ n }) => n,
  )
  return [...byWish].flatMap(([n, events]) => {
    const [asked] = only(events, 'asked')
    const story = { n, asked, events, ends: only(events, 'end') }
    return rules.flatMap(([rule, look]) => look(story, world).map((what) => ({ rule, n, what })))
  })
}

const only = <E extends HistoryEvent['event']>(events: readonly HistoryEvent[], event: E): Of<E>[] =>
  events.filter((one): one is Of<E> => one.event === event)

type Rule = readonly [name: string, look: (story: Story, world: World) => string[]]
const rules: readonly Rule[] = [
  ['acknowledged once', acknowledgedOnce],
  ['ended in time', endedInTime],
  ['made once and whole', madeWhole],
  ['decided once', decidedOnce],
  ['tended in time', tended],
  ['told once', toldOnce],
  ['legal timeline', legalTimeline],
  ['announced by webhook', announcedOnce],
  ['answered rightly', ({ events }) => only(events, 'refused').map(({ why }) => why)],
]

/** Every client goes on until it is told; what it is told of is there, and nothing beside it. */
function acknowledgedOnce({ asked, events, ends }: Story): string[] {
  const told = new Set(only(events, 'acknowledged').map(({ requestId }) => requestId))
  const there = ends.map(({ requestId }) => requestId)
  return [
    ...(asked && told.size === 0 ? ['was never acknowledged'] : []),
    ...(told.size > 1 ? [`was acknowledged as ${[...told].join(' and ')}`] : []),
    ...[...told].filter((id) => !there.includes(id)).map((id) => `${id} was acknowledged and is lost`),
    ...there.filter((id) => !told.has(id)).map((id) => `${id} exists and was never acknowledged`),
  ]
}

function endedInTime({ asked, events, ends }: Story, { lastUp, options }: World): string[] {
  const acts = events.filter(({ event }) => event === 'acknowledged' || event === 'decided').map(({ at }) => at)
  const since = Math.max(lastUp, ...acts)
  return ends.flatMap(({ status, timeline }) => {
    if (!endsOf(asked?.asks).includes(status)) return [`is ${status} in the end`]
    const ended = timeline.find(({ action }) => action === status)?.at ?? Number.POSITIVE_INFINITY
    const seconds = (ended - since) / 1000
    return seconds > options.terminalSeconds ? [`ended ${seconds.toFixed(1)} s after the last start`] : []
  })
}

function madeWhole({ asked, events, ends }: Story): string[] {
  const made = only(events, 'made')
  const ids = ends.map(({ requestId }) => requestId)
  const stray = made.filter(({ requestId }) => requestId === null || !ids.includes(requestId))
  const wanted = asked && ends.some(({ status }) => status === 'succeeded') ? whole[asked.kind] : {}
  const counts = Map.groupBy(made, ({ what }) => what)
  return [
    ...stray.map(({ what, name, requestId }) => `${what} ${name} bears ${requestId ?? 'no mark'}, which is no request`),
    ...(['unifiedGroup', 'securityGroup', 'site', 'mailbox'] as const).flatMap((what) => {
      const [is, should] = [counts.get(what)?.length ?? 0, wanted[what] ?? 0]
      return is === should ? [] : [`${is} × ${what} instead of ${should}`]
    }),
  ]
}

/** Any one of those who are asked decides, unless it expires; whoever was told that their decision holds finds it there. */
function decidedOnce({ asked, events, ends }: Story): string[] {
  if (ends.length === 0) return []
  const decisions = ends.flatMap((end) => end.decisions)
  const entries = ends.flatMap(({ timeline }) => timeline.filter(({ action }) => /^(approved|rejected)$/.test(action)))
  const should = asked?.approval && ends.every(({ status }) => status !== 'expired') ? 1 : 0
  const unheard = only(events, 'decided').filter(
    ({ by, verdict }) => !decisions.some((one) => one.by === by && one.verdict === verdict),
  )
  const isEnded = ends.every(({ status }) => endsOf(asked?.asks).includes(status))
  return [
    ...(decisions.length > should || (isEnded && decisions.length < should)
      ? [`${decisions.length} decisions instead of ${should}`]
      : []),
    ...(entries.length > should ? [`the timeline has ${entries.length} decisions`] : []),
    ...unheard.map(({ by, verdict }) => `${by} was told that it is ${verdict}, which is not what is kept`),
    ...ends.flatMap((end) => decidedFor(asked?.asks, end)),
  ]
}

function tended({ asked, ends }: Story, { lastUp, options }: World): string[] {
  return ends.flatMap((end) => tendedInTime(asked?.asks, end, lastUp, options.terminalSeconds))
}

/** A card is sent again only where a kill may have kept the connector's answer from the service (decision 6). */
function toldOnce({ asked, events, ends }: Story, { kills, options }: World): string[] {
  const isDoubtful = ({ at, unheard }: Of<'card'>) =>
    unheard === true || kills.some((kill) => kill >= at - onItsWay && kill <= at + options.doubtMilliseconds)
  const cards = only(events, 'card')
  const sent = Map.groupBy(
    cards.filter(({ card }) => card !== 'ready' && card !== 'over' && !isAsking(card)),
    ({ card, chat }) => `${card} in ${chat}`,
  )
  const again = [...sent].flatMap(([what, sendings]) => {
    const heard = sendings.slice(0, -1).filter((one) => !isDoubtful(one))
    return heard.length > 0 ? [`${sendings.length} × ${what}, of which ${heard.length} were heard before the last`] : []
  })
  const timeline = ends.flatMap((end) => end.timeline)
  const toldOf = (status: string, words: string, kinds: readonly CardKind[]): string[] => {
    const is = ends.some((end) => end.status === status)
    const told = cards.some(({ card }) => kinds.includes(card))
    if (is === told) return []
    return [is ? `nobody was told that it is ${words}` : `was called ${words} and is not`]
  }
  return [
    ...again,
    ...askedOften(asked?.asks, cards, timeline, isDoubtful),
    ...toldOf('succeeded', 'ready', ['followUp', 'ready']),
    ...toldOf('expired', 'expired', ['expired', 'over']),
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
      ...outside.map((index) => `${actions[index]} outside of the work`),
      ...(back ? ['goes back in time'] : []),
    ]
  })
}

/** Delivered at least once; a repetition bears the same id, so that a subscriber can tell (Standard Webhooks). */
function announcedOnce({ ends }: Story, { webhooks }: World): string[] {
  return ends.flatMap(({ requestId, status, timeline }) => {
    const ids = new Set((webhooks.get(requestId) ?? []).map(({ id, type }) => `${type} ${id}`))
    if (timeline.length === 0 || ids.size === 1) return []
    return ids.size === 0 ? [`no webhook tells that it is ${status}`] : [`${ids.size} events: ${[...ids].join(', ')}`]
  })
}
