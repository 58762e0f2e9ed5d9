import type { ApprovalTimes } from './approval-time.ts'
import type { BatchStore } from './batch.ts'
import type { ConversationStore, NoticeStore, SentCards } from './chat-ports.ts'
import type { DelegationStore } from './delegation.ts'
import type { DigestStore } from './digest.ts'
import type { Directory } from './directory-ports.ts'
import type { DraftStore } from './draft.ts'
import type { JobName, JobOrder } from './events.ts'
import type { ExportTickets } from './export-link.ts'
import type { ExportSource } from './exporting.ts'
import type { AddressStore } from './former-address.ts'
import type { HealthWatchStore } from './health-watch.ts'
import type { PersonStore } from './person-data.ts'
import type { ProcessStore } from './processes.ts'
import type { RetentionStore } from './retention.ts'
import type { StatsStore } from './stats.ts'
import type {
  AuditLog,
  DeliveryStore,
  DirectorySightings,
  NameCounters,
  RequestStore,
  Reservations,
  TemplateStore,
  WebhookEndpointStore,
} from './store-ports.ts'
import type { Telemetry } from './telemetry.ts'
import type { Connection, ServiceCalls, Tenant, Vitals } from './tenant-ports.ts'

/** What the core needs of the world. `app.ts` fills these with rooms; tests fill them with fakes that are loud. */

export interface Clock {
  now(): Date
}

/** Store changes that stand or fall together. SQL only: an outgoing call inside one throws. */
export interface UnitOfWork {
  transaction<T>(work: () => Promise<T>): Promise<T>
  /** Runs when the transaction around it has committed, and never if it does not; at once where there is none. */
  afterCommit?(tell: () => void): void
}

/** Limits of use, for work that does not come by REST: turns of a batch, which wait, and forms in chat. */
export interface LimitsOfUse {
  /**
   * Counts one write of somebody, if one is left, and leaves some for what they do by hand: `againInMilliseconds` is when the next
   * should be, 0 = at once.
   */
  takeWrite(caller: { readonly tenantId: string; readonly id: string }): Promise<{
    readonly taken: boolean
    readonly againInMilliseconds: number
  }>
  /** Counts reads of somebody: 0 = they are counted, else in how many seconds to try again. */
  takeReads(caller: { readonly tenantId: string; readonly id: string }, cost: number): Promise<number>
}

/** The addresses that a host's name has just now. Rejects when it has none or nobody answers. */
export type ResolveHost = (hostname: string) => Promise<readonly string[]>

/**
 * Sends one webhook now, outside the queue, and gives what came of it as the log of deliveries says it. `own`: the bot's own
 * subscription, which goes to where the service itself is.
 */
export type SendWebhook = (message: {
  readonly url: string
  /** The `webhook-id`. */
  readonly id: string
  readonly at: Date
  readonly body: string
  readonly secrets: readonly string[] | 'own'
}) => Promise<{ readonly said: string; readonly milliseconds: number }>

export interface Jobs {
  /** Inside a transaction the job comes to be with it. */
  enqueue(orders: readonly JobOrder[]): Promise<void>
  /** When the next job of this name is due, of each of these requests that has one which is not at work. */
  dueAt(name: JobName, requestIds: readonly string[]): Promise<ReadonlyMap<string, Date>>
}

/** A job that was given up, and that nobody has looked after yet. */
export interface DeadLetterHead {
  readonly letterId: string
  /** The job's name, and its payload as it was; a job that is not known any more may be among them. */
  readonly job: string
  readonly payload: unknown
  readonly at: Date
}
export interface DeadLetter extends DeadLetterHead {
  /** Why its last attempt failed: an error's message, for admins. */
  readonly problem: string
}
/** What the queue has given up, filled by the queue. Inside a transaction changes come to be with it. */
export interface DeadLetters {
  /** All of them, in any order. */
  list(): Promise<DeadLetterHead[]>
  find(letterId: string): Promise<DeadLetter | undefined>
  /** Takes it off the list; false when it is not on it any more. The log says who did, and why. */
  settle(letterId: string, about: { readonly personId: string; readonly why: string }): Promise<boolean>
  /** Enqueues its job anew and takes it off the list; false when it is not on it any more. */
  replay(letterId: string): Promise<boolean>
}

export interface Ports {
  readonly clock: Clock
  readonly work: UnitOfWork
  readonly requests: RequestStore
  readonly batches: BatchStore
  readonly limitsOfUse: LimitsOfUse
  readonly templates: TemplateStore
  readonly audit: AuditLog
  readonly delegations: DelegationStore
  readonly nameCounters: NameCounters
  readonly reservations: Reservations
  readonly addresses: AddressStore
  readonly drafts: DraftStore
  readonly deliveries: DeliveryStore
  readonly endpoints: WebhookEndpointStore
  readonly sightings: DirectorySightings
  readonly resolveHost: ResolveHost
  readonly sendWebhook: SendWebhook
  readonly sentCards: SentCards
  readonly notices: NoticeStore
  readonly stats: StatsStore
  readonly exports: ExportSource
  readonly exportTickets: ExportTickets
  readonly retention: RetentionStore
  readonly personData: PersonStore
  readonly digests: DigestStore
  readonly conversations: ConversationStore
  readonly jobs: Jobs
  readonly deadLetters: DeadLetters
  readonly processes: ProcessStore
  readonly healthWatch: HealthWatchStore
  readonly directory: Directory
  readonly tenant: Tenant
  readonly connection: Connection
  readonly serviceCalls: ServiceCalls
  readonly vitals: Vitals
  readonly telemetry?: Telemetry
}

/** What an organisation decides about the service as a whole. Times in seconds. */
export interface Settings {
  readonly tenantId: string
  /** Entra object ids of people and groups. Read at use, so a removed admin is none at once. */
  readonly admins: readonly string[]
  /** Whether an admin may decide alone what they have reassigned to themselves. */
  readonly adminDecidesOwnReassignment?: boolean
  readonly openRequestsPerPerson: number
  /** Client ids of the applications that may act for themselves; undefined: whoever looked at their token has decided. */
  readonly mailApplications?: readonly string[]
  readonly approvals: ApprovalTimes
  /** At which hour of their day, 0 to 23, people get a summary of what is open for them; null = nobody does. */
  readonly digest: { readonly hour: number } | null
  readonly followUp: { readonly firstSeconds: number; readonly everySeconds: number; readonly stopSeconds: number }
  /** The bot's own subscription, or null when it is switched off and the poll alone reports. */
  readonly followUpWebhookUrl: string | null
  /** Networks (`10.1.0.0/16`) that webhooks of templates may go to although they are private, and by http. */
  readonly webhookAllowCidrs: readonly string[]
  /** Where links to exports lead, and the key that seals them; without it there are none. */
  readonly exportLinks?: { readonly root: string; readonly key: Uint8Array }
  /** For how many days the address of a person who has left, or of a former resource, is kept from others; absent or 0: not at all. */
  readonly formerAddressDays?: number
  /** After how many days a request that has ended is reduced to what the audit needs; absent: never. */
  readonly retentionDays?: number
}
