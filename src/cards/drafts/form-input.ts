import { z } from 'zod'
import {
  addressRuleOf,
  type BasedOn,
  type Draft,
  type Fault,
  type NamePreview,
  type Person,
  type Template,
  type TemplateField,
} from '../../core/index.ts'
import { withoutScheme } from '../shared/links.ts'
import { format, strings } from '../shared/messages.ts'
import { cut, isDay, longest, peopleList } from '../shared/texts.ts'
import { choice, faultLine } from './form-faults.ts'

/** The sentence about the earlier request that a form is based on; `''` without one. */
export const basisOf = ({ basedOn }: Draft): string =>
  basedOn ? format(strings.basedOn.form[basedOn.how], { reference: basedOn.reference }) : ''

/** The data of a form: a draft, its template, its faults, and the people chosen so far. */
export interface RequestForm {
  readonly draft: Draft
  /** With its name as the person reads it. */
  readonly template: Template
  readonly requester: Person
  readonly faults: readonly Fault[]
  readonly people: readonly Person[]
  /** The default domain of mailboxes. */
  readonly mailDomain: string
  /** The names that result from the typed ones. */
  readonly names: NamePreview
  readonly notice?: 'stale' | undefined
  /** Whether the client shows pickers without the people chosen before, so that lines under the pickers name them. */
  readonly hidesChosen?: boolean | undefined
  /** How the earlier request of the draft ended. */
  readonly earlierEnd?: BasedOn['ended']
}

/**
 * One input of a form. The card leaves out members that are `''` or `false`. The client checks no input, because a client
 * with a wrong input sends nothing, so that people could not save a form. The server checks all inputs.
 */
export const formInput = z.strictObject({
  /** The API's name of the property. */
  id: z.string(),
  type: z.enum(['text', 'multiline', 'number', 'date', 'toggle', 'people', 'person', 'choice']),
  spacing: z.enum(['Medium', 'Small', 'None']),
  /** A line above the first of a group of toggles. */
  group: z.string(),
  label: z.string(),
  placeholder: z.string(),
  maxLength: z.int(),
  value: z.union([z.number(), z.string()]),
  choices: z.array(choice),
  /** The chosen people of a picker, if the client does not show them in it; else `''`. */
  chosen: z.string(),
  fault: faultLine,
  /** Lines under the input, if it has no fault. */
  help: z.array(z.strictObject({ text: z.string() })),
  /** Whether a button under it previews the names. */
  checks: z.boolean(),
  /** Whether a button under it adds the requester to the chosen people. */
  joins: z.boolean(),
})
export type FormInput = z.output<typeof formInput>

/** The members that differ from an optional text input. `required`: the label gets an asterisk. */
type InputOptions = Pick<FormInput, 'id' | 'label'> &
  Partial<Omit<FormInput, 'help' | 'value'>> & {
    readonly value: string
    readonly required?: boolean
    readonly help?: readonly string[]
  }

/** Returns the line under a wrong input, else `''`. `missing`: the line under an empty required input. */
export type FaultLines = (id: string, missing: string) => string

/** An input with defaults. A value that is not a number or date stays unchanged, in a text input. */
export function inputOf({ required = false, ...input }: InputOptions): FormInput {
  const { type = 'text', help = [], maxLength = 0, fault = '', value } = input
  const number = Number(value)
  const isNumber = type === 'number' && (value === '' || Number.isFinite(number))
  const isDate = type === 'date' && (value === '' || isDay(value))
  const whole: FormInput = {
    spacing: 'Medium',
    group: '',
    placeholder: '',
    choices: [],
    chosen: '',
    checks: false,
    joins: false,
    ...input,
    label: required ? format(strings.form.required, { label: input.label }) : input.label,
    fault,
    maxLength,
    type: (type === 'number' && !isNumber) || (type === 'date' && !isDate) ? 'text' : type,
    value: isNumber && value !== '' ? number : value,
    help: fault === '' ? help.filter((line) => line !== '').map((text) => ({ text })) : [],
  }
  return limited(whole, maxLength)
}

/** The end of a value that does not fit into its input. People rarely type it, so a click with it means the whole value. */
const omitted = '[…]'

/** Limits the length of an input. A longer value is shown in part, with a line that says so. */
export function limited(input: FormInput, maxLength: number): FormInput {
  const { type, value, fault, help } = input
  const isText = typeof value === 'string' && (type === 'text' || type === 'multiline')
  if (!isText || maxLength === 0) return { ...input, maxLength }
  const fitting = cut(value, maxLength)
  if (fitting === value || !fitting.endsWith('…')) return { ...input, maxLength, value: fitting }
  const start = cut(value, maxLength + 1 - omitted.length).slice(0, -1)
  const others = help.filter((line) => !saysPart(line))
  const lines = fault === '' ? [...others, { text: strings.form.part }] : help
  return { ...input, maxLength, value: `${start}${omitted}`, help: lines }
}

