import type { Reason, ReasonFacts } from '../../core/index.ts'
import { format, strings, type Values } from './messages.ts'

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
  const texts = value.map((one) => (typeof one === 'string' ? one : reasonText(one)))
  return texts.join(value.some((one) => typeof one === 'string') ? ', ' : ' ')
}
