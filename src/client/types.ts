import type { z } from 'zod'
import type {
  AuditEntry,
  batchRowView,
  batchView,
  checkedRow,
  Explanation,
  mailboxRequest,
  RequestState,
  RequestView,
  ResourceKind,
  simulatedPreview,
  siteRequest,
  Template,
  templateForUsers,
  WebhookBody,
  WebhookTestBody,
  webhookTestResult,
} from '../core/index.ts'

/** A body whose optional fields may be null, which means absent. */
type OrNull<Body> = { [Field in keyof Body]: undefined extends Body[Field] ? Body[Field] | null : Body[Field] }

/** The body of `POST /mail/v1/mailboxes/`; optional fields may be omitted or null. */
export type MailboxRequest = OrNull<z.input<typeof mailboxRequest>>
/** The body of `POST /collab/v1/spo/`; optional fields may be omitted or null. */
export type SiteRequest = OrNull<z.input<typeof siteRequest>>

/** A request: its fields, status, decisions and resource. `kind` tells sites and mailboxes apart. */
export type ProvisioningRequest = RequestView
export type { Explanation, RequestState, ResourceKind }
/** The answer to a creation: the request is queued or waits for approval. */
export type Accepted = Pick<RequestView, 'requestId' | 'tenantId' | 'approvalRequired' | 'status'>
/** The answer to a mailbox request. `warnings`: the accepted fields without effect in Microsoft 365. */
export type AcceptedMailbox = Accepted & Pick<Extract<RequestView, { warnings: unknown }>, 'warnings'>
/** A preview of a request. `valid`: the service would accept it; otherwise `errors` has the reasons. */
export type Preview = Omit<z.output<typeof simulatedPreview>, 'simulated'> &
  Partial<Pick<z.output<typeof simulatedPreview>, 'simulated'>>
/** Many requests in one call. `key` is your own key of a row; each `body` is the body of one creation. */
export type NewBatch =
  | { readonly resource: 'mailbox'; readonly rows: readonly { readonly key: string; readonly body: MailboxRequest }[] }
  | { readonly resource: 'site'; readonly rows: readonly { readonly key: string; readonly body: SiteRequest }[] }
/** The status of a batch: the number of its rows and requests in each state. */
export type Batch = z.output<typeof batchView>
/** The result of a row: its request, or the reason why it was refused. */
export type BatchRow = z.output<typeof batchRowView>
export interface BatchRowFilter {
  readonly status?: BatchRow['status']
  readonly limit?: number
  readonly cursor?: string
}
/** The result of a dry run. `valid`: all rows are valid. */
export interface BatchTrial {
  readonly valid: boolean
  readonly rows: readonly z.output<typeof checkedRow>[]
}
export type TimelineEntry = Omit<AuditEntry, 'requestId' | 'tenantId' | 'attempt'>

/** A template as everybody sees it: its form. */
export type TemplateForUsers = z.output<typeof templateForUsers>
/** A template as admins see it: with its policies, without the webhook's secret. */
export type TemplateForAdmins = Omit<Template, 'webhook'> & {
  readonly webhook: Pick<NonNullable<Template['webhook']>, 'url' | 'events'> | null
}
export type AnyTemplate = TemplateForUsers | TemplateForAdmins

export interface Page<T> {
  readonly value: readonly T[]
  readonly nextCursor?: string
}

/** Filters a list of requests: the caller's own, for admins all. */
export interface RequestFilter {
  readonly status?: RequestState
  readonly kind?: ResourceKind
  /** Only the request with this reference (`REQ-1042`), if the caller may see it. */
  readonly reference?: string
  /** Only requests that wait for the caller's decision, of any requester. */
  readonly waitingFor?: 'me'
  /** Entries of one page: 1 to 100. */
  readonly limit?: number
  /** The `nextCursor` of the previous page. */
  readonly cursor?: string
}

/** The security group of a provisioned site (API document, "Provisioned group record"). */
export interface ProvisionedGroup {
  readonly id: string
  readonly displayName: string
  /** `extensionAttribute1`: the Graph site id. */
  readonly siteId?: string
  /** `extensionAttribute3`: the address of the site. */
  readonly url?: string
}

/** A person of the directory. */
export interface FoundPerson {
  readonly id: string
  readonly displayName: string
  readonly userPrincipalName: string
}

/** The result of one test of a template's webhook. `delivered`: the receiver answered 2xx. */
export type WebhookTestResult = z.output<typeof webhookTestResult>

/** A verified webhook. A `webhook.test` comes from an admin's test of the receiver: accept it, and do nothing. */
export type ProvisioningEvent = (WebhookBody | WebhookTestBody) & {
  /** `webhook-id`: equal in all attempts, so the same id means the same message. */
  readonly id: string
}

/** The token of a call: for the sites' API, the mailboxes' API, or the directory. */
export type TokenResource = 'collab' | 'mail' | 'directory'

export interface CallOptions {
  /** Ends the call; its reason is thrown. */
  readonly signal?: AbortSignal
}
export interface PreviewOptions extends CallOptions {
  /** User id of another requester; for admins. */
  readonly as?: string
}
export interface WriteOptions extends CallOptions {
  /**
   * 1 to 255 printable ASCII characters, kept for seven days. The same key with the same body does the work only once.
   * By default each call has a new key; use your own key (the id of your ticket) to repeat a call after a crash.
   */
  readonly idempotencyKey?: string
}
