import type { ApprovalStage, JudgedStage } from '../approvals/index.ts'
import type { Around, Inquiry, Named } from '../naming/index.ts'
import type { MailboxDetails, SiteDetails } from '../resources/index.ts'
import { type Fault, isMailboxKind, type MailboxKind, type Person, type SiteKind } from '../shared/index.ts'
import type { Applied, Template } from '../templates/index.ts'
import type { RequestPorts } from './ports.ts'

interface Common {
  readonly template: Template
  readonly approvals: readonly ApprovalStage[]
  /** The results of the conditions in the template's policy, if it has any. */
  readonly policy?: readonly JudgedStage[]
  /** The reason in the body, or `''`. */
  readonly reason: string
  /** The typed name, if the policy changed it. */
  readonly typedName?: string
  /** The prefix and suffix of the address by the policy. */
  readonly around: Around
  /** Ids of owners who are guests, if the template allows guests. */
  readonly guests?: readonly string[]
  /** Derived addresses that were taken, without a domain. */
  readonly passedOver?: readonly string[]
  /** The values that the template set. */
  readonly applied: readonly Applied[]
  /** The tokens of the names that have no value. */
  readonly emptyTokens: readonly string[]
  /** The names and addresses that are held for the request until it ends. */
  readonly names: readonly { readonly name: string; readonly pointer: string }[]
}

/** The plan of a request for a site. */
export interface SitePlan extends Common {
  readonly kind: SiteKind
  readonly details: SiteDetails
  /** The requester first, then the owners in the body. */
  readonly owners: readonly Person[]
  /** The people in the answers to the template's own questions. */
  readonly people?: readonly Person[]
  readonly alias: string
  /** The expected URL of the site. */
  readonly url: string
}

/** The plan of a request for a mailbox. */
export interface MailboxPlan extends Common {
  readonly kind: MailboxKind
  readonly details: MailboxDetails
  /** All people in the details. */
  readonly people: readonly Person[]
  readonly address: string
  readonly aliasAddress: string
}

/** The result of checking a valid body, before anything is written. */
export type Plan = SitePlan | MailboxPlan
export const isForMailboxPlan = (plan: Plan): plan is MailboxPlan => isMailboxKind(plan.kind)

/** The readable part of a refused request. */
export interface Glimpse {
  readonly details: Readonly<Record<string, unknown>>
  readonly owners: readonly Person[]
  /** The values that the template set. */
  readonly applied: readonly Applied[]
  /** Undefined if the body has no name to derive them from. */
  readonly names?: Named | undefined
  /** For mailboxes only. */
  readonly domain?: string
  readonly aliasAddress?: string
}

export type Evaluation =
  | { readonly ok: true; readonly plan: Plan }
  | { readonly ok: false; readonly faults: readonly Fault[]; readonly glimpse?: Glimpse }
export const refused = (...faults: readonly Fault[]): Evaluation => ({ ok: false, faults })

/** The input of the rules for a whole request. */
export type RequestInquiry = Inquiry<RequestPorts>
