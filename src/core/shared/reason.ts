import { z } from 'zod'
import type { ReasonKey } from './reason-keys.ts'

/**
 * The arguments of a reason's message. A list of texts is shown with commas, a list of reasons as sentences, `all` as "A, B and
 * C", and `parts` with the characters `between` them, as the language writes them. A nested reason shows its sentence, `command`
 * the name of a chat command, and `amount` a number with its unit.
 */
export type ReasonFacts = Readonly<Record<string, ReasonFact>>
type ReasonFact =
  | string
  | number
  | Reason
  | readonly (string | Reason)[]
  | { readonly all: readonly (string | Reason)[] }
  | { readonly parts: readonly (string | Reason)[]; readonly between: ', ' | '; ' }
  | { readonly command: string }
  | { readonly amount: number; readonly unit: 'megabyte' | 'gigabyte' | 'terabyte' }
/**
 * The reason of a refusal or a failure: a message key and facts. `reasonText` of the cards formats it in the reader's language,
 * {@link sentenceOf} in English.
 */
export interface Reason {
  readonly key: ReasonKey
  readonly facts?: ReasonFacts
}

export const because = (key: ReasonKey, facts?: ReasonFacts): Reason => (facts ? { key, facts } : { key })

let write = ({ key, facts = {} }: Reason): string => `${key} ${JSON.stringify(facts)}`

/** Sets how {@link sentenceOf} writes reasons. The core has no texts, so `app/sentences.ts` gives it the English catalogue. */
export function writeReasons(writer: (reason: Reason) => string): void {
  write = writer
}

/** Returns the English sentence of a reason: for messages of errors, the log, and the API's `detail` of a stored problem. */
export const sentenceOf = (reason: Reason): string => write(reason)

/**
 * Returns the options of `refine` for a reason: zod's issue has the key as its message and the facts as its parameters.
 * `faultsOf` turns the issue into a fault.
 */
export const issueOf = (key: ReasonKey, facts: ReasonFacts = {}) => ({ error: key, params: facts })

/** Returns the reason of a custom issue. */
export const reasonOfIssue = ({ message, params }: z.core.$ZodIssueCustom): Reason =>
  because(message as ReasonKey, params)

/** A reason for one part of a value. `path`: the path of the part, from the value. */
export interface PlacedReason {
  readonly path: (string | number)[]
  readonly reason: Reason
}

/** Adds reasons as issues inside `superRefine`. `isLast`: skips the checks of the enclosing values. */
export function addReasons(context: z.RefinementCtx, placed: readonly PlacedReason[], isLast = false): void {
  for (const { path, reason } of placed)
    context.addIssue({ code: 'custom', message: reason.key, params: reason.facts ?? {}, path, continue: !isLast })
}

/** Returns a reason with a text that a person wrote, for example the error text of a template's question. */
export const asWritten = (text: string): Reason => because('asWritten', { text })

/** Returns the text of an `asWritten` reason; undefined for other reasons. */
export const writtenText = ({ key, facts }: Reason): string | undefined =>
  key === 'asWritten' ? String(facts?.['text'] ?? '') : undefined

/** A reason as JSON. A stored reason may have a key of another version. */
export const reasonShape = z.custom<Reason>((value) => typeof Object(value).key === 'string')

/** The schema of a stored object with a reason. Rows of older versions have the sentence in `detail` instead. */
export const withReason = <S extends z.ZodRawShape>(shape: S) =>
  z.preprocess(
    (value) => {
      const { detail, ...rest } = Object(value)
      return typeof detail === 'string' ? { ...rest, reason: asWritten(detail) } : value
    },
    z.strictObject({ ...shape, reason: reasonShape }),
  )

/** A reason in the API: a code and its sentence. */
export const shownReason = z.strictObject({ code: z.string(), detail: z.string() })
/** A fault of a field in the API. */
export const shownFault = z.strictObject({
  pointer: z.string(),
  code: z.string(),
  detail: z.string(),
  suggestion: z.string().optional(),
})
