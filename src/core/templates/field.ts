import { z } from 'zod'
import {
  addReasons,
  asWritten,
  because,
  type Fault,
  type FaultCode,
  fault,
  type Metadata,
  mostMetadata,
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

/** A question of the template's own, shown on the form and kept in `metadata` under `key`. */
export const templateField = z.strictObject({
  key: z
    .string()
    .regex(/^[A-Za-z][A-Za-z0-9_]{0,63}$/)
    .describe('What the answer is kept under in metadata'),
  type: z
    .enum(['text', 'choice', 'number', 'date', 'toggle', 'person'])
    .describe('A date is kept as 2027-03-31, a person as their object id, a number and a toggle as what they are'),
  label: text(64).describe('The question'),
  help: z.string().max(200).default('').describe('A line under it'),
  placeholder: z.string().max(100).default('').describe('An example inside it'),
  required: z.boolean().default(false).describe('It must be answered; a toggle has to be on'),
  choices: z
    .array(z.strictObject({ title: text(64).describe('What people see'), value: text(64).describe('What is kept') }))
    .max(50)
    .default([])
    .describe('Of a choice'),
  pattern: z
    .string()
    .max(200)
    .superRefine((pattern, context) => {
      const reason = patternFault(pattern)
      if (reason) addReasons(context, [{ path: [], reason }], true)
    })
    .optional()
    .describe('A regular expression for the whole of a text'),
  error: z.string().max(200).default('').describe('What to do when an answer is wrong'),
  default: z
    .union([z.string().max(1024), z.number(), z.boolean()])
    .optional()
    .describe('What stands in the form at first, and is kept when a request says nothing'),
  minimum: bound.describe('Of a number, or of a date: 2027-03-31, or today'),
  maximum: bound.describe('The same at the other end'),
  customAttribute: z
    .int()
    .min(1)
    .max(14)
    .optional()
    .describe(
      'Of a mailbox: the custom attribute of Exchange that holds the answer. The 15th holds the id of the request',
    ),
})
export type TemplateField = z.output<typeof templateField>

/** What no form could show, or no answer could ever satisfy. Asked only of what is written: what is stored is read as it is. */
export function designFaults(field: TemplateField): PlacedReason[] {
  const { type, minimum, maximum } = field
  const faults: PlacedReason[] = []
  const say = (at: string, key: ReasonKey) => faults.push({ path: [at], reason: because(key) })
  if (type === 'choice' && field.choices.length === 0) say('choices', 'choicesMissing')
  if (type !== 'choice' && field.choices.length > 0) say('choices', 'choicesOfOtherType')
  if (new Set(field.choices.map(({ value }) => value)).size < field.choices.length) say('choices', 'choicesRepeated')
  if (type !== 'text' && field.pattern !== undefined) say('pattern', 'patternOfOtherType')
  const bounds = { minimum, maximum }
  for (const [at, bound] of Object.entries(bounds)) {
    if (bound === undefined) continue
    if (type !== 'number' && type !== 'date') say(at, 'boundsOfOtherType')
    else if ((typeof bound === 'number') !== (type === 'number'))
      say(at, type === 'number' ? 'boundIsNoNumber' : 'boundIsNoDate')
  }
  if (minimum !== undefined && maximum !== undefined && minimum !== 'today' && maximum !== 'today' && minimum > maximum)
    say('minimum', 'boundsReversed')
  if (type === 'person' && field.default !== undefined) say('default', 'defaultOfPerson')
  else if (field.default !== undefined && faults.length === 0) {
    // What depends on the day is judged on that day.
    const { faults: wrong } = answerOf({ ...field, minimum: undefined, maximum: undefined }, field.default, '')
    if (wrong.length > 0) say('default', 'defaultNotTaken')
  }
  return faults
}

/** An answer as it is kept, and what is wrong with it. `undefined`: there is none. */
export interface Answer {
  readonly value: string | number | boolean | undefined
  readonly faults: readonly Fault[]
}

/** Reads the answers to the template's own questions. `today`: the day in UTC, `2026-11-22`. Free keys stay as they are. */
export function answersOf(
  fields: readonly TemplateField[],
  metadata: Metadata,
  today: string,
): { metadata: Metadata; applied: Applied[]; faults: Fault[] } {
  const answers = fields.map((field) => {
    const value = Object.hasOwn(metadata, field.key) ? metadata[field.key] : field.default
    return [field.key, answerOf(field, value, today)] as const
  })
  const own = new Set(fields.map(({ key }) => key))
  const free = Object.entries(metadata).filter(([key]) => !own.has(key))
  const kept = answers.flatMap(([key, { value }]) => (value === undefined ? [] : [[key, value] as const]))
  const defaulted = kept.filter(([key]) => !Object.hasOwn(metadata, key))
  return {
    metadata: Object.fromEntries([...free, ...kept]),
    applied: defaulted.map(([key, value]) => ({ field: `metadata.${key}`, value, why: 'default' })),
    faults: [...answers.flatMap(([, { faults }]) => faults), ...tooManyAnswers(free.length + kept.length)],
  }
}

/** A request is stored with the template's answers among its own, and read back by the same limit. */
function tooManyAnswers(count: number): Fault[] {
  if (count <= mostMetadata) return []
  return [fault('/metadata', 'too-long', because('tooManyAnswers', { most: mostMetadata }), String(mostMetadata))]
}

type Refuse = (code: FaultCode, reason: Reason, suggestion?: string) => Answer

/** One answer: a form gives all as text, so a number or a toggle may come as one. */
function answerOf(field: TemplateField, value: unknown, today: string): Answer {
  const pointer = `/metadata${pointerOf([field.key])}`
  const refuse: Refuse = (code, reason, suggestion) => ({
    value: undefined,
    faults: [fault(pointer, code, reason, suggestion)],
  })
  const about = (key: ReasonKey, facts?: ReasonFacts) => because(key, { field: field.label, ...facts })
  // The template has a text of its own for every wrong answer, or none.
  const own = field.error ? asWritten(field.error) : undefined
  const answer = value === undefined || value === null ? '' : String(value).trim()
  if (answer === '' || (field.type === 'toggle' && answer === 'false' && field.required))
    return field.required ? refuse('required', own ?? about('fieldRequired')) : { value: undefined, faults: [] }
  switch (field.type) {
    case 'text':
      if (field.pattern && !wholeValue(field.pattern).test(String(value)))
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
      return bounded(field, number, today, refuse)
    }
    case 'date':
      if (!date.safeParse(answer).success) return refuse('not-a-date', own ?? about('answerIsNoDate'))
      return bounded(field, answer, today, refuse)
    case 'toggle':
      if (answer !== 'true' && answer !== 'false') return refuse('wrong-type', about('answerIsNoToggle'))
      return { value: answer === 'true', faults: [] }
    case 'person':
      if (!z.uuid().safeParse(answer).success) return refuse('unknown-person', own ?? about('answerIsNoPerson'))
      return { value: answer.toLowerCase(), faults: [] }
  }
}

