import { safeParse, type z } from 'zod'
import type { Fault } from './errors.ts'
import { asWritten, type Reason } from './reason.ts'

/** The codes of field faults: closed, since the cards choose their words by them. */
export const faultCodes = [
  'required',
  'null',
  'wrong-type',
  'too-short',
  'too-long',
  'too-small',
  'too-large',
  'invalid',
  'unknown-field',
  'unknown-template',
  'wrong-resource',
  'name-taken',
  'unknown-person',
  'unreadable-person',
  'label-not-allowed',
  'not-a-choice',
  'pattern',
  'owners-minimum',
  'owners-maximum',
  'not-applicable',
  'not-a-country',
  'domain-not-accepted',
  'same-as-address',
  'chosen-twice',
  'no-mailbox',
  'past',
  'too-early',
  'too-late',
  'not-a-date',
  'fixed',
  'blocked-word',
  'reserved-name',
  'former-address',
  'characters',
  'too-many-people',
  'access-not-allowed',
  'external-owner',
  'person-blocked',
  'person-guest',
  'quota-reached',
  'same-person',
  'cannot-decide',
  'asked-for-it',
  'already-asked',
  'not-asked',
] as const
export type FaultCode = (typeof faultCodes)[number]

/** A JSON pointer (RFC 6901) from a path. */
export const pointerOf = (path: readonly PropertyKey[]): string =>
  path.map((part) => `/${String(part).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')

export const fault = (pointer: string, code: FaultCode, reason: Reason | string, suggestion?: string): Fault => ({
  pointer,
  code,
  reason: typeof reason === 'string' ? asWritten(reason) : reason,
  ...(suggestion !== undefined && { suggestion }),
})

/** Those fields of a body that are right, each by itself, with the defaults of those that were left out. */
export function readable<S extends z.core.$ZodShape>(
  shape: S,
  body: Readonly<Record<string, unknown>>,
): Partial<z.output<z.ZodObject<S>>> {
  const fields = Object.entries(shape).flatMap(([field, schema]) => {
    const parsed = safeParse(schema, Object.hasOwn(body, field) ? body[field] : undefined)
    return parsed.success && parsed.data !== undefined ? [[field, parsed.data] as const] : []
  })
  return Object.fromEntries(fields) as Partial<z.output<z.ZodObject<S>>>
}

/** zod's issues as faults that name the field and say what to do; `input` tells a missing field from a wrong one. */
export function faultsOf(error: z.ZodError, input: unknown): Fault[] {
  const faults = error.issues.flatMap((issue) => faultsOfIssue(issue, input))
  const mistyped = faults.filter(({ code }) => code === 'wrong-type')
  // zod goes on to measure a text that stands where a list belongs; that it is no list says enough.
  return faults.filter((one) => one.code === 'wrong-type' || !mistyped.some(({ pointer }) => pointer === one.pointer))
}

function faultsOfIssue(issue: z.core.$ZodIssue, input: unknown): Fault[] {
  const pointer = pointerOf(issue.path)
  const name = issue.path.join('.') || 'The body'
  switch (issue.code) {
    case 'unrecognized_keys':
      return issue.keys.map((key) =>
        fault(`${pointer}${pointerOf([key])}`, 'unknown-field', `${key} is not a field of this request.`),
      )
    case 'invalid_type': {
      const given = at(input, issue.path)
      if (given === undefined) return [fault(pointer, 'required', `${name} is required.`)]
      if (given === null) return [fault(pointer, 'null', `${name} must not be null; leave it out instead.`)]
      const wanted = issue.expected === 'int' ? 'a whole number' : article(issue.expected)
      return [fault(pointer, 'wrong-type', `${name} must be ${wanted}.`)]
    }
    case 'too_small':
      return [tooSmall(pointer, name, issue)]
    case 'too_big':
      return [tooBig(pointer, name, issue)]
    case 'invalid_union': {
      // Of several forms that a value may have, the one that it misses by least.
      const [own] = issue.errors
        .filter((issues) => !isOtherType(issues))
        .sort((one, other) => one.length - other.length)
      if (own) return own.flatMap((one) => faultsOfIssue({ ...one, path: [...issue.path, ...one.path] }, input))
      const isNull = at(input, issue.path) === null
      const wrong = isNull ? 'must not be null; leave it out instead' : 'does not have the right type'
      return [fault(pointer, isNull ? 'null' : 'wrong-type', `${name} ${wrong}.`)]
    }
    case 'invalid_key':
      return [fault(pointer, 'invalid', `${name} is not valid: ${keyWords(issue.issues)}.`)]
    case 'invalid_format':
      if (issue.format === 'uuid') return [fault(pointer, 'invalid', `${name} must be an object id (a UUID).`)]
      return [fault(pointer, 'invalid', `${name} does not have the right form.`)]
    case 'invalid_value':
      return [fault(pointer, 'invalid', `${name} must be one of: ${issue.values.join(', ')}.`)]
    case 'custom':
      return [fault(pointer, 'invalid', `${name}: ${issue.message}`)]
    default:
      return [fault(pointer, 'invalid', `${name} is not valid: ${issue.message}.`)]
  }
}

const isNumber = (origin: string): boolean => origin === 'number' || origin === 'int'

function tooSmall(pointer: string, name: string, { origin, minimum }: z.core.$ZodIssueTooSmall): Fault {
  const bound = String(minimum)
  if (isNumber(origin)) return fault(pointer, 'too-small', `${name} must be at least ${bound}.`, bound)
  const code = origin === 'string' && bound === '1' ? 'required' : 'too-short'
  return fault(pointer, code, `${name} must have at least ${bound}${unit(origin, bound)}.`)
}

function tooBig(pointer: string, name: string, { origin, maximum }: z.core.$ZodIssueTooBig): Fault {
  const bound = String(maximum)
  if (isNumber(origin)) return fault(pointer, 'too-large', `${name} may be at most ${bound}.`, bound)
  return fault(pointer, 'too-long', `${name} may have at most ${bound}${unit(origin, bound)}.`, bound)
}

const keyWords = (issues: readonly z.core.$ZodIssue[]): string =>
  issues.some((issue) => issue.code === 'invalid_format' && issue.format === 'uuid')
    ? 'it must be the object id of a person'
    : 'a key has 1 to 64 characters'

const isOtherType = (issues: readonly z.core.$ZodIssue[]): boolean =>
  issues.every(({ code, path }) => code === 'invalid_type' && path.length === 0)

function at(value: unknown, path: readonly PropertyKey[]): unknown {
  let here = value
  for (const part of path) {
    if (typeof here !== 'object' || here === null || !Object.hasOwn(here, part)) return undefined
    here = (here as Record<PropertyKey, unknown>)[part]
  }
  return here
}

const article = (type: string): string => (/^[aeiou]/.test(type) ? `an ${type}` : `a ${type}`)
const unit = (origin: string, bound: string): string => {
  const [one, several] = { string: [' character', ' characters'], array: [' entry', ' entries'] }[origin] ?? ['', '']
  return (bound === '1' ? one : several) ?? ''
}
