/** The HTTP server: tokens, bodies, limits, idempotency, problems and OpenAPI. `serve-route.ts` serves each route of the registry. */
import { once } from 'node:events'
import type { IncomingMessage, Server as NodeServer } from 'node:http'
import { type AddressInfo, Server as NetServer } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import restify, { type Request, type Response } from 'restify'
import type { Clock, IdempotencyStore, Telemetry, TokenBuckets } from '../../core/index.ts'
import { from } from '../../core/index.ts'
import { routes } from '../routes/index.ts'
import { entityTag } from './answers.ts'
import type { TokenOptions } from './authenticate.ts'
import { createAuthenticate } from './authenticate.ts'
import { answerBrokenRequests, hostError } from './broken-requests.ts'
import type { Health, OwnPages, Route, Services } from './define-route.ts'
import type { LimitOptions } from './limits.ts'
import { createClientAddress, createLimits, createRefusals, networkOf } from './limits.ts'
import { openApiOf } from './openapi.ts'
import { tokenUrlOf } from './openapi-components.ts'
import { HttpError } from './problem.ts'
import type { HttpLog } from './respond.ts'
import { type Exchange, exchangeOf, logAnswer, pathOf, sendError } from './respond.ts'
import { type ServerContext, serveRoute } from './serve-route.ts'
import { createWaiting } from './waiting.ts'

export interface HttpOptions extends Omit<Services, 'openApi' | 'waiting' | 'docs'> {
  readonly port: number
  readonly host: string
  /** The public address, without a slash at the end. */
  readonly baseUrl: string
  readonly tokens: TokenOptions
  /** The client id for sign-in on /docs. Without it, people enter one there. */
  readonly docsClientId?: string | undefined
  readonly idempotency: IdempotencyStore
  readonly limits: LimitOptions
  /** Local mode, whose chat has no tokens: refuses requests for other hosts than this machine. */
  readonly loopbackOnly?: boolean
  /** Addresses of the organisation's pages about privacy and terms of use; without them the service has its own. */
  readonly ownPages?: OwnPages
  /** Networks whose `X-Forwarded-For` is trusted; none by default. */
  readonly trustedProxies?: readonly string[]
  /** Buckets that replicas and batches share. Without them this server counts alone. */
  readonly tokenBuckets?: TokenBuckets | undefined
  readonly log: HttpLog
  readonly telemetry?: Telemetry
  /** Listens and answers 503 until `open` is called, so that callers see that the service is starting. */
  readonly starting?: boolean
  /** How long open answers may take when the server closes, in milliseconds; 500 by default. */
  readonly farewellMilliseconds?: number
  /** How long a request may take to arrive, in milliseconds; 30 s at most by default. */
  readonly patience?: {
    headersTimeout: number
    requestTimeout: number
    connectionsCheckingInterval: number
    timeout?: number
  }
  /** Only tests replace the system's clock. */
  readonly clock?: Clock
}

interface HttpServer {
  readonly url: string
  readonly port: number
  /** Accepts requests, if the server was created `starting`. */
  open(): void
  /**
   * Refuses new requests with 503 and Retry-After. Resolves when all open requests are answered: by their handlers, or
   * with 503 after four seconds.
   */
  drain(): Promise<void>
  /** Drains, stops listening and closes all connections, within 5 s. */
  close(): Promise<void>
}

/**
 * Timeouts in milliseconds. Slow senders are disconnected within 30 s, because Node checks its connections at intervals.
 * A connection without traffic, because nobody reads the answer, ends after `timeout`. Only answers of routes with
 * `longestSeconds` may take longer.
 * Idle connections stay open longer than proxies keep them (usually 60 s), so that no proxy sends a call on a connection
 * that the service is closing.
 */
const patience = {
  headersTimeout: 15_000,
  requestTimeout: 26_000,
  connectionsCheckingInterval: 2_000,
  timeout: 90_000,
  keepAliveTimeout: 75_000,
} as const
/** restify logs nothing itself: `logAnswer` writes one line for each request. */
const nothing = () => false
const silent = { trace: nothing, debug: nothing, info: nothing, warn: nothing, error: nothing, fatal: nothing }

