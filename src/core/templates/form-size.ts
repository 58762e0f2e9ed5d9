import { isMailboxKind, type ResourceKind } from '../shared/index.ts'
import type { TemplateField } from './field.ts'
import { type PropertyRules, propertiesOf } from './property.ts'

/**
 * What a form takes of the one message that it is sent in, in characters, counted generously: a card holds 12,500. A form that is
 * larger than this cannot come back with its answers and mistakes, so its template is refused.
 */
export const largestForm = 10_800

/** What stands on every form, with its name, its reason and its buttons. */
const frame = 2550
/** An input of ours with the shortest answer that it may have. */
const ofProperty = 155
const ofRequired = 50
/** Inputs of a template's own questions, without their words. */
const ofField = { text: 120, choice: 85, number: 110, date: 140, toggle: 100, person: 200 } as const
/** Words for a mistake, and that there can be one. */
const ofChecked = 75
const ofChoice = 26

/** How large the form of a template is at least. */
export function formSize({
  kind,
  fields,
  properties,
  labels,
}: {
  readonly kind: ResourceKind
  readonly fields: readonly TemplateField[]
  readonly properties: PropertyRules
  readonly labels: { readonly allowed: readonly { readonly id: string; readonly name: string }[] }
}) {
  const asked = propertiesOf(kind).filter((id) => {
    const rule = properties[id]
    const isReplaced = fields.some(({ key }) => id === `metadata.${key}`)
    return !isReplaced && (rule === undefined || (rule.shown && rule.fixed === undefined))
  })
  const sizes = [
    frame,
    ...asked.map((id) => ofProperty + (properties[id]?.required ? ofRequired : 0)),
    ...fields.map(sizeOfField),
    ...(isMailboxKind(kind) ? [] : labels.allowed.map(({ id, name }) => ofChoice + written(id) + written(name))),
  ]
  return sizes.reduce((sum, size) => sum + size, 0)
}

function sizeOfField({ type, key, label, pattern, required, choices, minimum, maximum }: TemplateField): number {
  const answer = Math.max(0, ...choices.map(({ value }) => written(value)))
  const isChecked = required || [pattern, minimum, maximum].some((rule) => rule !== undefined)
  const sizes = [
    ofField[type] + key.length + written(label) + answer,
    ...(isChecked ? [ofChecked] : []),
    ...(pattern === undefined ? [] : [written(pattern) + 30]),
    ...choices.map(({ title, value }) => ofChoice + written(title) + written(value)),
  ]
  return sizes.reduce((sum, size) => sum + size, 0)
}

/** Characters of a text as JSON has it, without its quotes. */
const written = (text: string): number => JSON.stringify(text).length - 2
