import { z } from 'zod'
import { choice, faultLine } from '../drafts/form-faults.ts'
import { cut, isDay, longest } from './words.ts'

/** One input of a form, as its card draws it. What is `''` or `false` is left out of the card. */
export const formInput = z.strictObject({
  /** The API's name of what it holds. */
  id: z.string(),
  type: z.enum(['text', 'multiline', 'number', 'date', 'toggle', 'people', 'person', 'choice']),
  spacing: z.enum(['Medium', 'Small', 'None']),
  /** A line above the first of a group of toggles. */
  group: z.string(),
  label: z.string(),
  placeholder: z.string(),
  required: z.boolean(),
  /** What to do when it is left out, or when it does not have its form. */
  error: z.string(),
  /** The form of the whole text, for clients; the server checks it again. */
  regex: z.string(),
  minimum: z.union([z.number(), z.string()]),
  maximum: z.union([z.number(), z.string()]),
  maxLength: z.int(),
  value: z.union([z.number(), z.string()]),
  choices: z.array(choice),
  fault: faultLine,
  /** Small lines under it, where nothing is wrong with it. */
  help: z.array(z.strictObject({ text: z.string() })),
  /** A button under it that tells what comes of the names. */
  checks: z.boolean(),
})
export type FormInput = z.output<typeof formInput>

/** What differs from an optional text without help. */
export type InputGiven = Pick<FormInput, 'id' | 'label'> &
  Partial<Omit<FormInput, 'help' | 'value'>> & { readonly value: string; readonly help?: readonly string[] }

/** An input with what is usual for it. A value that is no number stays as it was typed, in an input for text. */
export function inputOf(given: InputGiven): FormInput {
  const { type = 'text', help = [], maxLength = 0, fault = '', value } = given
  const number = Number(value)
  const isNumber = type === 'number' && (value === '' || Number.isFinite(number))
  const isDate = type === 'date' && (value === '' || isDay(value))
  const isTyped = type === 'text' || type === 'multiline'
  return {
    spacing: 'Medium',
    group: '',
    placeholder: '',
    required: false,
    error: '',
    regex: '',
    minimum: '',
    maximum: '',
    choices: [],
    checks: false,
    ...given,
    fault,
    maxLength,
    type: (type === 'number' && !isNumber) || (type === 'date' && !isDate) ? 'text' : type,
    value: isNumber && value !== '' ? number : isTyped && maxLength > 0 ? cut(value, maxLength) : value,
    help: fault === '' ? help.filter((line) => line !== '').map((text) => ({ text })) : [],
  }
}

export const isPicker = ({ type }: Pick<FormInput, 'type'>): boolean => type === 'people' || type === 'person'

/** Those of the people whom a picker holds, as its choices, so that their names show when a form returns. */
export function chosenAmong(people: readonly { id: string; displayName: string }[], value: string) {
  const chosen = value.toLowerCase().split(/[,;\s]+/)
  return people
    .filter(({ id }) => chosen.includes(id.toLowerCase()))
    .map(({ id, displayName }) => ({ title: cut(displayName, longest.name), value: id }))
}
