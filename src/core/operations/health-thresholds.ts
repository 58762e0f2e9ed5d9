import type { HealthPartName, HealthState } from './health-report.ts'

/** From when on a measure of a part is amber or red. `below`: smaller is worse. */
export interface HealthThreshold {
  readonly part: HealthPartName
  readonly measure: string
  readonly amber: number
  /** null: this alone is never red. */
  readonly red: number | null
  readonly below?: true
}

/** The one table of what is still good. Whatever does not answer, refuses us or has ended is red, whatever it measures. */
export const healthThresholds = [
  { part: 'database', measure: 'milliseconds', amber: 250, red: 2000 },
  { part: 'queue', measure: 'oldestSeconds', amber: 60, red: 600 },
  { part: 'watchdog', measure: 'watchedSecondsAgo', amber: 180, red: 300 },
  { part: 'deadLetters', measure: 'count', amber: 1, red: 20 },
  ...(['graph', 'sharePoint', 'exchange'] as const).flatMap((part) => [
    { part, measure: 'milliseconds', amber: 3000, red: null } as const,
    { part, measure: 'errorRate', amber: 0.1, red: null } as const,
    { part, measure: 'throttled', amber: 10, red: null } as const,
  ]),
  { part: 'certificate', measure: 'daysLeft', amber: 30, red: 7, below: true },
  { part: 'botSecret', measure: 'daysLeft', amber: 30, red: 7, below: true },
  { part: 'webhooks', measure: 'failing', amber: 1, red: null },
  { part: 'webhooks', measure: 'switchedOff', amber: 1, red: null },
  { part: 'directory', measure: 'p95Seconds', amber: 300, red: null },
] as const satisfies readonly HealthThreshold[]

/** Of fewer calls than this nobody can say how often they fail. */
export const fewestCalls = 100

type Of<P extends HealthPartName> = Extract<(typeof healthThresholds)[number], { readonly part: P }>['measure']

/** How a measure of a part stands by the table. */
export function stateBy<P extends (typeof healthThresholds)[number]['part']>(
  part: P,
  measure: Of<P>,
  value: number,
): HealthState {
  const rule: HealthThreshold | undefined = healthThresholds.find((one) => one.part === part && one.measure === measure)
  if (!rule) throw new Error(`nobody has said what is good for ${part} by ${measure}`)
  const reaches = (bound: number | null) => bound !== null && (rule.below ? value < bound : value >= bound)
  if (reaches(rule.red)) return 'red'
  return reaches(rule.amber) ? 'amber' : 'green'
}
