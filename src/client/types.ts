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

/** The body of `POST /mail/v1/mailboxes/`; what has a default may be left out. */
export type MailboxRequest = z.input<typeof mailboxRequest>
/** The body of `POST /collab/v1/spo/`; what has a default may be left out. */
export type SiteRequest = z.input<typeof siteRequest>

/** A request: what was asked for, how it stands, who decided, what was made. `kind` tells sites and mailboxes apart. */
export type ProvisioningRequest = RequestView
export type { Explanation, RequestState, ResourceKind }
/** What a creation is answered: it is queued or waits for approval, and is not done. */
export type Accepted = Pick<RequestView, 'requestId' | 'tenantId' | 'approvalRequired' | 'status'>
/** What a request would be, without sending it. `valid`: it would be accepted; else `errors` say why not. */
export type Preview = Omit<z.output<typeof simulatedPreview>, 'simulated'> &
  Partial<Pick<z.output<typeof simulatedPreview>, 'simulated'>>
/** Many requests in one call. `key` is what you call a row; each `body` is one that creates a resource by itself. */
export type NewBatch =
  | { readonly resource: 'mailbox'; readonly rows: readonly { readonly key: string; readonly body: MailboxRequest }[] }
  | { readonly resource: 'site'; readonly rows: readonly { readonly key: string; readonly body: SiteRequest }[] }
/** How a batch does: how many of its rows, and of their requests, stand how. */
export type Batch = z.output<typeof batchView>
/** What became of a row: its request, or why it was refused. */
export type BatchRow = z.output<typeof batchRowView>
export interface BatchRowFilter {
  readonly status?: BatchRow['status']
  readonly limit?: number
  readonly cursor?: string
}
/** What the rows of a batch would be. `valid`: every one of them is right. */
export interface BatchTrial {
  readonly valid: boolean
  readonly rows: readonly z.output<typeof checkedRow>[]
}
/** One line of a request's timeline. */
export type TimelineEntry = Omit<AuditEntry, 'requestId' | 'tenantId' | 'attempt'>

/** What everybody sees of a template: its form. */
export type TemplateForUsers = z.output<typeof templateForUsers>
/** What admins see of it: its policies too, but not the webhook's secret. */
export type TemplateForAdmins = Omit<Template, 'webhook'> & {
  readonly webhook: Pick<NonNullable<Template['webhook']>, 'url' | 'events'> | null
}
export type AnyTemplate = TemplateForUsers | TemplateForAdmins

/** A page of a list. `nextCursor` is there when there are more. */
export interface Page<T> {
  readonly value: readonly T[]
  readonly nextCursor?: string
}

/** Which requests are listed: one's own, an admin's all. */
export interface RequestFilter {
  readonly status?: RequestState
  readonly kind?: ResourceKind
  /** The one that people call so (`REQ-1042`), if the caller may see it, whoever asked for it. */
  readonly reference?: string
  /** Those that wait for the caller's decision, whoever asked for them. */
  readonly waitingFor?: 'me'
  /** Of one page: 1 to 100. */
  readonly limit?: number
  /** The `nextCursor` of the page before. */
  readonly cursor?: string
}

/** The security group that stands for a provisioned site (API document, "Provisioned group record"). */
export interface ProvisionedGroup {
  readonly id: string
  readonly displayName: string
  /** `extensionAttribute1`: the Graph site id. */
  readonly siteId?: string
  /** `extensionAttribute3`: the address of the site. */
  readonly url?: string
}

/** What came of trying a template's webhook once. `delivered`: it was answered 2xx. */
export type WebhookTestResult = z.output<typeof webhookTestResult>

/**
 * A webhook that is proven to come from the service. A `webhook.test` is of an admin who tries the receiver: take it, and do nothing.
 */
export type ProvisioningEvent = (WebhookBody | WebhookTestBody) & {
  /** `webhook-id`: the same in every attempt, so what has this id twice is the same message twice. */
  readonly id: string
}

/** Whose token a call takes: that of the sites' API, of the mailboxes' API, or of the directory. */
export type TokenResource = 'collab' | 'mail' | 'directory'

/** What every call takes. */
export interface CallOptions {
  /** Ends the call; its reason is thrown. */
  readonly signal?: AbortSignal
}
/** Whose request is previewed. */
export interface PreviewOptions extends CallOptions {
  /** User id of the person who would ask; for admins. */
  readonly as?: string
}
/** What every write takes. */
export interface WriteOptions extends CallOptions {
  /**
   * 1 to 255 printable ASCII characters, kept for seven days: the same key with the same body does a thing once, however
   * often it is sent. A new one is made unless given; give your own (the id of your ticket) to repeat after your own crash.
   */
  readonly idempotencyKey?: string
}