/** Whether a line under an input says that the input shows only a part of its value. */
export const saysPart = ({ text }: FormInput['help'][number]): boolean => text === strings.form.part

/** Returns the value that an input of a form means: the stored value if the input still shows its start. */
export function wholeValue(shown: string, stored = ''): string {
  const start = inOneLine(shown)
  const isPart = start.endsWith(omitted) && inOneLine(stored).startsWith(start.slice(0, -omitted.length))
  return isPart ? stored : shown
}

/** Clients can change line breaks, and a short input removes them. */
const inOneLine = (text: string): string => text.replace(/\s+/g, ' ').trim()

export const isPicker = ({ type }: Pick<FormInput, 'type'>): boolean => type === 'people' || type === 'person'

/** The chosen people of a picker as its choices, so that a returned form shows their names. */
export function chosenAmong(people: readonly { id: string; displayName: string }[], value: string) {
  const chosen = value.toLowerCase().split(/[,;\s]+/)
  return people
    .filter(({ id }) => chosen.includes(id.toLowerCase()))
    .map(({ id, displayName }) => ({ title: cut(displayName, longest.name), value: id }))
}

/** Names the chosen people in a line under their picker, which sends them again unless the person chooses others. */
export function withChosen(input: FormInput): FormInput {
  if (!isPicker(input) || input.choices.length === 0) return input
  const names = input.choices.map(({ title }) => ({ displayName: title }))
  return {
    ...input,
    chosen: format(strings.form.chosen, { people: peopleList(names, 'and'), count: names.length }),
  }
}

/** The inputs of a template's own questions, in their order. */
export function fieldInputs({ draft, template, people }: RequestForm, most: number, faultOf: FaultLines): FormInput[] {
  return template.fields.map((field) => {
    const { key, type, label, help, placeholder, required, choices } = field
    const id = `metadata.${key}`
    const value = draft.values[id] ?? ''
    return inputOf({
      id,
      type,
      label,
      placeholder: placeholderOf(type, placeholder),
      required,
      maxLength: most,
      value: type === 'toggle' ? String(value === 'true') : value,
      choices: type === 'person' ? chosenAmong(people, value) : choices,
      fault: faultOf(id, missingText(type)),
      help: [help],
    })
  })
}

/** The length of a text answer in chat, in characters: the more questions a template has, the shorter, so that the card fits. */
export const answerLength = (
  { fields }: Pick<Template, 'fields'>,
  least: number,
  most: number,
  all: number,
): number => {
  const texts = fields.filter(({ type }) => type === 'text').length
  return Math.min(most, Math.max(least, Math.floor(all / Math.max(1, texts))))
}

function placeholderOf(type: TemplateField['type'], own: string): string {
  if (type === 'choice') return strings.form.choosePlaceholder
  return type === 'person' ? own || strings.site.owners.placeholder : own
}

const missingText = (type: TemplateField['type']): string =>
  ({
    text: strings.form.fillIn,
    number: strings.form.giveNumber,
    date: strings.form.chooseDay,
    toggle: strings.form.tick,
    choice: strings.form.choose,
    person: strings.form.choosePerson,
  })[type]

/** The input under which a form shows the address: its own input, else the name. */
export const inputOfAddress = ({ kind }: Pick<Template, 'kind'>, ids: readonly string[]): string =>
  ids.includes(addressRuleOf(kind)) ? addressRuleOf(kind) : 'displayName'

/** The address as a sentence, and whether it is free if the service has checked it. */
export function addressText(names: NamePreview, template: Pick<Template, 'fields'>): string {
  const address = withoutScheme(sketchText(names.address, template))
  if (address === '') return ''
  const how = names.status === 'silent' ? 'silent' : names.isNumbered ? 'numbered' : names.status
  if (how === 'free' && names.taken) return format(strings.names.next, { address, taken: withoutScheme(names.taken) })
  return format(strings.names[how === 'sketch' || how === 'likely' ? 'becomes' : how], { address })
}

/** The display name if it differs from the typed one, else `''`. */
export const displayNameText = ({ displayName }: NamePreview, template: Pick<Template, 'fields'>): string =>
  displayName === '' ? '' : format(strings.names.shown, { name: cut(sketchText(displayName, template), longest.title) })

/** Shows unknown parts by their names: `room-{city}-…` → `room-‹city›-…`. */
function sketchText(sketch: string, { fields }: Pick<Template, 'fields'>): string {
  return sketch.replace(/\{(\w+(?:\.\w+)?)\}/g, (whole, token: string) => {
    const known: Readonly<Record<string, string>> = strings.names.part
    const label = fields.find(({ key }) => `metadata.${key}` === token)?.label ?? known[token]
    return label === undefined ? whole : format(strings.names.later, { what: label })
  })
}
