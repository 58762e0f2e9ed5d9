import type { Directory } from './directory.ts'
import type { JobName, JobOrder } from './jobs.ts'
import type { RequestState } from './resource.ts'

/** What the core needs of the world. `app/` fills these ports with the other layers; tests fill them with loud fakes. */

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

export interface Jobs {
  /** Inside a transaction the job comes to be with it. */
  enqueue(orders: readonly JobOrder[]): Promise<void>
  /** When the next job of this name is due, of each of these requests that has one which is not at work. */
  dueAt(name: JobName, requestIds: readonly string[]): Promise<ReadonlyMap<string, Date>>
}

/** The ports that this room and the rooms above it need. */
export interface SharedPorts {
  readonly clock: Clock
  readonly work: UnitOfWork
  readonly jobs: Jobs
  readonly limitsOfUse: LimitsOfUse
  readonly directory: Directory
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
  /** The secret that the bot signs in with, and when it ends; null: unknown. Absent: the bot signs in without a secret. */
  readonly botSecret?: { readonly endsAt: Date | null }
}

/** When something is done for want of a decision, counted from the moment that a stage's turn came; 0 = never. */
export interface ApprovalTimes {
  /** From then on somebody without a chat is taken for unreachable. */
  readonly reachMinutes: number
  readonly remindAfterHours: number
  readonly escalateAfterHours: number
  /** Never 0. */
  readonly expireAfterDays: number
}

/**
 * What the rooms tell of what they do, for whoever counts it. Every word in it is one of ours (a verb, a route's pattern, a
 * job's name): never an id, a name, an address or anything that somebody typed. Times are seconds.
 */
export interface Telemetry {
  /** A turn of the bot has ended. `what`: the verb of a click or the words of a command. */
  turnEnded(turn: {
    readonly kind: TurnKind
    readonly what: string
    readonly outcome: TurnOutcome
    readonly seconds: number
  }): void
  /** An HTTP request was answered. `route`: the pattern of its path; `none` where no route took it. */
  requestAnswered(answer: {
    readonly method: string
    readonly route: string
    readonly status: number
    readonly seconds: number
  }): void
  /** A request for a resource has come into a state, and the store has it. */
  stateReached(state: RequestState): void
  /** A job was tried once. `waited`: from when it was due to when it began. */
  jobTried(job: {
    readonly job: string
    readonly outcome: JobOutcome
    readonly seconds: number
    readonly waitedSeconds: number
  }): void
  /** A call to Microsoft 365 was answered; without a status it was not. */
  serviceCalled(call: {
    readonly service: string
    readonly purpose: string
    readonly status: number | undefined
    readonly seconds: number
  }): void
  webhookTried(attempt: { readonly subscriber: 'bot' | 'template'; readonly outcome: WebhookOutcome }): void
  /** A card was written into a chat of our own accord, or was to be. */
  cardWritten(card: { readonly how: 'send' | 'update'; readonly outcome: CardOutcome }): void
}

export type TurnKind = 'message' | 'click' | 'install' | 'other'

/**
 * `done`: answered as it was meant. `refused`: answered with a no. `unavailable`: something that we need was away.
 * `failed`: a defect. `repeated`: heard before. `ignored`: nobody waits for an answer.
 */
export type TurnOutcome = 'done' | 'refused' | 'unavailable' | 'failed' | 'repeated' | 'ignored'

export type JobOutcome = 'done' | 'put-off' | 'tried-again' | 'given-up'

export type WebhookOutcome = 'delivered' | 'tried-again' | 'failed' | 'not-sent'

/** `gone`: the card to update is not there any more. `refused`: the chat takes none. `unknown`: sent, and the answer lost. */
export type CardOutcome = 'written' | 'unknown' | 'gone' | 'refused' | 'put-off' | 'failed'
