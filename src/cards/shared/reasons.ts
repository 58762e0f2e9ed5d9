import type { Problem, Reason, ReasonFacts } from '../../core/index.ts'
import { commandName, format, strings, type Values } from './messages.ts'
import { listOf } from './texts.ts'

/** The sentence of a reason. An unknown key, stored by a newer version, is shown unchanged. */
export function reasonText({ key, facts = {} }: Reason): string {
  if (!Object.hasOwn(strings.reason, key)) return key
  return format(strings.reason[key], valuesOf(facts))
}

const valuesOf = (facts: ReasonFacts): Values =>
  Object.fromEntries(Object.entries(facts).map(([name, value]) => [name, argumentOf(value)]))

function argumentOf(value: ReasonFacts[string]): string | number {
  if (typeof value === 'string' || typeof value === 'number') return value
  if ('key' in value) return reasonText(value)
  if ('command' in value) return commandName(value.command)
  if ('all' in value) return listOf(value.all.map(textOf), 'and')
  if ('amount' in value) return amountOf(value.amount, value.unit)
  if ('parts' in value)
    return value.parts.map(textOf).join(strings.between[value.between === '; ' ? 'faults' : 'parts'])
  return value.map(textOf).join(value.some((one) => typeof one === 'string') ? ', ' : ' ')
}

/** A size, such as "50 GB" or “50 Go”. Without separators: the API has always written its sentences so. */
const amountOf = (amount: number, unit: string): string =>
  new Intl.NumberFormat(strings.locale, { style: 'unit', unit, unitDisplay: 'short', useGrouping: false }).format(
    amount,
  )

const textOf = (one: string | Reason): string => (typeof one === 'string' ? one : reasonText(one))

/** The sentence of a stored problem; rows of earlier versions have it only in English. */
export const problemSentence = ({ reason, detail }: Pick<Problem, 'reason' | 'detail'>): string =>
  reason ? reasonText(reason) : detail
