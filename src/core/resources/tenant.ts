import { z } from 'zod'
import {
  type MailboxKind,
  type Person,
  type Reason,
  reasonShape,
  type SharedPorts,
  type SiteKind,
} from '../shared/index.ts'
import type { AccessLevel, MailboxDetails, MailboxProgress, MailboxStep } from './mailbox.ts'
import type { SiteProgress, SiteStep } from './site.ts'

/** The parts of the ready check, each with the step that fixes a fault. */
export const checkSteps = {
  siteOpens: 'wait-for-site',
  owners: 'add-owners',
  label: 'apply-label',
  address: 'create-mailbox',
  mailboxType: 'create-mailbox',
  signInBlocked: 'block-sign-in',
  alias: 'apply-settings',
  capacity: 'apply-settings',
  visibility: 'apply-settings',
  customAttributes: 'apply-settings',
  contact: 'apply-contact',
  place: 'apply-place',
  booking: 'apply-booking',
  fullAccess: 'grant-access',
  sendAs: 'grant-access',
  automaticReply: 'apply-automatic-reply',
} as const satisfies Record<string, SiteStep | MailboxStep>
export type CheckName = keyof typeof checkSteps
export const checkNames = Object.keys(checkSteps) as [CheckName, ...CheckName[]]

/** The check of one requested value, as the API shows it. `detail`: the tenant's value instead, for admins. */
export const shownCheck = z.object({
  name: z.enum(checkNames),
  ok: z.boolean(),
  detail: z.string().default(''),
  notVisibleYet: z
    .boolean()
    .optional()
    .describe('True if the tenant has accepted the values but does not show them yet, up to 24 hours. Not a fault.'),
})
/** A stored check. Requests of earlier versions have only the sentence in `detail`. */
export const check = shownCheck.extend({ reason: reasonShape.optional() })
export type Check = z.output<typeof check>

/** Whether the check fails the request. Values that the tenant has accepted and shows later are not a fault. */
export const isFault = ({ ok, notVisibleYet }: Check): boolean => !ok && notVisibleYet !== true

/** The input of a site's step: facts of the request and results of earlier steps. */
export interface SiteStepInput {
  readonly requestId: string
  readonly kind: SiteKind
  readonly displayName: string
  readonly description: string
  readonly alias: string
  readonly owners: readonly Person[]
  readonly requester: Person
  readonly labelId: string
  readonly progress: SiteProgress
  readonly signal: AbortSignal
}

/** The input of a mailbox's step. */
export interface MailboxStepInput {
  readonly requestId: string
  readonly kind: MailboxKind
  /** The primary address, `room-aurora@contoso.com`. The part before the `@` is the mailbox's name and alias in Exchange. */
  readonly address: string
  /** The additional address, or `''`. */
  readonly aliasAddress: string
  readonly details: MailboxDetails
  /** The people who get access, without the level `None`. */
  readonly access: readonly { readonly person: Person; readonly level: Exclude<AccessLevel, 'None'> }[]
  /** Custom attributes of Exchange, by their number. */
  readonly customAttributes: ReadonlyMap<number, string>
  /** The first start of work on the request. Steps of new requests are polled more often. */
  readonly startedAt: Date
  readonly progress: MailboxProgress
  readonly signal: AbortSignal
}

/**
 * The result of a step: done, with `made` and the checks of a ready check; or not yet done, with the seconds until the next
 * attempt (0 = at once) and results to store. A ready check with faults is also done: the core decides what follows.
 */
export type StepResult<Progress = SiteProgress> =
  | { readonly done: true; readonly made: Partial<Progress>; readonly checks?: readonly Check[] }
  | {
      readonly done: false
      readonly retryAfterSeconds: number
      readonly made?: Partial<Progress>
      /** The reason for the wait, for admins, if they may have to fix something. */
      readonly why?: { readonly code: string; readonly reason: Reason }
    }
/**
 * Creates resources in the tenant. Each step checks before it creates, so it is safe to run a step twice.
 * Throws `TenantError` with `retryable`.
 */
export interface Tenant {
  readonly siteSteps: {
    readonly [S in SiteStep]: (input: SiteStepInput) => Promise<StepResult>
  }
  readonly mailboxSteps: {
    readonly [S in MailboxStep]: (input: MailboxStepInput) => Promise<StepResult<MailboxProgress>>
  }
  /** Returns the steps that this mailbox needs, in order. */
  mailboxStepsOf(
    mailbox: Pick<MailboxStepInput, 'kind' | 'details' | 'aliasAddress' | 'customAttributes'>,
  ): MailboxStep[]
  /**
   * Finds the id of the chat between a person and the bot. `install`: installs the app if it is missing; Teams then announces
   * the new chat to the bot. Returns undefined if there is no chat yet, or if this is not set up or not permitted. Looks up a
   * person without a chat once in ten minutes. Throws a retryable `TenantError` if Microsoft Graph does not answer.
   */
  findChat(personId: string, how: { readonly install: boolean }): Promise<string | undefined>
  /** The start of site addresses, `https://contoso.sharepoint.com/sites/`. Links may lead there. */
  readonly siteRoot: string
  /** The other hosts of a multi-geo tenant, such as `https://contosoeur.sharepoint.com`. Links may lead there too. */
  readonly otherSiteOrigins?: readonly string[]
  /** The address where people open mailboxes, `https://outlook.office.com/`. */
  readonly outlookRoot: string
  /** Sends a small call to each service of Microsoft 365. */
  health(): Promise<ServiceHealth[]>
}

/** The health of a service: the milliseconds of its answer, or a problem for admins. */
export interface ServiceHealth {
  readonly name: 'graph' | 'sharePoint' | 'exchange'
  readonly milliseconds: number
  readonly problem?: Reason
  /** The kind of problem (default `failed`). */
  readonly trouble?:
    | 'permissionMissing'
    | 'optionalPermissionMissing'
    | 'refused'
    | 'throttled'
    | 'timedOut'
    | 'unreachable'
    | 'failed'
    | 'noSignIn'
}

/** The ports of this room and of the rooms above it. */
export interface ResourcePorts extends SharedPorts {
  readonly tenant: Tenant
}
