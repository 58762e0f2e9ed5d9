import { once } from 'node:events'
import type { IncomingMessage, Server as NodeServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import restify, { type Request, type Response } from 'restify'
import { from } from '../../core/index.ts'
import { routes } from '../routes/index.ts'
import { entityTag } from './answers.ts'
import { createAuthenticate } from './authenticate.ts'
import { answerBrokenRequests, misdirected } from './broken-requests.ts'
import { createClientAddress, networkOf } from './client-address.ts'
import type { Route } from './define-route.ts'
import { Lifecycle } from './lifecycle.ts'
import { createLimits, createRefusals } from './limits.ts'
import { openApiOf } from './openapi.ts'
import { HttpError } from './problem.ts'
import { sendError } from './respond.ts'
import { exchangeOf, tellAnswer } from './response-metrics.ts'
import { type Door, serveRoute } from './serve-route.ts'
import type { HttpOptions, HttpServer, Services } from './services.ts'
import { createWaiting } from './waiting.ts'

/**
 * Milliseconds. Who sends slower than this is cut off within half a minute: Node looks at its connections at intervals. A
 * connection on which nothing moves at all, since nobody reads the answer, ends after `timeout`: longer than any answer takes.
 */
const patience = {
  ...{ headersTimeout: 15_000, requestTimeout: 26_000, connectionsCheckingInterval: 2_000 },
  timeout: 90_000,
} as const
/** restify logs nothing of its own: each request has one line, written here. */
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
  // Node would refuse a missing Host itself, in words of its own.
  Object.assign(node, patience, options.patience, { requireHostHeader: false })
  answerBrokenRequests(node, options)
  // restify takes over "Connection: Upgrade" and then answers nothing; HTTP/2-minded clients send it with ordinary calls.
  node.removeAllListeners('upgrade')
  const lifecycle = new Lifecycle(options.starting ? 'starting' : 'open')
  const admit = guard(options, lifecycle)
  server.pre((request, response, next) => next(admit(request, response) ? undefined : false))

  node.listen(options.port, options.host)
  await once(node, 'listening')
  const { port } = node.address() as AddressInfo
  const door = doorOf(options, lifecycle)
  mount(server, door, options, lifecycle)
  const host = options.host.includes(':') ? `[${options.host}]` : options.host
  return {
    url: `http://${host}:${port}`,
    port,
    open: () => lifecycle.open(),
    drain: () => lifecycle.drain(),
    close: () => lifecycle.close(node, options.farewellMilliseconds),
  }
}

function doorOf(options: HttpOptions, lifecycle: Lifecycle): Door {
  const { clock, provisioning, texts, webhookSecret, messages, health, tokenBuckets: buckets, log } = options
  const now = clock ? () => clock.now().getTime() : Date.now
  const refusals = createRefusals(options.limits.refusalsPerMinute ?? 0, now)
  const addressOf = createClientAddress(options.trustedProxies ?? [])
  const shared = buckets && { buckets, warn: log.warn.bind(log) }
  return {
    services: {
      provisioning,
      texts,
      webhookSecret,
      messages,
      ...(options.admitsActivity && { admitsActivity: options.admitsActivity }),
      health: lifecycle.healthWith(health),
      ...(options.metrics && { metrics: options.metrics }),
      openApi: describer(options),
      waiting: createWaiting({
        versions: (requestIds) => provisioning.system.readVersions(requestIds),
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

/** The API document is made when it is first asked for: it is long, and most processes are never asked. */
function describer({ baseUrl, tokens: { authority, collab, mail } }: HttpOptions) {
  let made: ReturnType<Services['openApi']> | undefined
  return () => {
    if (made === undefined) {
      const access = { baseUrl, authority, scopes: { collab: collab.scope, mail: mail.scope } }
      const text = JSON.stringify(openApiOf(routes, access))
      made = { text: Buffer.from(text), etag: entityTag(text) }
    }
    return made
  }
}

/** Runs before restify looks for a route; false = answered here. */
function guard(options: HttpOptions, lifecycle: Lifecycle) {
  return (request: Request, response: Response): boolean => {
    // restify builds a URL of this header: "Host: [" would end the process, "Host: x/healthz?" would change the path.
    request.headers.host = 'localhost'
    const refusal = misdirected(request, options.loopbackOnly ?? false) ?? lifecycle.refusal({ request })
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
  tellAnswer(exchange, { status, milliseconds: 0, ...(defect && { error: { thrown: error } }) }, options.telemetry)
}

function mount(server: restify.Server, door: Door, options: HttpOptions, lifecycle: Lifecycle): void {
  for (const route of routes) {
    const handler = handlerOf(door, route, options, lifecycle)
    if (route.method === 'POST') server.post(route.path, handler)
    else if (route.method === 'PUT') server.put(route.path, handler)
    else {
      server.get(route.path, handler)
      server.head(route.path, handler)
    }
  }
  server.on('restifyError', (request: Request, response: Response, error: { statusCode?: number }) => {
    // restify's callback is not called: it would send its own answer after ours.
    refuse(options, request, response, routingError(error, request))
  })
}

/** What restify itself refuses: an address or method that no route has (the Allow header is set by then). */
function routingError(error: { statusCode?: number }, request: IncomingMessage): unknown {
  if (error.statusCode === 404) return new HttpError('no-such-address', 'There is nothing at this address.')
  if (error.statusCode === 405)
    return new HttpError('method-not-allowed', `${request.method} is not a method of this address.`)
  return error
}

function handlerOf(door: Door, route: Route, options: HttpOptions, lifecycle: Lifecycle) {
  return async (request: Request, response: Response): Promise<void> => {
    const exchange = exchangeOf(options, request, response)
    lifecycle.follow(exchange)
    const began = performance.now()
    const { traceId: trace, sampled } = exchange
    await from({ from: 'rest', trace, sampled }, async () => {
      let failure: { readonly thrown: unknown } | undefined
      try {
        await serveRoute(door, route, exchange)
      } catch (error) {
        if (sendError(exchange, await door.refusals(error, request)).defect) failure = { thrown: error }
      }
      const { statusCode: status } = response
      const milliseconds = performance.now() - began
      tellAnswer(exchange, { route, status, milliseconds, ...(failure && { error: failure }) }, options.telemetry)
    })
  }
}
