import type { Check } from '../resources/check.ts'
import type { AccessLevel, MailboxDetails, MailboxProgress, MailboxStep } from '../resources/mailbox.ts'
import type { MailboxKind, Person, SiteKind } from '../resources/resource.ts'
import type { SiteProgress, SiteStep } from '../resources/site.ts'

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
  | { readonly done: false; readonly retryAfterSeconds: number; readonly made?: Partial<Progress> }

/**
 * The tenant that resources are made in. Each step looks before it creates, so it is safe to run twice.
 * Throws `TenantError`, which knows whether trying again makes sense.
 */
export interface Tenant {
  readonly siteSteps: { readonly [S in SiteStep]: (input: SiteStepInput) => Promise<StepResult> }
  readonly mailboxSteps: {
    readonly [S in MailboxStep]: (input: MailboxStepInput) => Promise<StepResult<MailboxProgress>>
  }
  /** The steps that this mailbox needs, in order: of what was not asked for there is no step. */
  mailboxStepsOf(asked: Pick<MailboxStepInput, 'kind' | 'details' | 'aliasAddress' | 'customAttributes'>): MailboxStep[]
  /**
   * Has the bot's app put in front of a person, so that there is a chat with them; its arrival tells the bot. Does nothing where that
   * is not set up or not permitted. Throws a retryable `TenantError` when the directory does not answer.
   */
  installApp(personId: string): Promise<void>
  /** `https://contoso.sharepoint.com/sites/`: what site addresses begin with, and where links may lead. */
  readonly siteRoot: string
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
  readonly trouble?: 'refused' | 'throttled' | 'timedOut' | 'unreachable' | 'failed' | 'noSignIn'
}
/** What was counted of the calls to a service in the last 15 minutes, by all processes. */
export interface ServiceTraffic {
  readonly name: ServiceHealth['name']
  readonly calls: number
  /** Those that were refused, failed, or were not answered, in time or ever. */
  readonly failed: number
  /** Those that were told to slow down. */
  readonly throttled: number
  readonly timedOut: number
  /** Of the last two days. */
  readonly lastSuccessAt: Date | null
  readonly lastFailureAt: Date | null
}
export interface ServiceCalls {
  lately(): Promise<ServiceTraffic[]>
}

/** How signing in to Microsoft 365 went, in this process. */
export interface SignInFacts {
  /** Tokens that are good still. */
  readonly tokens: readonly { readonly resource: string; readonly endsAt: Date }[]
  /** That the last attempt got no token, in words for admins. `isFinal`: Entra ID said no, which nobody but an admin changes. */
  readonly refusal: { readonly at: Date; readonly problem: string; readonly isFinal: boolean } | undefined
}
/** What the service signs in with. */
export interface CertificateFacts {
  /** null: it does not end, as in local mode. */
  readonly endsAt: Date | null
  /** Why the file that is there now is not in use, in words for admins. */
  readonly problem: string | undefined
}
/** What came of reading the certificate's file: the same as before, another that is in use now, or one that cannot be used. */
export type CertificateReading = 'same' | 'taken' | 'refused' | 'none'
/** Our way into the tenant. */
export interface Connection {
  signIn(): SignInFacts
  certificate(): CertificateFacts
  /** Reads the certificate's file again, and uses what is there from now on if it can be signed in with. Throws nothing. */
  readCertificate(): Promise<CertificateReading>
}

/** How the service itself does. */
export interface OwnHealth {
  /** Milliseconds of a question to the store; null = it does not answer. */
  readonly databaseMilliseconds: number | null
  /** When it last did; absent: a moment ago. */
  readonly databaseSeenAt?: Date
  /** Jobs that wait or are at work, and how long the oldest that is due has waited, in seconds. */
  readonly queue: { readonly waiting: number; readonly oldestSeconds: number }
  /** When requests past their deadlines were last looked for; null = not within the last seven days. */
  readonly watchedAt: Date | null
  readonly version: string
  readonly startedAt: Date
}
/** Filled by `app.ts`, which knows the parts. */
export interface Vitals {
  own(): Promise<OwnHealth>
}
