import { z } from 'zod'
import {
  addReasons,
  asWritten,
  because,
  dayIn,
  type Fault,
  type FaultCode,
  fault,
  type Metadata,
  maxMetadata,
  type PlacedReason,
  pointerOf,
  type Reason,
  type ReasonFacts,
  type ReasonKey,
} from '../shared/index.ts'
import type { Applied } from './property.ts'

const text = (max: number) => z.string().trim().min(1).max(max)
const date = z.iso.date()
const bound = z.union([z.number(), date, z.literal('today')]).optional()

/** The texts of a question that people read; a template has them in its own language and in translations. */
export const fieldTexts = {
  label: text(64).describe('The question'),
  help: z.string().max(200).describe('A line of help under the input'),
  placeholder: z.string().max(100).describe('An example inside the input'),
  error: z.string().max(200).describe('The text that a wrong answer shows: what to do'),
  title: text(64).describe('The text that people see'),
}

/** A template's own question. The form shows it, and the answer is stored in `metadata` under `key`. */
export const templateField = z.strictObject({
  key: z
    .string()
    .regex(/^[A-Za-z][A-Za-z0-9_]{0,63}$/)
    .describe('The key of the answer in metadata'),
  type: z
    .enum(['text', 'choice', 'number', 'date', 'toggle', 'person'])
    .describe(
      'Stored values: a date as 2027-03-31, a person as the object id, a number and a toggle as their JSON types',
    ),
  label: fieldTexts.label,
  help: fieldTexts.help.default(''),
  placeholder: fieldTexts.placeholder.default(''),
  required: z.boolean().default(false).describe('Whether an answer is required; a toggle must be on'),
  choices: z
    .array(
      z.strictObject({
        title: fieldTexts.title,
        value: text(64).describe('The stored value'),
      }),
    )
    .max(50)
    .default([])
    .describe('The choices, for the type choice'),
  pattern: z
    .string()
    .max(200)
    .superRefine((pattern, context) => {
      const reason = patternFault(pattern)
      if (reason) addReasons(context, [{ path: [], reason }], true)
    })
    .optional()
    .describe('A regular expression that the whole text must match'),
  error: fieldTexts.error.default(''),
  default: z
    .union([z.string().max(1024), z.number(), z.boolean()])
    .optional()
    .describe('The value in a new form, and of a request without an answer'),
  minimum: bound.describe('The lowest number, or the earliest date: 2027-03-31, or today'),
  maximum: bound.describe('The highest number, or the latest date'),
  customAttribute: z
    .int()
    .min(1)
    .max(14)
    .optional()
    .describe(
      'For a mailbox: the custom attribute of Exchange that stores the answer. The 15th stores the id of the request',
    ),
})
export type TemplateField = z.output<typeof templateField>

/**
 * Returns the faults of a question that no form can show or no answer can satisfy. Applied to new versions only, not to
 * stored ones.
 */
export function designFaults(field: TemplateField): PlacedReason[] {
  const { type, minimum, maximum } = field
  const faults: PlacedReason[] = []
  const report = (at: string, key: ReasonKey) => faults.push({ path: [at], reason: because(key) })
  if (type === 'choice' && field.choices.length === 0) report('choices', 'choicesMissing')
  if (type !== 'choice' && field.choices.length > 0) report('choices', 'choicesOfOtherType')
  if (new Set(field.choices.map(({ value }) => value)).size < field.choices.length) report('choices', 'choicesRepeated')
  if (type !== 'text' && field.pattern !== undefined) report('pattern', 'patternOfOtherType')
  for (const [at, bound] of Object.entries({ minimum, maximum })) {
    if (bound === undefined) continue
    if (type !== 'number' && type !== 'date') report(at, 'boundsOfOtherType')
    else if ((typeof bound === 'number') !== (type === 'number'))
      report(at, type === 'number' ? 'boundIsNoNumber' : 'boundIsNoDate')
  }
  if (minimum !== undefined && maximum !== undefined && minimum !== 'today' && maximum !== 'today' && minimum > maximum)
    report('minimum', 'boundsReversed')
  if (type === 'person' && field.default !== undefined) report('default', 'defaultOfPerson')
  else if (field.default !== undefined && faults.length === 0) {
    // The bound `today` depends on the day of the answer, so it does not apply here.
    const { faults: defaultFaults } = answerOf(withDays(field, undefined), field.default)
    if (defaultFaults.length > 0) report('default', 'defaultNotTaken')
  }
  return faults
}