/** Starts the HTTP side of the service: the REST contract of DESIGN §5, the bot's endpoint and the webhook receiver. */
export async function createHttpServer(options: HttpOptions): Promise<HttpServer> {
  const server = restify.createServer({
    // An empty name sends no Server header.
    name: '',
    handleUncaughtExceptions: false,
    ignoreTrailingSlash: true,
    noWriteContinue: true,
    log: silent as restify.ServerOptions['log'],
  })
  const node: NodeServer = server.server
  // Node would refuse a missing Host with its own text.
  Object.assign(node, patience, options.patience, { requireHostHeader: false })
  answerBrokenRequests(node, options)
  // restify takes over "Connection: Upgrade" and then never answers; HTTP/2 clients send it with ordinary calls.
  node.removeAllListeners('upgrade')
  const lifecycle = new Lifecycle(options.starting ? 'starting' : 'open')
  const admit = guard(options, lifecycle)
  server.pre((request, response, next) => next(admit(request, response) ? undefined : false))

  node.listen(options.port, options.host)
  await once(node, 'listening')
  const { port } = node.address() as AddressInfo
  const context = contextOf(options, lifecycle)
  mount(server, context, options, lifecycle)
  const host = options.host.includes(':') ? `[${options.host}]` : options.host
  return {
    url: `http://${host}:${port}`,
    port,
    open: () => lifecycle.open(),
    drain: () => lifecycle.drain(),
    close: () => lifecycle.close(node, options.farewellMilliseconds),
  }
}

function contextOf(options: HttpOptions, lifecycle: Lifecycle): ServerContext {
  const { clock, core, texts, webhookSecret, messages, health, tokenBuckets: buckets, log } = options
  const now = clock ? () => clock.now().getTime() : Date.now
  const refusals = createRefusals(options.limits.refusalsPerMinute ?? 0, now)
  const addressOf = createClientAddress(options.trustedProxies ?? [])
  const shared = buckets && { buckets, warn: log.warn.bind(log) }
  return {
    services: {
      core,
      texts,
      webhookSecret,
      messages,
      admitsActivity: options.admitsActivity,
      health: lifecycle.healthWith(health),
      metrics: options.metrics,
      ownPages: options.ownPages,
      openApi: describer(options),
      docs: { tokenUrl: tokenUrlOf(options.tokens.authority), clientId: options.docsClientId },
      waiting: createWaiting({
        versions: (requestIds) => core.system.readVersions(requestIds),
        stopping: lifecycle.stopping,
      }),
    },
    authenticate: createAuthenticate(options.tokens, now),
    limits: createLimits(options.limits, now, shared),
    refusals: (error, request) => refusals.judge(error, networkOf(addressOf(request))),
    idempotency: options.idempotency,
    now,
  }
}

/** Builds the API document on its first call: it is long, and most processes never need it. */
function describer({ baseUrl, tokens: { authority, collab, mail } }: HttpOptions) {
  let document: ReturnType<Services['openApi']> | undefined
  return () => {
    if (document === undefined) {
      const access = { baseUrl, authority, scopes: { collab: collab.scope, mail: mail.scope } }
      const text = JSON.stringify(openApiOf(routes, access))
      document = { text: Buffer.from(text), etag: entityTag(text) }
    }
    return document
  }
}

/** Runs before restify selects a route. False: the call is already answered. */
function guard(options: HttpOptions, lifecycle: Lifecycle) {
  return (request: Request, response: Response): boolean => {
    // restify builds a URL from this header: "Host: [" would end the process, "Host: x/healthz?" would change the path.
    request.headers.host = 'localhost'
    const refusal = hostError(request, options.loopbackOnly ?? false) ?? lifecycle.refusal({ request })
    if (refusal) {
      refuse(options, request, response, refusal)
      return false
    }
    const url = request.url ?? ''
    if (url === '*' || url.startsWith('/') || URL.canParse(url)) return true
    refuse(options, request, response, new HttpError('malformed-request', 'The request target is not an address.'))
    return false
  }
}

function refuse(options: HttpOptions, request: Request, response: Response, error: unknown): void {
  const exchange = exchangeOf(options, request, response)
  const { status, defect } = sendError(exchange, error)
  logAnswer(exchange, { status, milliseconds: 0, ...(defect && { error: { thrown: error } }) }, options.telemetry)
}

function mount(server: restify.Server, context: ServerContext, options: HttpOptions, lifecycle: Lifecycle): void {
  for (const route of routes) {
    const handler = handlerOf(context, route, options, lifecycle)
    if (route.method === 'POST') server.post(route.path, handler)
    else if (route.method === 'PUT') server.put(route.path, handler)
    else {
      server.get(route.path, handler)
      server.head(route.path, handler)
    }
  }
  server.on('restifyError', (request: Request, response: Response, error: { statusCode?: number }) => {
    // restify's callback is not called: it would send a second answer.
    refuse(options, request, response, routingError(error, request))
  })
}

