import { z } from 'zod'
import type { MailboxKind, Person, SharedPorts, SiteKind } from '../shared/index.ts'
import type { AccessLevel, MailboxDetails, MailboxProgress, MailboxStep } from './mailbox.ts'
import type { SiteProgress, SiteStep } from './site.ts'

/** What the ready check reads back from the tenant, and which step puts right what it finds wrong. */
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

/** One thing that was asked for, read back: whether the tenant has it, and if not, what it has instead (for admins). */
export const check = z.object({
  name: z.enum(checkNames),
  ok: z.boolean(),
  detail: z.string().default(''),
  notVisibleYet: z
    .boolean()
    .optional()
    .describe('True when the tenant has accepted the values but shows them only later, up to 24 hours. No fault.'),
})
export type Check = z.output<typeof check>

/** Whether the request fails for it. Values that the tenant has accepted and shows later are no fault. */
export const isFault = ({ ok, notVisibleYet }: Check): boolean => !ok && notVisibleYet !== true

/** What a step knows: facts of the request and what earlier steps made. */
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

/** The same of a mailbox. */
export interface MailboxStepInput {
  readonly requestId: string
  readonly kind: MailboxKind
  /** `room-aurora@contoso.com`; what stands before the `@` is the mailbox's name and alias in Exchange. */
  readonly address: string
  /** The additional address, or `''`. */
  readonly aliasAddress: string
  readonly details: MailboxDetails
  /** Who gets which access; `None` is nobody here. */
  readonly access: readonly { readonly person: Person; readonly level: Exclude<AccessLevel, 'None'> }[]
  /** Custom attributes of Exchange, by their number. */
  readonly customAttributes: ReadonlyMap<number, string>
  /** When work on the request first began: what is young is looked for more often. */
  readonly startedAt: Date
  readonly progress: MailboxProgress
  readonly signal: AbortSignal
}

/**
 * Done, with what it made, and what a ready check has found; or not yet, when to look again (seconds; 0 = at once), and
 * what has to be kept until then. A ready check that found something wrong is done too: what follows from it is the core's
 * matter.
 */
export type StepResult<Progress = SiteProgress> =
  | { readonly done: true; readonly made: Partial<Progress>; readonly checks?: readonly Check[] }
  | {
      readonly done: false
      readonly retryAfterSeconds: number
      readonly made?: Partial<Progress>
      /** Why the tenant makes it wait, for admins, where something may have to be fixed. */
      readonly why?: { readonly code: string; readonly detail: string }
    }
/**
 * The tenant that resources are made in. Each step looks before it creates, so it is safe to run twice.
 * Throws `TenantError`, which knows whether trying again makes sense.
 */
export interface Tenant {
  readonly siteSteps: {
    readonly [S in SiteStep]: (input: SiteStepInput) => Promise<StepResult>
  }
  readonly mailboxSteps: {
    readonly [S in MailboxStep]: (input: MailboxStepInput) => Promise<StepResult<MailboxProgress>>
  }
  /** The steps that this mailbox needs, in order: of what was not asked for there is no step. */
  mailboxStepsOf(asked: Pick<MailboxStepInput, 'kind' | 'details' | 'aliasAddress' | 'customAttributes'>): MailboxStep[]
  /**
   * Finds the id of the chat between a person and the bot. `install`: installs the app if the person does not have it; Teams then tells
   * the bot about the new chat. Returns undefined when there is no chat yet, and where this is not set up or not permitted. A person
   * without a chat is looked up once in ten minutes. Throws a retryable `TenantError` when Microsoft Graph does not answer.
   */
  findChat(personId: string, how: { readonly install: boolean }): Promise<string | undefined>
  /** `https://contoso.sharepoint.com/sites/`: what site addresses begin with, and where links may lead. */
  readonly siteRoot: string
  /** `https://contosoeur.sharepoint.com`: the other hosts of a multi-geo tenant, where links may lead too. */
  readonly otherSiteOrigins?: readonly string[]
  /** `https://outlook.office.com/`: where people open mailboxes. */
  readonly outlookRoot: string
  /** Asks each service of Microsoft 365 something small. */
  health(): Promise<ServiceHealth[]>
}

/** Whether a part of the world answers: in how many milliseconds, or why not, in words for admins. */
export interface ServiceHealth {
  readonly name: 'graph' | 'sharePoint' | 'exchange'
  readonly milliseconds: number
  readonly problem?: string
  /** What kind of trouble the problem is; `failed` unless told. */
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

/** The ports that this room and the rooms above it need. */
export interface ResourcePorts extends SharedPorts {
  readonly tenant: Tenant
}