/**
 * Returns a field with a day instead of the bound `today`; without `now`, the field has no such bound. The requester's time zone
 * is not known, so `today` is the day at UTC−12 for `minimum`, and the day at UTC+14 for `maximum`.
 */
function withDays(field: TemplateField, now: Date | undefined): TemplateField {
  const { minimum, maximum } = field
  const day = (timeZone: string) => now && dayIn(now, timeZone)
  return {
    ...field,
    minimum: minimum === 'today' ? day('Etc/GMT+12') : minimum,
    maximum: maximum === 'today' ? day('Etc/GMT-14') : maximum,
  }
}

/** An answer in its stored form (`undefined`: no answer), and its faults. */
export interface Answer {
  readonly value: string | number | boolean | undefined
  readonly faults: readonly Fault[]
}

/** Reads the answers to the template's own questions. `now` decides the bound `today`. Other keys stay unchanged. */
export function answersOf(
  fields: readonly TemplateField[],
  metadata: Metadata,
  now: Date,
): { metadata: Metadata; applied: Applied[]; faults: Fault[] } {
  const answers = fields.map((field) => {
    const value = Object.hasOwn(metadata, field.key) ? metadata[field.key] : field.default
    return [field.key, answerOf(withDays(field, now), value)] as const
  })
  const own = new Set(fields.map(({ key }) => key))
  const free = Object.entries(metadata).filter(([key]) => !own.has(key))
  const stored = answers.flatMap(([key, { value }]) => (value === undefined ? [] : [[key, value] as const]))
  const defaulted = stored.filter(([key]) => !Object.hasOwn(metadata, key))
  return {
    metadata: Object.fromEntries([...free, ...stored]),
    applied: defaulted.map(([key, value]) => ({ field: `metadata.${key}`, value, why: 'default' })),
    faults: [...answers.flatMap(([, { faults }]) => faults), ...tooManyAnswers(free.length + stored.length)],
  }
}

/**
 * Reports too many answers. A request is stored with the template's answers, and the limit of metadata applies to all.
 */
function tooManyAnswers(count: number): Fault[] {
  if (count <= maxMetadata) return []
  return [fault('/metadata', 'too-long', because('tooManyAnswers', { most: maxMetadata }), String(maxMetadata))]
}

type Refuse = (code: FaultCode, reason: Reason, suggestion?: string) => Answer

/** Reads one answer. A form sends text, so a number or a toggle may be text. */
function answerOf(field: TemplateField, value: unknown): Answer {
  const pointer = `/metadata${pointerOf([field.key])}`
  const refuse: Refuse = (code, reason, suggestion) => ({
    value: undefined,
    faults: [fault(pointer, code, reason, suggestion)],
  })
  const about = (key: ReasonKey, facts?: ReasonFacts) => because(key, { field: field.label, ...facts })
  // If the template has its own text for a wrong answer, that text applies to all faults.
  const own = field.error ? asWritten(field.error) : undefined
  // A question has one plain answer. Only free keys may have lists and objects.
  if (typeof value === 'object' && value !== null)
    return refuse('wrong-type', about('fieldType', { type: field.type === 'number' ? 'number' : 'string' }))
  const answer = value === undefined || value === null ? '' : String(value).trim()
  if (answer === '' || (field.type === 'toggle' && answer === 'false' && field.required))
    return field.required ? refuse('required', own ?? about('fieldRequired')) : { value: undefined, faults: [] }
  switch (field.type) {
    case 'text':
      if (field.pattern && !wholeValue(field.pattern).test(answer))
        return refuse('pattern', own ?? about('fieldFormat'))
      return { value: typeof value === 'number' || typeof value === 'boolean' ? value : answer, faults: [] }
    case 'choice': {
      const values = field.choices.map(({ value }) => value)
      return values.includes(answer)
        ? { value: answer, faults: [] }
        : refuse('not-a-choice', about('fieldOneOf', { values }))
    }
    case 'number': {
      const number = /^[+-]?\d{1,15}(\.\d{1,6})?$/.test(answer) ? Number(answer) : Number.NaN
      if (Number.isNaN(number)) return refuse('wrong-type', own ?? about('fieldType', { type: 'number' }))
      return bounded(field, number, refuse)
    }
    case 'date':
      if (!date.safeParse(answer).success) return refuse('not-a-date', own ?? about('answerIsNoDate'))
      return bounded(field, answer, refuse)
    case 'toggle':
      if (answer !== 'true' && answer !== 'false') return refuse('wrong-type', about('answerIsNoToggle'))
      return { value: answer === 'true', faults: [] }
    case 'person':
      if (!z.uuid().safeParse(answer).success) return refuse('unknown-person', own ?? about('answerIsNoPerson'))
      return { value: answer.toLowerCase(), faults: [] }
  }
}

