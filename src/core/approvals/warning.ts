import { because, type Reason } from '../shared/index.ts'
import { addressRule, addressRuleOf, names, type Template } from '../templates/index.ts'
import type { ApprovalStage } from './stage.ts'

/** The warnings about a valid request: facts that may surprise the requester. */
export const warningCodes = [
  'nobody-can-open',
  'unknown-token',
  'empty-answer',
  'number-later',
  'address-of-id',
  'next-address',
  'admins-instead',
  'admins-too',
  'delegated',
  'similar',
  'kept-on-request',
  'not-enforced',
  'already-so',
  'nobody-has-access',
] as const
type WarningCode = (typeof warningCodes)[number]

/** `reason`: the sentence for clients of the API. Cards show a text of their own with the same facts. */
export interface Warning {
  readonly code: WarningCode
  /** The input that can avoid the warning. */
  readonly field?: string
  readonly reason: Reason
}

/** The plan of a request, as far as warnings need it. */
export interface Foreseen {
  readonly requestId: string
  readonly template: Pick<Template, 'kind' | 'naming' | 'fields'>
  readonly details: Readonly<Record<string, unknown>>
  /** The alias of a site, or the part of a mailbox's address before the `@`; `''` without a name. */
  readonly name: string
  /** Names that are taken. */
  readonly passedOver: readonly string[]
  readonly emptyTokens: readonly string[]
  /** The stages, including the delegates of absent approvers. */
  readonly approvals: readonly ApprovalStage[]
  /** The warnings about fields of a mailbox without effect in the tenant. */
  readonly ofFields?: readonly Warning[]
}

/** Returns the warnings, the most important first. */
export function warningsOf(of: Foreseen): Warning[] {
  return [...accessWarnings(of), ...nameWarnings(of), ...of.approvals.flatMap(stageWarnings), ...(of.ofFields ?? [])]
}

function accessWarnings({ template: { kind }, details }: Foreseen): Warning[] {
  const rights = Object.values(Object(details['permissions']))
  if (kind !== 'sharedMailbox' || rights.includes('FullAccess')) return []
  return [{ code: 'nobody-can-open', field: 'permissions', reason: because('nobodyCanOpen') }]
}

/** Whether the name cannot change at submission: it contains no counter and no part of the request's id. */
export const isFinal = ({ template: { kind, naming }, name, requestId }: Omit<Foreseen, 'approvals'>): boolean =>
  !names(addressRule(naming, kind).pattern, 'counter') && !name.includes(requestId.slice(0, 8))

function nameWarnings(of: Foreseen): Warning[] {
  const { template, name, passedOver } = of
  const warnings = of.emptyTokens.map((token) => emptyWarning(token, template))
  const [taken] = passedOver
  const field = addressRuleOf(template.kind)
  if (taken !== undefined) warnings.push({ code: 'next-address', field, reason: because('nextAddress', { taken }) })
  if (name === '' || isFinal(of)) return warnings
  const isCounted = names(addressRule(template.naming, template.kind).pattern, 'counter')
  warnings.push(
    isCounted
      ? { code: 'number-later', reason: because('numberLater') }
      : { code: 'address-of-id', field, reason: because('addressOfId') },
  )
  return warnings
}

function emptyWarning(token: string, { fields }: Pick<Template, 'fields'>): Warning {
  const key = token.startsWith('metadata.') ? token.slice('metadata.'.length) : undefined
  if (key === undefined) return { code: 'unknown-token', reason: because('tokenEmpty', { token }) }
  const label = fields.find((field) => field.key === key)?.label ?? key
  return { code: 'empty-answer', field: token, reason: because('answerEmpty', { label }) }
}

function stageWarnings({ stage, resolvedTo, resolvedFor = 'nobodyFound', standIns = [] }: ApprovalStage): Warning[] {
  const warnings: Warning[] = []
  if (resolvedTo !== undefined) {
    const facts = { stage, why: resolvedFor }
    warnings.push(
      resolvedTo === 'admins'
        ? { code: 'admins-instead', reason: because('adminsInstead', facts) }
        : { code: 'admins-too', reason: because('adminsToo', facts) },
    )
  }
  for (const { person, by, until = '' } of standIns) {
    const facts = { stage, name: by?.displayName ?? '', person: person.displayName, until }
    warnings.push({ code: 'delegated', reason: because('delegated', facts) })
  }
  return warnings
}
