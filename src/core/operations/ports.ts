import type { PrivacyPorts } from '../privacy/index.ts'
import type { ServiceHealth } from '../resources/index.ts'
import type { StatsStore } from './stats.ts'

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
  /** When it becomes valid. */
  readonly startsAt?: Date | undefined
  /** null: it does not end, as in local mode. */
  readonly endsAt: Date | null
  /** Why the file that is there now is not in use, in words for admins. */
  readonly problem?: string | undefined
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

/** Filled by `app/`, which knows the parts. */
export interface Vitals {
  own(): Promise<OwnHealth>
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

/** One process of the service, by its own word. */
export interface ServiceProcess {
  readonly processId: string
  /** Its host and its number there. */
  readonly name: string
  readonly version: string
  readonly startedAt: Date
  /** Whether it works on the queue. */
  readonly works: boolean
}

/** A process as the others see it. */
export interface SeenProcess extends ServiceProcess {
  /** When it last said that it is there. */
  readonly seenAt: Date
  /** For how long it has been silent, in seconds, by the clock of the store. */
  readonly silentSeconds: number
}

export interface ProcessStore {
  /** Says that it is there now. */
  beat(process: ServiceProcess): Promise<void>
  /** It stops in order. */
  leave(processId: string): Promise<void>
  /** All that have not left, the longest at work first. */
  list(): Promise<SeenProcess[]>
  /** Forgets all but this one: an embedded store belongs to one process at a time. */
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
  readonly vitals: Vitals
}