function bounded({ label, minimum, maximum, error }: TemplateField, value: number | string, refuse: Refuse): Answer {
  const isDate = typeof value === 'string'
  const outside = (key: ReasonKey, limit: number | string) =>
    error ? asWritten(error) : because(key, { field: label, limit })
  if (minimum !== undefined && value < minimum)
    return isDate
      ? refuse('too-early', outside('answerTooEarly', minimum), String(minimum))
      : refuse('too-small', outside('answerTooSmall', minimum), String(minimum))
  if (maximum !== undefined && value > maximum)
    return isDate
      ? refuse('too-late', outside('answerTooLate', maximum), String(maximum))
      : refuse('too-large', outside('answerTooLarge', maximum), String(maximum))
  return { value, faults: [] }
}

/** The longest value that a pattern can be matched with, in characters: the limit of metadata. */
const longestValue = 1024
/** The maximum number of ways in which a pattern may try to match a value, and of steps for all ways together. */
const maxWays = 2_000_000
const maxSteps = 64_000_000

/** One element of a pattern. A quantifier may follow. */
const token = /\\(?:u\{[^}]*\}|[pP]\{[^}]*\}|.)|\[(?:\\.|[^\]\\])*\]|\((?:\?(?:<?[=!]|<[^>]*>|[^:)]*:))?|./suy
const quantifier = /([*+?]|\{(\d+)(,?)(\d*)\})\??/uy

/**
 * Returns why an admin's pattern is refused; undefined if it is allowed. A pattern is matched with the flag `u` against
 * a whole value on the event loop, so it must be fast. Without quantified groups, lookaround and backreferences, the
 * number of ways is at most the product of the widths of quantifiers and alternatives. Each way takes at most as many
 * steps as the shortest match has characters.
 */
export function patternFault(source: string): Reason | undefined {
  if (!isRegExp(source)) return because('patternInvalid')
  let ways = 1
  let shortest = 1
  /** The number of alternatives of each open group. The first entry is the pattern itself. */
  const alternatives = [1]
  for (let at = 0; at < source.length; ) {
    const element = read(token, source, at)?.[0] ?? ''
    at += element.length
    if (/^\\[1-9k]/.test(element)) return because('patternBackreference')
    if (/^\(\?<?[=!]/.test(element)) return because('patternLookaround')
    if (element.startsWith('(')) alternatives.push(1)
    else if (element === '|') alternatives.push((alternatives.pop() ?? 0) + 1)
    const ended = element === ')' ? (alternatives.pop() ?? 1) : 1
    const repeated = read(quantifier, source, at)
    if (repeated && element === ')') return because('patternRepeatedGroup')
    const { minimum, width } = repeated ? extent(repeated) : { minimum: 1, width: 1 }
    at += repeated?.[0].length ?? 0
    ways *= width * ended
    shortest += minimum
  }
  ways *= alternatives[0] ?? 1
  if (ways <= maxWays && ways * shortest <= maxSteps) return undefined
  return because('patternTooManyWays', { signs: '* + ? {,} and |', bounds: '{1,20}' })
}

/** Returns the regular expression that matches a pattern with a whole value. */
export const wholeValue = (pattern: string): RegExp => new RegExp(`^(?:${pattern})$`, 'u')

function isRegExp(source: string): boolean {
  try {
    // The source alone must be valid too: ")(" is valid only inside brackets. Some are refused only at the first use.
    new RegExp(source, 'u')
    return wholeValue(source).test('') !== undefined
  } catch {
    return false
  }
}

/** Returns the minimum of a quantifier, and its number of possible counts. */
function extent([, sign = '', from = '', comma = '', to = '']: RegExpExecArray): { minimum: number; width: number } {
  if (sign === '?') return { minimum: 0, width: 2 }
  if (sign === '*' || sign === '+') return { minimum: sign === '+' ? 1 : 0, width: longestValue }
  const minimum = Number(from)
  if (comma === '') return { minimum, width: 1 }
  return { minimum, width: to === '' ? longestValue : Number(to) - minimum + 1 }
}

function read(expression: RegExp, source: string, at: number): RegExpExecArray | null {
  expression.lastIndex = at
  return expression.exec(source)
}
