import { z } from 'zod'
import { type MailboxDetails, type MailboxField, tenantHolds } from '../resources/index.ts'
import { because, type MailboxKind, type Reason } from '../shared/index.ts'
import type { TemplateSnapshot } from '../templates/index.ts'
import { isBlank } from './applicable-fields.ts'
import { isForMailbox, type Request } from './request.ts'

/**
 * The warnings about accepted fields without effect in the tenant. `kept-on-request`: the tenant has no place for the value.
 * `not-enforced`: the tenant cannot forbid it. `already-so`: the tenant is so without the field. `nobody-has-access`: it needs
 * people with full access.
 */
const fieldWarningCodes = ['kept-on-request', 'not-enforced', 'already-so', 'nobody-has-access'] as const
type FieldWarningCode = (typeof fieldWarningCodes)[number]

/** A warning about one field of a mailbox request: `primaryOwner`, `metadata.floor`. */
export interface FieldWarning {
  readonly code: FieldWarningCode
  readonly field: string
  readonly reason: Reason
}

/** A warning in the API. */
export const shownFieldWarning = z.strictObject({
  code: z
    .enum(fieldWarningCodes)
    .describe(
      '`kept-on-request`: Microsoft 365 has no place for the value. `not-enforced`: it cannot forbid this. `already-so`: it is so without the field. `nobody-has-access`: it needs people with full access.',
    ),
  field: z.string().describe('The field: `primaryOwner`, `metadata.floor`'),
  detail: z.string(),
})

/** The parts of a mailbox request that the warnings need. */
interface Requested {
  readonly kind: MailboxKind
  readonly details: Partial<MailboxDetails>
  readonly aliasAddress: string
  readonly template: Pick<TemplateSnapshot, 'fields'>
}

/** Returns a warning for each accepted field that has no effect in the tenant. */
export function fieldWarnings(requested: Requested): FieldWarning[] {
  const { kind, details, aliasAddress } = requested
  const { alias = '', autoMapping, isAllowAutomaticReplyOverride: override, permissions = {} } = details
  const warnings = Object.entries(details)
    .filter(([field, value]) => field !== 'metadata' && !isBlank(value) && !tenantHolds(field as MailboxField, kind))
    .filter(([field]) => field !== 'isAllowAutomaticReplyOverride')
    .map(([field]) => warning('kept-on-request', field, because('fieldKept', { field, kind })))
  if (override !== undefined)
    warnings.push(
      override
        ? warning('already-so', 'isAllowAutomaticReplyOverride', because('replyAlwaysOpen'))
        : warning('not-enforced', 'isAllowAutomaticReplyOverride', because('replyNotForbidden')),
    )
  if (alias !== '' && aliasAddress === '') warnings.push(warning('already-so', 'alias', because('aliasIsAddress')))
  if (autoMapping === true && !Object.values(permissions).includes('FullAccess'))
    warnings.push(warning('nobody-has-access', 'autoMapping', because('autoMappingNobody')))
  return [...warnings, ...metadataWarnings(requested)]
}

const warning = (code: FieldWarningCode, field: string, reason: Reason): FieldWarning => ({ code, field, reason })

/** Returns a warning for each key that the template assigns to no custom attribute. The seats of a room have their own place. */
function metadataWarnings({ kind, details: { metadata = {} }, template: { fields } }: Requested): FieldWarning[] {
  const assigned = new Set(fields.flatMap(({ key, customAttribute }) => (customAttribute === undefined ? [] : [key])))
  if (kind === 'roomMailbox') assigned.add('seats')
  return Object.entries(metadata)
    .filter(([key, value]) => !assigned.has(key) && value !== '')
    .map(([key]) => warning('kept-on-request', `metadata.${key}`, because('answerKept', { field: key })))
}

/** Returns the warnings of a request; an empty list for a site, or after the details were removed. */
export const fieldWarningsOf = (request: Request): FieldWarning[] =>
  isForMailbox(request) && request.reducedAt === undefined ? fieldWarnings(request) : []

/** The fields in the warnings that the requester chose: without answers to the template's own questions. */
export const ownWarnings = (
  warnings: readonly FieldWarning[],
  { fields }: Pick<TemplateSnapshot, 'fields'>,
): FieldWarning[] => warnings.filter(({ field }) => !fields.some(({ key }) => field === `metadata.${key}`))
