import type { PrivacyPorts } from '../privacy/index.ts'
import type { ServiceHealth } from '../resources/index.ts'
import type { Reason } from '../shared/index.ts'
import type { ClockFacts, Installation } from './installation.ts'
import type { CheckResults } from './run-checks.ts'
import type { StatsStore } from './stats.ts'

/** The calls of all processes to a service in the last 15 minutes. */
export interface ServiceTraffic {
  readonly name: ServiceHealth['name']
  readonly calls: number
  /** Calls that were refused, failed or timed out. */
  readonly failed: number
  readonly throttled: number
  readonly timedOut: number
  /** Within the last two days. */
  readonly lastSuccessAt: Date | null
  readonly lastFailureAt: Date | null
}

export interface ServiceCalls {
  lately(): Promise<ServiceTraffic[]>
}

/** The sign-in to Microsoft 365 in this process. */
export interface SignInFacts {
  /** Valid tokens. */
  readonly tokens: readonly { readonly resource: string; readonly endsAt: Date }[]
  /**
   * Why the last attempt for a resource got no token, as a text for admins. `isFinal`: Entra ID refused it, which only an
   * admin can change. Such a refusal comes before others.
   */
  readonly refusal: { readonly at: Date; readonly problem: Reason; readonly isFinal: boolean } | undefined
}

/** The certificate that the service signs in with. */
export interface CertificateFacts {
  /** When it becomes valid. */
  readonly startsAt?: Date | undefined
  /** null: it does not expire, as in local mode. */
  readonly endsAt: Date | null
  /** Why the present file cannot be used, as a text for admins. */
  readonly problem?: Reason | undefined
}

/**
 * The result of reading the certificate file. `taken`: a new certificate is in use; `refused`: the file cannot be used.
 */
export type CertificateReading = 'same' | 'taken' | 'refused' | 'none'
/** The connection to the tenant: sign-in, clock and certificate. */
export interface Connection {
  signIn(): SignInFacts
  clock(): ClockFacts
  certificate(): CertificateFacts
  /** Reads the certificate file again, and uses its certificate if it can sign in. Never throws. */
  readCertificate(): Promise<CertificateReading>
}

/** The health of the service itself. */
export interface OwnHealth {
  /** Milliseconds of a query to the store; null: it does not answer. */
  readonly databaseMilliseconds: number | null
  /** When it last answered; absent: it answers now. */
  readonly databaseSeenAt?: Date
  /** Jobs that wait or run, and how long the oldest due job has waited, in seconds. */
  readonly queue: { readonly waiting: number; readonly oldestSeconds: number }
  /** When the watchdog last ran; null: not within the last seven days. */
  readonly watchedAt: Date | null
  readonly version: string
  readonly startedAt: Date
}

/** Reads the health of the service. `app/` implements it, because it knows all parts. */
export interface OwnHealthReader {
  read(): Promise<OwnHealth>
}

/** An open dead letter, without its problem. */
export interface DeadLetterHead {
  readonly letterId: string
  /** The job's name and its payload, unchanged. This version may not know the job. */
  readonly job: string
  readonly payload: unknown
  readonly at: Date
}

export interface DeadLetter extends DeadLetterHead {
  /** Why its last attempt failed, for admins. */
  readonly problem: Reason
}

/** The dead letters of the queue. Changes inside a transaction are part of it. */
export interface DeadLetters {
  /** Returns all, in any order. */
  list(): Promise<DeadLetterHead[]>
  find(letterId: string): Promise<DeadLetter | undefined>
  /** Removes it from the list; false if it is no longer on the list. Logs the person and the reason. */
  settle(letterId: string, about: { readonly personId: string; readonly why: string }): Promise<boolean>
  /** Enqueues its job again and removes it from the list; false if it is no longer on the list. */
  replay(letterId: string): Promise<boolean>
}

/** A process of the service, as it reports itself. */
export interface ServiceProcess {
  readonly processId: string
  /** Host and process number. */
  readonly name: string
  readonly version: string
  readonly startedAt: Date
  /** Whether it takes jobs. */
  readonly works: boolean
}

/** A process as other processes see it. */
export interface SeenProcess extends ServiceProcess {
  /** When it last reported. */
  readonly seenAt: Date
  /** Seconds since then, by the clock of the store. */
  readonly silentSeconds: number
}

export interface ProcessStore {
  /** Reports that the process runs. */
  beat(process: ServiceProcess): Promise<void>
  /** Reports an orderly stop. */
  leave(processId: string): Promise<void>
  /** Returns all that have not reported a stop, the oldest first. */
  list(): Promise<SeenProcess[]>
  /** Deletes all other processes: an embedded store belongs to one process at a time. */
  forgetOthers(processId: string): Promise<void>
  forgetOld(): Promise<void>
}

/** The ports that this room and the rooms above it need. */
export interface OperationPorts extends PrivacyPorts {
  readonly stats: StatsStore
  readonly deadLetters: DeadLetters
  readonly processes: ProcessStore
  readonly connection: Connection
  readonly serviceCalls: ServiceCalls
  readonly ownHealth: OwnHealthReader
  readonly installation: Installation
  readonly checkResults: CheckResults
}
