import type { Fault } from './errors.ts'
import { wholeValue } from './pattern.ts'
import type { Metadata } from './resource.ts'
import type { Template } from './template.ts'
import { fault, pointerOf } from './validation.ts'

/** What a template finds wrong with the fields and the label of a request, each fault at its pointer. */
export function templateFaults(
  template: Template,
  { labelId = '', metadata }: { labelId?: string; metadata: Metadata },
): Fault[] {
  const faults = template.fields.flatMap((field) => fieldFaults(field, metadata))
  const { allowed } = template.labels
  if (labelId !== '' && !allowed.some(({ id }) => id === labelId)) {
    const names = allowed.map(({ name }) => name).join(', ')
    faults.push(
      fault(
        '/labelId',
        'label-not-allowed',
        names
          ? `labelId must be one of this template's labels: ${names}.`
          : 'This template has no labels; leave labelId out.',
      ),
    )
  }
  return faults
}

function fieldFaults(field: Template['fields'][number], metadata: Metadata): Fault[] {
  const pointer = `/metadata${pointerOf([field.key])}`
  const value = Object.hasOwn(metadata, field.key) ? String(metadata[field.key]) : ''
  if (value === '') return field.required ? [fault(pointer, 'required', `${field.label} is required.`)] : []
  if (field.type === 'choice' && !field.choices.some((choice) => choice.value === value)) {
    return [
      fault(
        pointer,
        'not-a-choice',
        `${field.label} must be one of: ${field.choices.map((choice) => choice.value).join(', ')}.`,
      ),
    ]
  }
  if (field.pattern && !wholeValue(field.pattern).test(value))
    return [fault(pointer, 'pattern', field.error || `${field.label} does not have the right form.`)]
  return []
}
