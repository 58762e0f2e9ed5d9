import type { ApprovalStage, JudgedStage } from '../approvals/index.ts'
import type { Around, Inquiry, Named } from '../naming/index.ts'
import type { MailboxDetails, SiteDetails } from '../resources/index.ts'
import { type Fault, isMailboxKind, type MailboxKind, type Person, type SiteKind } from '../shared/index.ts'
import type { Applied, Template } from '../templates/index.ts'
import type { RequestPorts } from './ports.ts'

interface Common {
  readonly template: Template
  readonly approvals: readonly ApprovalStage[]
  /** How the conditions of the template's policy were judged, where it has any. */
  readonly policy?: readonly JudgedStage[]
  /** Why it is wanted, when the body itself says so. */
  readonly reason: string
  /** The name that was typed, where the policy made another one of it. */
  readonly typedName?: string
  /** What the policy put around the address. */
  readonly around: Around
  /** Ids of owners who are guests, where the template allows them. */
  readonly guests?: readonly string[]
  /** What the template put into the request. */
  readonly applied: readonly Applied[]
  /** What the names could have had in them, and nothing is known of. */
  readonly emptyTokens: readonly string[]
  /** What is kept for the request until it ends: its addresses, and the names that nothing else may take meanwhile. */
  readonly names: readonly { readonly name: string; readonly pointer: string }[]
}

/** What a request for a site would be. */
export interface SitePlan extends Common {
  readonly kind: SiteKind
  readonly details: SiteDetails
  /** The requester first, then those named. */
  readonly owners: readonly Person[]
  /** Whom the answers to the template's own questions name by id. */
  readonly people?: readonly Person[]
  readonly alias: string
  /** Those that it would have had, and that were held already. */
  readonly passedOver?: readonly string[]
  /** Where the site will be, as far as anybody can know before it is made. */
  readonly url: string
}

/** What a request for a mailbox would be. */
export interface MailboxPlan extends Common {
  readonly kind: MailboxKind
  readonly details: MailboxDetails
  /** Everybody whom the details name by id. */
  readonly people: readonly Person[]
  readonly address: string
  readonly aliasAddress: string
}

/** All that follows from what was asked, before anything is written. */
export type Plan = SitePlan | MailboxPlan
export const isForMailboxPlan = (plan: Plan): plan is MailboxPlan => isMailboxKind(plan.kind)

/** What can be said of a request that is refused, as far as it could be read. */
export interface Glimpse {
  readonly details: Readonly<Record<string, unknown>>
  readonly owners: readonly Person[]
  /** What the template put into the request. */
  readonly applied: readonly Applied[]
  /** None where there is nothing to make them of. */
  readonly names?: Named | undefined
  /** Of a mailbox. */
  readonly domain?: string
  readonly aliasAddress?: string
}

export type Evaluation =
  | { readonly ok: true; readonly plan: Plan }
  | { readonly ok: false; readonly faults: readonly Fault[]; readonly glimpse?: Glimpse }
export const refused = (...faults: readonly Fault[]): Evaluation => ({ ok: false, faults })

/** What the rules of a whole request need to know. */
export type RequestInquiry = Inquiry<RequestPorts>

export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