/** Errors of restify itself: an unknown address or method (restify has set the Allow header). */
function routingError(error: { statusCode?: number }, request: IncomingMessage): unknown {
  if (error.statusCode === 404) return new HttpError('no-such-address', 'The API has no such address.')
  if (error.statusCode === 405)
    return new HttpError('method-not-allowed', `This address does not support ${request.method}.`)
  return error
}

function handlerOf(context: ServerContext, route: Route, options: HttpOptions, lifecycle: Lifecycle) {
  return async (request: Request, response: Response): Promise<void> => {
    const exchange = exchangeOf(options, request, response)
    lifecycle.follow(exchange)
    // Node sets the server's own timeout again for the next call of the connection.
    if (route.longestSeconds) request.socket.setTimeout(route.longestSeconds * 1000)
    const start = performance.now()
    const { traceId: trace, sampled } = exchange
    await from({ from: 'rest', trace, sampled }, async () => {
      let failure: { readonly thrown: unknown } | undefined
      try {
        await serveRoute(context, route, exchange)
      } catch (error) {
        if (sendError(exchange, await context.refusals(error, request)).defect) failure = { thrown: error }
      }
      const { statusCode: status } = response
      const milliseconds = performance.now() - start
      logAnswer(exchange, { route, status, milliseconds, ...(failure && { error: failure }) }, options.telemetry)
    })
  }
}

type Phase = 'starting' | 'open' | 'draining'

/** How long a request may take while the server drains. After that the server answers 503. Milliseconds. */
const drainMilliseconds = 4000
/** How long open requests and answers may take when the server closes, in milliseconds. */
const longestFarewell = 500

/** Addresses that answer in every phase. */
const always = ['/healthz', '/readyz', '/metrics']

/** Tracks the phase of the server and its open requests, so that each request gets an answer. */
class Lifecycle {
  #phase: Phase
  readonly #open = new Set<Exchange>()
  readonly #stopping = new AbortController()

  constructor(phase: Phase) {
    this.#phase = phase
  }

  /** Aborted when the server accepts no more requests: waiting calls end. */
  get stopping(): AbortSignal {
    return this.#stopping.signal
  }

  /** The error for a request that is not accepted in this phase. */
  refusal(exchange: Pick<Exchange, 'request'>): HttpError | undefined {
    if (this.#phase === 'open' || always.includes(pathOf(exchange.request).replace(/\/$/, ''))) return undefined
    return this.#notNow()
  }

  /** Counts a request as open until it is answered or its caller has disconnected. */
  follow(exchange: Exchange): void {
    this.#open.add(exchange)
    exchange.response.once('close', () => this.#open.delete(exchange))
  }

  open(): void {
    if (this.#phase === 'starting') this.#phase = 'open'
  }

  /** Reports "not ready" in every phase except `open`. */
  healthWith(health: Health): Health {
    return {
      ...health,
      ready: async () =>
        this.#phase === 'open' ? health.ready() : { ok: false, checks: { process: `is ${this.#phase}` } },
    }
  }

  /**
   * Refuses new requests. Resolves when all open requests are answered: by their handlers, or with 503 after four
   * seconds.
   */
  async drain(): Promise<void> {
    this.#phase = 'draining'
    this.#stopping.abort()
    const deadline = performance.now() + drainMilliseconds
    while (this.#open.size > 0 && performance.now() < deadline) await wait(20)
    for (const exchange of this.#open) sendError(exchange, this.#notNow())
  }

  /** Stops listening and closes all connections; those with an open answer a moment later. */
  async close(node: NodeServer, farewellMilliseconds = longestFarewell): Promise<void> {
    await this.drain()
    if (!node.listening) return
    const closed = once(node, 'close')
    // Node's own `close` for HTTP also cuts new connections whose request has not arrived yet.
    NetServer.prototype.close.call(node)
    await Promise.race([closed, wait(farewellMilliseconds)])
    node.close(() => undefined)
    node.closeAllConnections()
    await closed
  }

  #notNow(): HttpError {
    const [code, phase] =
      this.#phase === 'starting' ? (['starting', 'starting'] as const) : (['draining', 'restarting'] as const)
    return new HttpError(code, `The service is ${phase}. Try again in a few seconds.`, {
      headers: { 'Retry-After': '5', Connection: 'close' },
    })
  }
}
