import { safeParse, z } from 'zod'
import type { Fault } from './errors.ts'
import { because, type Reason, type ReasonFacts, reasonOfIssue } from './reason.ts'
import type { ReasonKey } from './reason-keys.ts'
import { metadata } from './resource.ts'

/** All codes of field faults. The cards have a text for each. */
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
  'no-approver',
  'too-many-open-requests',
  'same-person',
  'cannot-decide',
  'asked-for-it',
  'already-asked',
  'not-asked',
] as const
export type FaultCode = (typeof faultCodes)[number]

/** Returns the JSON pointer (RFC 6901) of a path. */
export const pointerOf = (path: readonly PropertyKey[]): string =>
  path.map((part) => `/${String(part).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')

export const fault = (pointer: string, code: FaultCode, reason: Reason, suggestion?: string): Fault => ({
  pointer,
  code,
  reason,
  ...(suggestion !== undefined && { suggestion }),
})

/**
 * Removes nulls that mean "absent": in metadata, and in optional fields whose schema does not accept null. Typed clients send null
 * for every unset field.
 */
export function withoutNulls(schema: z.ZodType, value: unknown): unknown {
  const inner = unwrapped(schema)
  if (Array.isArray(value))
    return inner instanceof z.ZodArray ? value.map((one) => withoutNulls(inner.element as z.ZodType, one)) : value
  if (typeof value !== 'object' || value === null) return value
  const members = Object.entries(value)
  if (inner === metadata) return Object.fromEntries(members.filter(([, member]) => member !== null))
  if (!(inner instanceof z.ZodObject)) return value
  const shape: Readonly<Record<string, z.ZodType>> = inner.shape
  const isAbsent = (field: z.ZodType, member: unknown) =>
    member === null && !field.safeParse(null).success && field.safeParse(undefined).success
  return Object.fromEntries(
    members.flatMap(([name, member]): [string, unknown][] => {
      const field = Object.hasOwn(shape, name) ? shape[name] : undefined
      if (field === undefined) return [[name, member]]
      return isAbsent(field, member) ? [] : [[name, withoutNulls(field, member)]]
    }),
  )
}

function unwrapped(schema: z.ZodType): z.ZodType {
  const isWrapped = schema instanceof z.ZodOptional || schema instanceof z.ZodDefault || schema instanceof z.ZodNullable
  return isWrapped ? unwrapped(schema.unwrap() as z.ZodType) : schema
}

/** Returns the fields of a body that are valid on their own, with the defaults of the missing ones. */
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

/**
 * Returns zod's issues as faults with reasons. `input` shows whether a field is missing or wrong. The message of a custom issue is
 * the key of its reason, and its parameters are the facts.
 */
export function faultsOf(error: z.ZodError, input: unknown): Fault[] {
  const faults = error.issues.flatMap((issue) => faultsOfIssue(issue, input))
  const mistyped = faults.filter(({ code }) => code === 'wrong-type')
  // zod also checks the length of a text where a list is required. The wrong type is the only fault to report.
  return faults.filter((one) => one.code === 'wrong-type' || !mistyped.some(({ pointer }) => pointer === one.pointer))
}

function faultsOfIssue(issue: z.core.$ZodIssue, input: unknown): Fault[] {
  const pointer = pointerOf(issue.path)
  const field = issue.path.length > 0 ? issue.path.join('.') : because('theBody')
  const one = (code: FaultCode, key: ReasonKey, facts?: ReasonFacts) => [
    fault(pointer, code, because(key, { field, ...facts })),
  ]
  switch (issue.code) {
    case 'unrecognized_keys':
      return issue.keys.map((key) =>
        fault(`${pointer}${pointerOf([key])}`, 'unknown-field', because('fieldUnknown', { field: key })),
      )
    case 'invalid_type': {
      const value = at(input, issue.path)
      if (value === undefined) return one('required', 'fieldRequired')
      if (value === null) return one('null', 'fieldNull')
      return one('wrong-type', 'fieldType', { type: issue.expected })
    }
    case 'too_small':
      return [tooSmall(pointer, field, issue)]
    case 'too_big':
      return [tooBig(pointer, field, issue)]
    case 'invalid_union': {
      // Reports the faults of the union member with the fewest issues.
      const [own] = issue.errors
        .filter((issues) => !isOtherType(issues))
        .sort((one, other) => one.length - other.length)
      if (own) return own.flatMap((one) => faultsOfIssue({ ...one, path: [...issue.path, ...one.path] }, input))
      return at(input, issue.path) === null ? one('null', 'fieldNull') : one('wrong-type', 'fieldOfNoType')
    }
    case 'invalid_key':
      return one('invalid', isAboutId(issue.issues) ? 'keyIsNoPerson' : 'keyTooLong')
    case 'invalid_format':
      return one('invalid', issue.format === 'uuid' ? 'fieldIsNoId' : 'fieldFormat')
    case 'invalid_value':
      return one('invalid', 'fieldOneOf', { values: issue.values.map(String) })
    case 'custom':
      return one('invalid', 'aboutField', { reason: reasonOfIssue(issue) })
    default:
      return one('invalid', 'fieldInvalid')
  }
}

const isNumber = (origin: string): boolean => origin === 'number' || origin === 'int'

function tooSmall(pointer: string, field: string | Reason, { origin, minimum }: z.core.$ZodIssueTooSmall): Fault {
  const facts = { field, least: Number(minimum), of: origin }
  if (isNumber(origin)) return fault(pointer, 'too-small', because('fieldTooSmall', facts), String(minimum))
  const code = origin === 'string' && facts.least === 1 ? 'required' : 'too-short'
  return fault(pointer, code, because('fieldTooShort', facts))
}

function tooBig(pointer: string, field: string | Reason, { origin, maximum }: z.core.$ZodIssueTooBig): Fault {
  const facts = { field, most: Number(maximum), of: origin }
  return isNumber(origin)
    ? fault(pointer, 'too-large', because('fieldTooLarge', facts), String(maximum))
    : fault(pointer, 'too-long', because('fieldTooLong', facts), String(maximum))
}

const isAboutId = (issues: readonly z.core.$ZodIssue[]): boolean =>
  issues.some((issue) => issue.code === 'invalid_format' && issue.format === 'uuid')

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
