import type { HistoryEvent } from './history.ts'

/** Summarises a run in one line for people. `seconds` is its duration. */
export function figuresOf(events: readonly HistoryEvent[], seconds: number): string {
  const count = (event: HistoryEvent['event'], is: (one: HistoryEvent) => boolean = () => true) =>
    events.filter((one) => one.event === event && is(one)).length
  const status = (wanted: string) => count('end', (one) => one.event === 'end' && one.status === wanted)
  const made = (wanted: string) => count('made', (one) => one.event === 'made' && one.what === wanted)
  const reset = events.reduce((sum, one) => sum + (one.event === 'reset' ? one.count : 0), 0)
  return [
    `${Math.round(seconds)} s`,
    `${count('killed')} kills`,
    `${count('acknowledged')} acknowledged`,
    `${status('succeeded')} succeeded`,
    `${status('rejected')} rejected`,
    `${status('expired')} expired`,
    `${count('decided')} decisions (${count('late')} came too late${ownLate(events)})`,
    `${standInDecisions(events)} of them instead of an approver`,
    `${count('card', (one) => one.event === 'card' && /reminder|lastCall|warning/.test(one.card))} reminders and warnings`,
    `${made('unifiedGroup')} Microsoft 365 groups, ${made('securityGroup')} security groups, ${made('site')} sites, ${made('mailbox')} mailboxes`,
    `${count('card', (one) => one.event === 'card' && one.card === 'followUp')} follow-up cards`,
    `${count('webhook')} webhooks`,
    `${count('troubled')} temporary errors`,
    `${reset} creations reset`,
    `last request ended ${lastEnd(events).toFixed(1)} s after the last start or its last act`,
  ].join(', ')
}

/** Returns the number of decisions by delegates and backups. */
const standInDecisions = (events: readonly HistoryEvent[]): number =>
  events.flatMap((one) => (one.event === 'end' ? one.decisions : [])).filter(({ insteadOf }) => insteadOf).length

/**
 * Returns the maximum time until a request ended after the last start, or after the last action of its people. Seconds.
 */
function lastEnd(events: readonly HistoryEvent[]): number {
  const lastUp = Math.max(0, ...events.flatMap((one) => (one.event === 'up' ? [one.at] : [])))
  const acts = new Map<number, number>()
  for (const one of events)
    if (one.event === 'acknowledged' || one.event === 'decided') acts.set(one.n, Math.max(acts.get(one.n) ?? 0, one.at))
  const ends = events.flatMap((one) => {
    if (one.event !== 'end') return []
    const at = one.timeline.find(({ action }) => action === one.status)?.at
    return at === undefined ? [] : [(at - Math.max(lastUp, acts.get(one.n) ?? 0)) / 1000]
  })
  return Math.max(0, ...ends)
}

/** Counts people who read "too late" although their own decision is stored: their first click had succeeded. */
function ownLate(events: readonly HistoryEvent[]): string {
  const held = new Set(
    events.flatMap((one) => (one.event === 'end' ? one.decisions.map(({ by }) => `${one.n} ${by}`) : [])),
  )
  const own = events.filter((one) => one.event === 'late' && held.has(`${one.n} ${one.by}`)).length
  return own === 0 ? '' : `, ${own} of them their own`
}
