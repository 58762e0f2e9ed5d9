import { asking, type CardKind, type HistoryEvent } from './history.ts'

type Of<E extends HistoryEvent['event']> = Extract<HistoryEvent, { event: E }>
type End = Of<'end'>
type Asks = Of<'submitted'>['asks']

/** Returns the final states that a request may have. Without a decision, only expiry ends it. */
export function endsOf(asks: Asks): readonly string[] {
  if (asks?.course === 'expires') return ['expired']
  return asks?.course === 'race' ? ['succeeded', 'rejected', 'expired'] : ['succeeded', 'rejected']
}

const decided = (action: string): boolean => action === 'approved' || action === 'rejected'

/**
 * Returns faults of decisions: people decide only when they are asked, or for an approver whose delegate or backup they are.
 */
export function deciderFaults(asks: Asks, { decisions, timeline }: End): string[] {
  if (!asks) return []
  const { approvers, delegates, backups } = asks
  return decisions.flatMap(({ by, insteadOf = [] }) => {
    if (approvers.includes(by)) return insteadOf.length === 0 ? [] : [`${by} is an approver and decided for others`]
    if (![...delegates, ...backups].includes(by)) return [`${by} decided and was never asked`]
    const isFor = insteadOf.length > 0 && insteadOf.every((id) => approvers.includes(id))
    const before = timeline.slice(
      0,
      timeline.findIndex(({ action }) => decided(action)),
    )
    const isEarly = backups.includes(by) && !before.some(({ action }) => action === 'escalated')
    return [
      ...(isFor ? [] : [`${by} decided for ${insteadOf.join(' and ') || 'nobody'}`]),
      ...(isEarly ? [`${by} decided before they were asked`] : []),
    ]
  })
}

/** A time without any running process. Milliseconds. */
export interface Outage {
  readonly from: number
  readonly to: number
}
/** A timer runs within this time after it is due, if a replica runs. Milliseconds. */
const timerDelay = 2000

/**
 * Returns faults of reminders, escalation, warning and expiry: each comes at most once, on time and only while the
 * request waits. A request without an expiry never expires. If one outage covers the escalation and the expiry, or the
 * escalation may still be late when the expiry is due, only the expiry follows.
 */
export function timerFaults(
  asks: Asks,
  { timeline, status }: End,
  { lastUp, outages }: { readonly lastUp: number; readonly outages: readonly Outage[] },
  longest: number,
): string[] {
  const began = timeline.find(({ action }) => action === 'pendingApproval')?.at ?? 0
  const over = timeline.findIndex(({ action }) => decided(action) || action === 'expired')
  const { remind, escalate, expire } = asks?.times ?? { remind: undefined, escalate: undefined, expire: undefined }
  const warn = expire === undefined ? undefined : expire * 0.8
  const faults = Object.entries({ reminded: remind, escalated: escalate, warned: warn, expired: expire }).flatMap(
    ([wanted, seconds]) => {
      const lines = timeline.flatMap(({ action, at }, index) => (action === wanted ? [{ at, index }] : []))
      if (seconds === undefined) return lines.map(() => `${wanted}, although it was not due`)
      const due = began + seconds * 1000
      return [
        ...(lines.length > 1 ? [`${wanted} ${lines.length} times`] : []),
        ...lines
          .filter(({ at }) => at < due)
          .map(({ at }) => `${wanted} ${((due - at) / 1000).toFixed(1)} s too early`),
        ...lines
          .filter(({ at }) => at > Math.max(due, lastUp) + longest * 1000)
          .map(({ at }) => `${wanted} ${((at - due) / 1000).toFixed(1)} s too late`),
        ...lines.filter(({ index }) => over >= 0 && index > over).map(() => `${wanted} after its end`),
      ]
    },
  )
  const [escalateAt, expireAt] = [escalate, expire].map((seconds = 0) => began + seconds * 1000) as [number, number]
  const latest = escalateAt + timerDelay
  const isCovered = latest >= expireAt || outages.some(({ from, to }) => from <= latest && to >= expireAt)
  const required = isCovered ? ['warned'] : ['escalated', 'warned']
  const missed = required.filter((wanted) => !timeline.some(({ action }) => action === wanted))
  return [...faults, ...(status === 'expired' ? missed.map((wanted) => `expired and was never ${wanted}`) : [])]
}

/**
 * Returns chats with too many cards. Each person who is asked receives one card, one for each reminder, and one for the
 * warning. A card shows the urgency at its sending time, so a late first card may look like a reminder. Cards whose
 * acknowledgement may be lost do not count.
 */
export function askingFaults(
  asks: Asks,
  cards: readonly Of<'card'>[],
  timeline: End['timeline'],
  isDoubtful: (card: Of<'card'>) => boolean,
): string[] {
  const byChat = Map.groupBy(
    cards.filter(({ card }) => isAsking(card)),
    ({ chat }) => chat,
  )
  const escalatedAt = timeline.find(({ action }) => action === 'escalated')?.at ?? 0
  return [...byChat].flatMap(([chat, all]) => {
    const isIn = (ids: readonly string[] = []) => ids.some((id) => chat.endsWith(id))
    const known = asks ? [...asks.approvers, ...asks.delegates, ...asks.backups] : []
    if (asks && !isIn(known)) return [`${chat} was asked and may not decide`]
    const since = isIn(asks?.backups) ? escalatedAt : 0
    const times = (wanted: string) => timeline.filter(({ action, at }) => action === wanted && at > since).length
    const most = [1, 1 + times('reminded'), 1 + times('reminded') + times('warned')]
    const tooMany = asking.flatMap((last, index) => {
      const upTo = all.filter(({ card }) => asking.slice(0, index + 1).some((one) => one === card))
      const unheard = upTo.slice(0, -1).filter(isDoubtful).length
      const heard = upTo.length - unheard
      return heard > (most[index] ?? 0)
        ? [
            `${upTo.length} cards up to ${last} in ${chat}, of which ${unheard} may be unacknowledged, instead of ${most[index]}`,
          ]
        : []
    })
    return tooMany.slice(0, 1)
  })
}

export const isAsking = (card: CardKind): boolean => asking.some((one) => one === card)