function bounded(
  { label, minimum, maximum, error }: TemplateField,
  value: number | string,
  today: string,
  refuse: Refuse,
): Answer {
  const day = (bound: number | string | undefined) => (bound === 'today' ? today : bound)
  const [least, most] = [day(minimum), day(maximum)]
  const isDate = typeof value === 'string'
  const outside = (key: ReasonKey, limit: number | string) =>
    error ? asWritten(error) : because(key, { field: label, limit })
  if (least !== undefined && least !== '' && value < least)
    return isDate
      ? refuse('too-early', outside('answerTooEarly', least), String(least))
      : refuse('too-small', outside('answerTooSmall', least), String(least))
  if (most !== undefined && most !== '' && value > most)
    return isDate
      ? refuse('too-late', outside('answerTooLate', most), String(most))
      : refuse('too-large', outside('answerTooLarge', most), String(most))
  return { value, faults: [] }
}

/** The longest value that a pattern is held against, in characters: what metadata may have. */
const longestValue = 1024
/** The most ways in which a pattern may try one value, and the most steps that all of them may take together. */
const mostWays = 2_000_000
const mostSteps = 64_000_000

/** One thing that stands in a pattern; what follows it may be a quantifier. */
const token = /\\(?:u\{[^}]*\}|[pP]\{[^}]*\}|.)|\[(?:\\.|[^\]\\])*\]|\((?:\?(?:<?[=!]|<[^>]*>|[^:)]*:))?|./suy
const quantifier = /([*+?]|\{(\d+)(,?)(\d*)\})\??/uy

/**
 * What keeps an admin's pattern from being used; undefined when nothing does.
 * It is matched with the flag `u` against the whole of a value, on the event loop, so only what cannot take long is let
 * in. Without quantified groups, lookaround and backreferences a match tries at most as many ways as the widths of its
 * quantifiers and alternatives multiply to, each of which takes at most as many steps as the shortest match is long.
 */
export function patternFault(source: string): Reason | undefined {
  if (!isRegExp(source)) return because('patternInvalid')
  let ways = 1
  let shortest = 1
  /** For each open group, how many alternatives it has; the pattern itself is the first. */
  const alternatives = [1]
  for (let at = 0; at < source.length; ) {
    const thing = read(token, source, at)?.[0] ?? ''
    at += thing.length
    if (/^\\[1-9k]/.test(thing)) return because('patternBackreference')
    if (/^\(\?<?[=!]/.test(thing)) return because('patternLookaround')
    if (thing.startsWith('(')) alternatives.push(1)
    else if (thing === '|') alternatives.push((alternatives.pop() ?? 0) + 1)
    const ended = thing === ')' ? (alternatives.pop() ?? 1) : 1
    const repeated = read(quantifier, source, at)
    if (repeated && thing === ')') return because('patternRepeatedGroup')
    const { minimum, width } = repeated ? extent(repeated) : { minimum: 1, width: 1 }
    at += repeated?.[0].length ?? 0
    ways *= width * ended
    shortest += minimum
  }
  ways *= alternatives[0] ?? 1
  if (ways <= mostWays && ways * shortest <= mostSteps) return undefined
  return because('patternTooManyWays', { signs: '* + ? {,} and |', bounds: '{1,20}' })
}

/** The pattern as it is used: for the whole value. */
export const wholeValue = (pattern: string): RegExp => new RegExp(`^(?:${pattern})$`, 'u')

function isRegExp(source: string): boolean {
  try {
    // Alone too: ")(" is none, although it would be one inside the brackets. Some are refused only when first used.
    new RegExp(source, 'u')
    return wholeValue(source).test('') !== undefined
  } catch {
    return false
  }
}

/** How often at least, and how many different numbers of times, something may stand there. */
function extent([, sign = '', from = '', comma = '', to = '']: RegExpExecArray): { minimum: number; width: number } {
  if (sign === '?') return { minimum: 0, width: 2 }
  if (sign === '*' || sign === '+') return { minimum: sign === '+' ? 1 : 0, width: longestValue }
  const minimum = Number(from)
  if (comma === '') return { minimum, width: 1 }
  return { minimum, width: to === '' ? longestValue : Number(to) - minimum + 1 }
}

function read(what: RegExp, source: string, at: number): RegExpExecArray | null {
  what.lastIndex = at
  return what.exec(source)
}
