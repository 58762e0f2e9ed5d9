import type { Directory } from './directory.ts'
import type { JobName, JobOrder } from './jobs.ts'
import type { RequestState } from './resource.ts'

// The ports of the core. `app/` implements them with the other layers; tests use fakes.

export interface Clock {
  now(): Date
}

/** Groups store changes into transactions. SQL only: an outgoing call inside a transaction throws. */
export interface UnitOfWork {
  transaction<T>(work: () => Promise<T>): Promise<T>
  /**
   * Like `transaction`. Work returns its last statement, for which others wait: a server gets it together with the commit.
   * Returns the statement's result.
   */
  endingWith<T>(work: () => Promise<() => Promise<T>>): Promise<T>
  /**
   * Waits until no other transaction holds one of these locks, then holds them until the end of the current transaction.
   * Only statements that are sent afterwards see what the others have written.
   */
  hold(locks: readonly string[]): Promise<void>
  /** Runs `tell` after the current transaction has committed, and never after a rollback; at once without a transaction. */
  afterCommit?(tell: () => void): void
}

/** Rate limits for work outside REST: turns of a batch, which wait, and forms in chat. */
export interface RateLimits {
  /**
   * Counts one write of a caller if one is left, and reserves some for manual work. `againInMilliseconds`: the wait before the
   * next write, 0 = none.
   */
  takeWrite(caller: { readonly tenantId: string; readonly id: string }): Promise<{
    readonly taken: boolean
    readonly againInMilliseconds: number
  }>
  /** Counts reads of a caller. Returns 0, or the seconds to wait if the limit is reached. */
  takeReads(caller: { readonly tenantId: string; readonly id: string }, cost: number): Promise<number>
}

export interface Jobs {
  /** Enqueues jobs. Inside a transaction they exist when it commits. */
  enqueue(orders: readonly JobOrder[]): Promise<void>
  /** Returns the due time of the next waiting job of this name, by request id. */
  dueAt(name: JobName, requestIds: readonly string[]): Promise<ReadonlyMap<string, Date>>
}

/** The ports of this room. */
export interface SharedPorts {
  readonly clock: Clock
  readonly work: UnitOfWork
  readonly jobs: Jobs
  readonly rateLimits: RateLimits
  readonly directory: Directory
  readonly telemetry?: Telemetry
}

/** The organisation's settings of the whole service. */
export interface Settings {
  readonly tenantId: string
  /** Entra object ids of people and groups. Membership is read at each use, so a removed admin loses the role at once. */
  readonly admins: readonly string[]
  /** Whether an admin may decide a request that they have reassigned to themselves. */
  readonly adminDecidesOwnReassignment?: boolean
  readonly openRequestsPerPerson: number
  /** Client ids of the applications that may act for themselves; undefined: the check of the token decides. */
  readonly mailApplications?: readonly string[]
  readonly approvals: ApprovalTimes
  /** The hour of a person's day, 0 to 23, at which they get the digest; null = no digests. */
  readonly digest: { readonly hour: number } | null
  readonly followUp: { readonly firstSeconds: number; readonly everySeconds: number; readonly stopSeconds: number }
  /** The address of the service's own receiver; null: disabled, so only the directory poll reports. */
  readonly followUpWebhookUrl: string | null
  /** Private networks (`10.1.0.0/16`) that webhooks of templates may use, also by http. */
  readonly webhookAllowCidrs: readonly string[]
  /** The root of links to exports and the key that seals them. */
  readonly exportLinks: { readonly root: string; readonly key: Uint8Array }
  /** The days for which the address of a person who has left, or of a former resource, is not free; absent or 0: none. */
  readonly formerAddressDays?: number
  /** The days after which an ended request is reduced to what the audit needs; absent: never. */
  readonly retentionDays?: number
  /** The bot's sign-in secret and the time when it expires (null: unknown). Absent: the bot signs in without a secret. */
  readonly botSecret?: { readonly endsAt: Date | null }
}

/** The timers of a stage without a decision, from the moment when the stage opens; 0 = never. */
export interface ApprovalTimes {
  /** The time after which an approver without a chat counts as unreachable. */
  readonly reachMinutes: number
  readonly remindAfterHours: number
  readonly escalateAfterHours: number
  /** Never 0. */
  readonly expireAfterDays: number
}

/**
 * The events that the metrics count. Texts in events are our own (a verb, a route's pattern, a job's name), never ids, names,
 * addresses or typed text. Times are in seconds.
 */
export interface Telemetry {
  /** A turn of the bot has ended. `what`: the verb of a click or the name of a command. */
  turnEnded(turn: {
    readonly kind: TurnKind
    readonly what: string
    readonly outcome: TurnOutcome
    readonly seconds: number
  }): void
  /** An HTTP request was answered. `route`: the pattern of its path; `none` without a matching route. */
  requestAnswered(answer: {
    readonly method: string
    readonly route: string
    readonly status: number
    readonly seconds: number
  }): void
  /** A request has reached a state, and the change is stored. */
  stateReached(state: RequestState): void
  /** One attempt of a job has ended. `waitedSeconds`: from its due time to its start. */
  jobTried(job: {
    readonly job: string
    readonly outcome: JobOutcome
    readonly seconds: number
    readonly waitedSeconds: number
  }): void
  /**
   * So many jobs of this name have become dead letters, or have failed for good without dead letters. The queue reports 0 for
   * each name when it starts.
   */
  jobsGivenUp(job: string, jobs: number): void
  /** A call to Microsoft 365 has ended; without a status there was no answer. */
  serviceCalled(call: {
    readonly service: string
    readonly purpose: string
    readonly status: number | undefined
    readonly seconds: number
  }): void
  webhookTried(attempt: { readonly subscriber: 'bot' | 'template'; readonly outcome: WebhookOutcome }): void
  /** A proactive send or update of a card has ended. */
  cardWritten(card: { readonly how: 'send' | 'update'; readonly outcome: CardOutcome }): void
}

export type TurnKind = 'message' | 'click' | 'install' | 'other'

/**
 * `done`: success. `refused`: the turn was refused. `unavailable`: a service that we need did not answer. `failed`: a defect.
 * `repeated`: a duplicate delivery. `ignored`: no answer is expected.
 */
export type TurnOutcome = 'done' | 'refused' | 'unavailable' | 'failed' | 'repeated' | 'ignored'

export type JobOutcome = 'done' | 'put-off' | 'tried-again' | 'given-up'

export type WebhookOutcome = 'delivered' | 'tried-again' | 'failed' | 'not-sent'

/** `gone`: the card no longer exists. `refused`: the chat accepts no cards. `unknown`: sent, but the answer was lost. */
export type CardOutcome = 'written' | 'unknown' | 'gone' | 'refused' | 'put-off' | 'failed'
