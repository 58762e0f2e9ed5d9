import { type HealthPart, type HealthPartName, sharedParts } from '../operations/index.ts'
import { brokenOf, earliest, type FoundParts } from './broken-parts.ts'
import type { HealthWatch, RedReport } from './ports.ts'

/** One check of the service's health, by one process. */
export interface HealthCheck {
  readonly at: string
  /** The red parts. */
  readonly parts: readonly HealthPart[]
  /** The parts that the check could not judge. A part that was red before stays red. */
  readonly unjudged: readonly HealthPartName[]
  /** The process that checked. */
  readonly processId: string
  /** The processes that run and take jobs, so that each of them checks sometimes. */
  readonly processIds: readonly string[]
}

/**
 * How long a red part of another process counts without a new report of that process, in milliseconds. Any process may
 * take a turn, so a process that seldom gets one must not delay the end of a trouble for ever.
 */
const keptMilliseconds = 3_600_000

/**
 * Returns the red parts of the last report of each process, after one more check. Each process has its own certificate,
 * clock, tokens and results of periodic checks. So a healthy part of one process does not replace the red part of
 * another process that still runs, except for parts that all processes read from the store.
 */
export function redReportsAfter(before: readonly RedReport[], check: HealthCheck): RedReport[] {
  const { at, parts, unjudged, processId, processIds } = check
  const isOfOther = ({ part, processId: other, at: last }: RedReport) =>
    other !== undefined &&
    other !== processId &&
    processIds.includes(other) &&
    !sharedParts.has(part.name) &&
    Date.parse(at) - Date.parse(last) < keptMilliseconds
  const kept = before.filter((report) => unjudged.includes(report.part.name) || isOfOther(report))
  // Single red checks of two processes may be far apart, so each process counts its own.
  const own = before.filter((report) => report.processId === processId)
  const sinceOf = ({ name }: HealthPart) =>
    earliest(
      own.flatMap(({ part, since }) => (part.name === name ? [since] : [])),
      at,
    )
  return [...kept, ...parts.map((part) => ({ part, since: sinceOf(part), processId, at }))]
}

/** Returns the stored reports. An earlier version stored only the parts of a trouble, without a process. */
export function redReportsOf(watch: HealthWatch | undefined): readonly RedReport[] {
  if (!watch || watch.reports) return watch?.reports ?? []
  return [watch, watch.credentials].flatMap((of) =>
    of?.state === 'red'
      ? brokenOf(of).red.flatMap(({ part, since, turning }) => (turning === null ? [{ part, since, at: since }] : []))
      : [],
  )
}

/** Returns the parts of one check, and what other reports say, as far as they are about some of the parts. */
export function foundParts(
  reports: readonly RedReport[],
  { at, parts, unjudged, processId }: HealthCheck,
  isOf: (name: HealthPartName) => boolean,
): Omit<FoundParts, 'named'> {
  const isFound = ({ name }: HealthPart) => parts.some((part) => part.name === name)
  const of = reports.filter(({ part }) => isOf(part.name))
  return {
    at,
    red: of.filter((report) => report.processId === processId && isFound(report.part)),
    held: of.flatMap(({ part }) => (isFound(part) ? [] : [part.name])),
    unjudged: unjudged.filter(isOf),
  }
}
