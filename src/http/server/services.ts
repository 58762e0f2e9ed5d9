import type { Request, Response } from 'restify'
import type {
  Clock,
  Core,
  Explanation,
  HealthPart,
  IdempotencyStore,
  Reason,
  Telemetry,
  TokenBuckets,
} from '../../core/index.ts'
import type { TokenOptions } from './authenticate.ts'
import type { LimitOptions } from './limits.ts'
import type { Waiting } from './waiting.ts'

/** The log as this room uses it; pino is one. */
export interface HttpLog {
  debug(fields: object, message: string): void
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
}

/** Takes one activity of a channel and writes the answer. `request.body` is the parsed JSON; nothing of it is trusted. */
export type MessagesHandler = (request: Request, response: Response) => Promise<void>

/** Judges the token of an activity before its body is read. False: refused, and answered. */
export type AdmitsActivity = (request: Request, response: Response) => Promise<boolean>

/** Whether the service can do its work, with one word about each part it needs. */
export interface Health {
  ready(): Promise<{ ok: boolean; checks: Record<string, string> }>
}

/** What Prometheus reads. */
export interface Metrics {
  /** The figures of this process, as text (Prometheus, "Text-based format"). Tells what is known when the store does not answer. */
  text(): Promise<string>
  /** What a scraper has to show; without it nobody may read them, unless they are open. */
  readonly token?: string | undefined
  /** Only this machine can ask: then it may without a token, if none is set. */
  readonly isOpen: boolean
}

/** The sentences that people read beside the codes of an answer. The composition root has them from the message catalogue. */
export interface ApiTexts {
  explanation(line: Explanation): string
  healthPart(part: HealthPart): string
  reason(reason: Reason): string
}

/** What the handlers of routes use. */
export interface Services {
  readonly provisioning: Core
  readonly texts: ApiTexts
  /** `whsec_` and base64: what the bot's own subscription is signed with (Standard Webhooks 1.0.0). */
  readonly webhookSecret: string
  readonly messages: MessagesHandler
  /** Without it `messages` judges the token too, when the body has been read. */
  readonly admitsActivity?: AdmitsActivity
  readonly health: Health
  /** Without it there is nothing to read. */
  readonly metrics?: Metrics
  /** The API document as it is sent, and its ETag. */
  readonly openApi: () => { readonly text: Uint8Array; readonly etag: string }
  /** Calls whose answers are held until something changes. */
  readonly waiting: Waiting
}

/** What an HTTP server is made of. */
export interface HttpOptions extends Omit<Services, 'openApi' | 'waiting'> {
  /** 0 = any free port. */
  readonly port: number
  readonly host: string
  /** The address that callers know, without a slash at the end. */
  readonly baseUrl: string
  readonly tokens: TokenOptions
  readonly idempotency: IdempotencyStore
  readonly limits: LimitOptions
  /** Local mode, where the chat takes no tokens: requests under other names than this machine's are refused. */
  readonly loopbackOnly?: boolean
  /** Networks whose `X-Forwarded-For` is believed; none unless given. */
  readonly trustedProxies?: readonly string[]
  /** Where all that count do so together: replicas, and batches. Without it this server counts alone. */
  readonly tokenBuckets?: TokenBuckets | undefined
  readonly log: HttpLog
  readonly telemetry?: Telemetry
  /** Listens, and answers 503 until it is opened: whoever looks sees that the service is on its way. */
  readonly starting?: boolean
  /** How long answers may take to go out when the server closes; half a second unless a test knows better. */
  readonly farewellMilliseconds?: number
  /** How long a request may take to come, in milliseconds; half a minute at most unless a test knows better. */
  readonly patience?: {
    headersTimeout: number
    requestTimeout: number
    connectionsCheckingInterval: number
    timeout?: number
  }
  /** Only tests set another clock than the system's. */
  readonly clock?: Clock
}

export interface HttpServer {
  readonly url: string
  readonly port: number
  /** Takes requests, if it was made `starting`. */
  open(): void
  /**
   * New requests get 503 and Retry-After from now on; ends when those under way are answered: by their handlers, or with
   * 503 after four seconds.
   */
  drain(): Promise<void>
  /** Drains, stops listening and lets go of all connections. Done within 5 s. */
  close(): Promise<void>
}
