import type { DelegationStore } from '../approvals/delegation.ts'
import type { AuditLog } from '../audit/ports.ts'
import type { BatchStore } from '../batches/batch.ts'
import type { DraftStore } from '../drafts/draft.ts'
import type { AddressStore } from '../naming/former-addresses.ts'
import type { NameCounters, Reservations } from '../naming/ports.ts'
import type { NoticeStore } from '../notifications/notices.ts'
import type { ConversationStore } from '../notifications/ports.ts'
import type { ExportTickets } from '../privacy/export-link.ts'
import type { ExportSource } from '../privacy/exporting.ts'
import type { PersonStore } from '../privacy/person-data.ts'
import type { RetentionStore } from '../privacy/retention.ts'
import type { DirectorySightings } from '../provisioning/ports.ts'
import type { DeliveryStore } from '../requests/events.ts'
import type { SentCards } from '../requests/sent-cards.ts'
import type { RequestStore } from '../requests/store.ts'
import type { ServiceHealth, Tenant } from '../resources/tenant.ts'
import type { Directory } from '../shared/directory.ts'
import type { Clock, Jobs, LimitsOfUse, UnitOfWork } from '../shared/ports.ts'
import type { Telemetry } from '../shared/telemetry.ts'
import type { TemplateStore } from '../templates/ports.ts'
import type { ResolveHost, SendWebhook, WebhookEndpointStore } from '../webhooks/ports.ts'
import type { DeadLetters } from './dead-letters.ts'
import type { DigestStore } from './digest.ts'
import type { HealthWatchStore } from './health-watch.ts'
import type { ProcessStore, Workers } from './processes.ts'
import type { StatsStore } from './stats.ts'

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
  readonly workers: Workers
  readonly healthWatch: HealthWatchStore
  readonly directory: Directory
  readonly tenant: Tenant
  readonly connection: Connection
  readonly serviceCalls: ServiceCalls
  readonly vitals: Vitals
  readonly telemetry?: Telemetry
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
