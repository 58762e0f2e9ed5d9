import { addressRule, names, type Template } from '../templates/index.ts'
import type { ApprovalStage } from './stage.ts'

/** What a request that is right may still surprise people with. */
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
] as const
export type WarningCode = (typeof warningCodes)[number]

/** `detail` is a sentence for clients; cards have words of their own, filled with the `values`. */
export interface Warning {
  readonly code: WarningCode
  /** The input that could change it. */
  readonly field?: string
  readonly detail: string
  readonly values: Readonly<Record<string, string>>
}

/** What a warning is about. */
export interface Foreseen {
  readonly requestId: string
  readonly template: Pick<Template, 'kind' | 'naming' | 'fields'>
  readonly details: Readonly<Record<string, unknown>>
  /** The alias of a site, or what stands before the `@`; `''` where there is none yet. */
  readonly name: string
  /** Names that were not free. */
  readonly passedOver: readonly string[]
  readonly emptyTokens: readonly string[]
  /** With those who decide for whoever is away. */
  readonly approvals: readonly ApprovalStage[]
}

/** The most important first. */
export function warningsOf(of: Foreseen): Warning[] {
  return [...accessWarnings(of), ...nameWarnings(of), ...of.approvals.flatMap(stageWarnings)]
}

function accessWarnings({ template: { kind }, details }: Foreseen): Warning[] {
  const given = Object.values(Object(details['permissions']))
  if (kind !== 'sharedMailbox' || given.includes('FullAccess')) return []
  const detail = 'Nobody can open this mailbox. Give somebody FullAccess.'
  return [{ code: 'nobody-can-open', field: 'permissions', detail, values: {} }]
}

/** Whether the name is what it will be: it has no number, and no part of an id, that the request gets only when it is sent. */
export const isFinal = ({ template: { kind, naming }, name, requestId }: Omit<Foreseen, 'approvals'>): boolean =>
  !names(addressRule(naming, kind).pattern, 'counter') && !name.includes(requestId.slice(0, 8))

function nameWarnings(of: Foreseen): Warning[] {
  const { template, name, passedOver } = of
  const warnings = of.emptyTokens.map((token) => emptyWarning(token, template))
  const [taken] = passedOver
  if (taken !== undefined) {
    const detail = `${taken} is taken, so the address is the next one that is free.`
    warnings.push({ code: 'next-address', field: 'alias', detail, values: { taken } })
  }
  if (name === '' || isFinal(of)) return warnings
  const isCounted = names(addressRule(template.naming, template.kind).pattern, 'counter')
  warnings.push(
    isCounted
      ? {
          code: 'number-later',
          detail: 'The number is given when the request is sent. This one is likely, unless another request is faster.',
          values: {},
        }
      : {
          code: 'address-of-id',
          field: 'alias',
          detail:
            'The name has no letter that an address can have, so a part of the request’s id stands in the address.',
          values: {},
        },
  )
  return warnings
}

function emptyWarning(token: string, { fields }: Pick<Template, 'fields'>): Warning {
  const key = token.startsWith('metadata.') ? token.slice('metadata.'.length) : undefined
  if (key === undefined) {
    const detail = `No ${token} of who asks can stand in the names, so they have none.`
    return { code: 'unknown-token', detail, values: { token } }
  }
  const label = fields.find((field) => field.key === key)?.label ?? key
  const detail = `${label} is not answered, so the names have nothing of it.`
  return { code: 'empty-answer', field: token, detail, values: { label } }
}

const because = {
  noManager: 'no manager is known',
  onlyRequester: 'nobody approves their own request',
  blocked: 'its approvers cannot sign in',
  onlyGuests: 'its approvers are guests',
  nobodyFound: 'no approver was found',
  tooFew: 'too few approvers were found',
} as const satisfies Record<NonNullable<ApprovalStage['resolvedFor']>, string>

function stageWarnings({ stage, resolvedTo, resolvedFor = 'nobodyFound', standIns = [] }: ApprovalStage): Warning[] {
  const number = String(stage)
  const warnings: Warning[] = []
  if (resolvedTo !== undefined) {
    const code = resolvedTo === 'admins' ? 'admins-instead' : 'admins-too'
    const asked = resolvedTo === 'admins' ? 'The admins decide' : 'The admins are asked too in'
    const detail = `${asked} approval ${number}, since ${because[resolvedFor]}.`
    warnings.push({ code, detail, values: { stage: number, why: resolvedFor } })
  }
  for (const { person, by, until = '' } of standIns) {
    const away = by?.displayName ?? ''
    const detail = `${away} is away until ${until}, and ${person.displayName} decides approval ${number} meanwhile.`
    warnings.push({
      code: 'delegated',
      detail,
      values: { stage: number, name: away, person: person.displayName, until },
    })
  }
  return warnings
}
