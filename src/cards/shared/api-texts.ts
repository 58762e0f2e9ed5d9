import type { Explanation, HealthPart } from '../../core/index.ts'
import { type ExplanationWriting, explanationText } from '../explanations/why.ts'
import { type HealthWriting, healthText } from '../operations/admin-health.ts'
import { strings } from './messages.ts'

const inUnit = (unit: string, value: number): string =>
  new Intl.NumberFormat(strings.locale, { style: 'unit', unit, unitDisplay: 'long' }).format(value)

const list = new Intl.ListFormat(strings.locale, { type: 'conjunction' })
const units = [
  [86_400, 'day'],
  [3600, 'hour'],
  [60, 'minute'],
] as const

/** Moments are ISO 8601, and facts stand as they are recorded. */
const plainExplanation: ExplanationWriting = {
  moment: (at) => at,
  duration(seconds) {
    if (seconds < 1) return 'less than a second'
    const [length, unit] = units.find(([each]) => seconds >= 2 * each) ?? ([1, 'second'] as const)
    return inUnit(unit, Math.round(seconds / length))
  },
  people: (people) => list.format(people.map(({ displayName }) => displayName)),
  fact: (_, value) => String(value),
}

const plainHealth: HealthWriting = {
  quickness: (milliseconds) => `${Math.round(milliseconds)} ms`,
  duration(seconds) {
    if (seconds < 120) return inUnit('second', Math.round(seconds))
    if (seconds < 7200) return inUnit('minute', Math.round(seconds / 60))
    return seconds < 172_800 ? inUnit('hour', Math.round(seconds / 3600)) : inUnit('day', Math.round(seconds / 86_400))
  },
  days: (count) => inUnit('day', count),
  share: (of) => new Intl.NumberFormat(strings.locale, { style: 'percent' }).format(of),
  moment: (at) => at,
  end: (at) => at,
  count: (value) => new Intl.NumberFormat(strings.locale).format(value),
}

/** The sentences of the API's `detail` fields, from the catalogue: the same as on cards, with facts as machines write them. */
export const apiTexts = {
  /** One line of an explanation; `''` for a line of another version. */
  explanation: (line: Explanation): string => explanationText(line, plainExplanation) ?? '',
  /** How one part of the service does. */
  healthPart: (part: HealthPart): string => healthText(strings.health.says[part.says], part, plainHealth),
}
