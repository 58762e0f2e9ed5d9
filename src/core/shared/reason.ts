import { z } from 'zod'
import type { ReasonKey } from './reason-keys.ts'

/** The arguments of a reason's message. Texts in a list are separated by commas; a reason within a reason is its sentence. */
export type ReasonFacts = Readonly<Record<string, string | number | Reason | readonly (string | Reason)[]>>
/** Why something is refused, as a key and facts. Cards and API turn it into a sentence (`reasonText` of the cards). */
export interface Reason {
  readonly key: ReasonKey
  readonly facts?: ReasonFacts
}

export const because = (key: ReasonKey, facts?: ReasonFacts): Reason => (facts ? { key, facts } : { key })

/**
 * The reason of a failed `refine`, as its options take it: zod's issue has the key as its message and the facts as its parameters.
 * `faultsOf` turns it into a fault.
 */
export const issueOf = (key: ReasonKey, facts: ReasonFacts = {}) => ({ error: key, params: facts })

/** The reason of a custom issue. */
export const reasonOfIssue = ({ message, params }: z.core.$ZodIssueCustom): Reason =>
  because(message as ReasonKey, params)

/** What is wrong with one part of a value. `path`: where it is, from the value on. */
export interface PlacedReason {
  readonly path: (string | number)[]
  readonly reason: Reason
}

/** Gives reasons to zod from within `superRefine`. `isLast`: the checks of the values around this one are left out. */
export function addReasons(context: z.RefinementCtx, placed: readonly PlacedReason[], isLast = false): void {
  for (const { path, reason } of placed)
    context.addIssue({ code: 'custom', message: reason.key, params: reason.facts ?? {}, path, continue: !isLast })
}

/** A text that is somebody's own, such as the error text of a template's question. */
export const asWritten = (text: string): Reason => because('asWritten', { text })

/** The text of a reason that is `asWritten`. */
export const writtenText = ({ key, facts }: Reason): string | undefined =>
  key === 'asWritten' ? String(facts?.['text'] ?? '') : undefined

/** A reason as JSON: a stored one may have a key of another version. */
export const reasonShape = z.custom<Reason>((value) => typeof Object(value).key === 'string')

/** A stored object with a reason. Rows of older versions have the sentence itself, as `detail`. */
export const withReason = <S extends z.ZodRawShape>(shape: S) =>
  z.preprocess(
    (value) => {
      const { detail, ...rest } = Object(value)
      return typeof detail === 'string' ? { ...rest, reason: asWritten(detail) } : value
    },
    z.strictObject({ ...shape, reason: reasonShape }),
  )

/** A code with its sentence, as the API shows a reason. */
export const shownReason = z.strictObject({ code: z.string(), detail: z.string() })
/** A fault of a field, as the API shows it. */
export const shownFault = z.strictObject({
  pointer: z.string(),
  code: z.string(),
  detail: z.string(),
  suggestion: z.string().optional(),
})
