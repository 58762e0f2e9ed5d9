import { createHash, randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import {
  type Actor,
  authorize,
  because,
  type CallerIdentity,
  type Core,
  type IdempotencyStore,
  isBusy,
  notFound,
  ProvisioningError,
  type StoredAnswer,
  TenantError,
  within,
} from '../../core/index.ts'
import { type Answer, answered } from './answers.ts'
import type { Authenticate } from './authenticate.ts'
import { largestBody, parseJson, readBody } from './bodies.ts'
import {
  type ActorRoute,
  type ActorScope,
  isDecidedHere,
  type PublicRoute,
  type RawInput,
  type Route,
  type Scope,
  type Services,
} from './define-route.ts'
import type { Limits } from './limits.ts'
import { HttpError, problemOf } from './problem.ts'
import { acceptsJson, type Exchange, outgoing, pathOf, queryOf, send, sent } from './respond.ts'

export interface ServerContext {
  readonly services: Services
  readonly authenticate: Authenticate
  readonly limits: Limits
  /** The error for a refused call, depending on the refusals of its address. */
  readonly refusals: (error: unknown, request: IncomingMessage) => Promise<unknown>
  readonly idempotency: IdempotencyStore
  readonly now: () => number
}

/** How deep a body of our API may nest; the deepest documented body has three levels. */
const apiDepth = 10

/** Serves one call of a route: checks caller, limits and input, then runs the handler. Its errors become problems. */
export async function serveRoute(context: ServerContext, route: Route, exchange: Exchange): Promise<void> {
  if (!route.anyAccept && !acceptsJson(exchange.request.headers.accept))
    throw new HttpError('not-acceptable', 'This API answers only with application/json. Change the Accept header.')
  if (route.permission === 'public') {
    return servePublic(context, route, exchange)
  }
  const caller = await context.authenticate(exchange.request, route.audience)
  exchange.facts.personId = caller.id
  const abandoned = isReading(route) ? abandonedBy(exchange) : undefined
  return within({ caller: caller.id, abandoned }, () => serveCaller(context, route, exchange, caller))
}

const isReading = ({ method, onlyReads }: ActorRoute): boolean => method === 'GET' || onlyReads === true

/** Aborts when the caller disconnects before the answer. Only for reads and checks: a write always completes. */
function abandonedBy({ response }: Exchange): AbortSignal {
  const abandoned = new AbortController()
  const end = () => {
    const left = new TenantError('abandoned', because('callerDisconnected'), { retryable: true })
    if (!response.writableFinished) abandoned.abort(left)
  }
  if (response.destroyed) end()
  else response.once('close', end)
  return abandoned.signal
}

async function servePublic(context: ServerContext, route: PublicRoute, exchange: Exchange): Promise<void> {
  const scope = scopeOf(context, exchange, exchange.callId)
  exchange.facts.isLogged = route.admit !== undefined && !(await route.admit(scope))
  if (exchange.facts.isLogged) return
  const call = route.prepare(await rawInput(route, exchange))
  const answer = await call(scope)
  if (answer === answered) exchange.facts.isLogged = true
  else send(exchange, sent(answer), answer.mediaType)
}

async function serveCaller(
  context: ServerContext,
  route: ActorRoute,
  exchange: Exchange,
  caller: CallerIdentity,
): Promise<void> {
  const { request } = exchange
  const kind = isReading(route) ? 'read' : 'write'
  const key = route.idempotent && idempotencyKeyOf(request)
  const count = async () => Object.assign(exchange.extraHeaders, await context.limits.take(kind, caller))
  // A repeated answer is not counted, and only the body shows whether it is one.
  if (key) await context.limits.attempt(caller)
  else await count()
  const raw = await rawInput(route, exchange)
  if (route.audienceOf) await context.authenticate(request, route.audienceOf(raw.body))
  const enter = (requestId: string) => actorScope(context, route, exchange, caller, { raw, requestId })
  const countWork = async () => {
    const reads = route.extraReads?.(raw.body) ?? 0
    if (reads === 0) return
    const limits = await context.limits.take('read', caller, reads)
    Object.assign(exchange.extraHeaders, joined(exchange.extraHeaders, limits, kind))
  }
  // A check changes nothing, so it ends when its caller disconnects.
  const isCheck = route.changesNothing?.(raw.body) === true
  const run = (work: () => Promise<Answer>) => (isCheck ? within({ abandoned: abandonedBy(exchange) }, work) : work())
  if (!key) {
    await countWork()
    const scope = await enter(exchange.callId)
    const call = route.prepare(await withRequestId(raw, scope))
    return send(exchange, outgoing(await run(() => call(scope))))
  }
  // Both forms of an address are the same call.
  const path = pathOf(request).replace(/\/$/, '')
  const about = { route: `${route.method} ${route.path}`, key, path, body: raw.body }
  const claimed = await claimKey(context.idempotency, caller, about, context.now)
  if ('answer' in claimed) {
    // The caller's rights may have changed since the answer was stored.
    const scope = await enter(exchange.callId)
    await route.recheck(await withRequestId(raw, scope), scope)
    const headers = { ...claimed.answer.headers, 'Idempotency-Replayed': 'true' }
    return send(exchange, { ...claimed.answer, headers })
  }
  let answer: StoredAnswer
  let hasStarted = false
  try {
    await count()
    await countWork()
    const scope = await enter(claimed.requestId)
    const named = await withRequestId(raw, scope)
    const call = route.prepare(named)
    // An earlier attempt may have done the work, so the right to see it is checked as for a stored answer.
    if (claimed.isContinued) await route.recheck(named, scope)
    hasStarted = true
    answer = outgoing(await run(() => call(scope)))
  } catch (error) {
    const { status } = problemOf(error, { ...exchange, instance: '' })
    // A refusal changes nothing. Another error during the work may have come after the commit.
    const isUnknown = hasStarted && status >= 500 && !isCheck && !isRefusedAsBusy(route, error)
    await quietly(exchange, () => claimed.release(isUnknown ? 'unknown' : 'refused'))
    throw error
  }
  // A repeated check may run again.
  await quietly(exchange, () => (isCheck ? claimed.release('refused') : claimed.complete(answer)))
  send(exchange, answer)
}

const numberPattern = /^REQ-\d{1,9}$/i

/**
 * Replaces a request's number in the path (`REQ-1042`) by its id, so that numbers work wherever ids do. The use case checks the
 * rights. Throws `not-found` for a number that no request has.
 */
async function withRequestId(raw: RawInput, { core }: ActorScope): Promise<RawInput> {
  const requestId = await requestIdIn(raw, core)
  if (requestId === undefined) throw notFound()
  return requestId === null || requestId === Object(raw.params).requestId
    ? raw
    : { ...raw, params: { ...Object(raw.params), requestId } }
}

/** Returns the `requestId` of the path. A reference becomes the id, or undefined if no request has this reference. */
async function requestIdIn({ params }: RawInput, core: Core): Promise<unknown> {
  const { requestId }: { requestId?: unknown } = Object(params)
  const isNumber = typeof requestId === 'string' && numberPattern.test(requestId)
  return isNumber ? await core.system.requestIdOf(requestId) : (requestId ?? null)
}

/**
 * A new request is checked before anything is stored, so a check that Microsoft 365 refused as busy has done nothing.
 */
const isRefusedAsBusy = ({ permission }: ActorRoute, error: unknown): boolean =>
  permission === 'request.create' && (isBusy(error) || (error instanceof ProvisioningError && isBusy(error.cause)))

/** The RateLimit headers of a call that was counted twice (as a write and as reads), or only as reads. */
const joined = (
  known: Readonly<Record<string, string>>,
  more: Readonly<Record<string, string>>,
  kind: 'read' | 'write',
): Record<string, string> =>
  Object.fromEntries(
    Object.entries(more).map(([name, value]) => [
      name,
      kind === 'write' && known[name] !== undefined ? `${known[name]}, ${value}` : value,
    ]),
  )

/** Only logs an error: the work is done, and without the stored answer a repeat gets the same requestId after the lease. */
async function quietly(exchange: Exchange, write: () => Promise<void>): Promise<void> {
  try {
    await write()
  } catch (error) {
    exchange.log.error({ err: error }, 'could not write an Idempotency-Key')
  }
}

/** The caller as the directory knows them now. Throws 403 without access or without the route's permission. */
async function actorScope(
  context: ServerContext,
  route: ActorRoute,
  exchange: Exchange,
  caller: CallerIdentity,
  { raw, requestId }: { readonly raw: RawInput; readonly requestId: string },
): Promise<ActorScope> {
  const { core } = context.services
  const actor = await admitted(context, route, exchange, caller, raw)
  // An early check, before an Idempotency-Key is claimed. The core checks again.
  if (isDecidedHere(route.permission)) authorize(actor, route.permission)
  return { ...scopeOf(context, exchange, requestId), actor, core }
}

/** Reads the caller, and audits a decision that a person without access attempted. */
async function admitted(
  { services: { core } }: ServerContext,
  { decides, permission }: ActorRoute,
  { log }: Exchange,
  caller: CallerIdentity,
  raw: RawInput,
): Promise<Actor> {
  try {
    return await (permission === 'health.read' ? core.actorForHealth(caller) : core.actor(caller))
  } catch (error) {
    if (decides && error instanceof ProvisioningError && error.code === 'forbidden')
      await requestIdIn(raw, core)
        .then((requestId) => core.system.noteForbidden(caller, requestId, decides))
        .catch((err: unknown) => log.warn({ err }, 'could not audit a refused decision'))
    throw error
  }
}

function scopeOf(context: ServerContext, { request, response }: Exchange, requestId: string): Scope {
  return { services: context.services, request, response, headers: request.headers, requestId }
}

async function rawInput(route: Route, { request, response }: Exchange): Promise<RawInput> {
  const query = queryOf(request.url ?? '')
  const params: unknown = request.params
  if (route.body === undefined) return { params, query, body: undefined }
  const bytes = await readBody(request, response, route.largest?.bytes ?? largestBody.api)
  if ('signed' in route.body) return { params, query, body: bytes ?? Buffer.alloc(0) }
  const rules = { depth: route.largest?.depth ?? apiDepth, storableText: route.permission !== 'public' }
  return { params, query, body: bytes === undefined ? undefined : parseJson(bytes, rules) }
}

/** A claimed key, or the answer that was stored under it. */
type Claimed =
  | {
      readonly requestId: string
      /** Whether an earlier attempt under this key may have done the work, so that this one continues it. */
      readonly isContinued: boolean
      complete(answer: StoredAnswer): Promise<void>
      /** `refused`: this attempt did nothing. */
      release(outcome: 'refused' | 'unknown'): Promise<void>
    }
  | { readonly answer: StoredAnswer }

const keptDays = 7
/**
 * The longest wait of a repeat after a crash. Seconds. A slow process may lose its claim: the repeat continues the same
 * request, so nothing is done twice.
 */
const leaseSeconds = 10
/** How often a running attempt renews its lease. Seconds. */
const renewSeconds = 3
/** Longer than any stored answer takes: an attempt that hangs releases its key. Seconds. */
const heldSeconds = 60

/** The request's Idempotency-Key, if any. Throws 400 `idempotency-key-malformed`. */
function idempotencyKeyOf(request: IncomingMessage): string | undefined {
  const values = request.headersDistinct['idempotency-key']
  if (values === undefined) return undefined
  const [key = ''] = values
  if (values.length === 1 && /^[\x20-\x7e]{1,255}$/.test(key)) return key
  throw new HttpError('idempotency-key-malformed', 'Send one Idempotency-Key of 1 to 255 printable ASCII characters.')
}

/**
 * Claims a key for one attempt. Throws 422 `idempotency-key-reused` for another body, and 409
 * `idempotency-key-in-flight` while the first attempt is running (draft-ietf-httpapi-idempotency-key-header).
 */
async function claimKey(
  store: IdempotencyStore,
  caller: CallerIdentity,
  about: { route: string; key: string; path: string; body: unknown },
  now: () => number,
): Promise<Claimed> {
  const key = { tenantId: caller.tenantId, personId: caller.id, route: about.route, key: about.key }
  const at = now()
  const leaseUntil = () => new Date(now() + leaseSeconds * 1000)
  const holder = randomUUID()
  const requestId = randomUUID()
  const claim = await store.claim(key, {
    fingerprint: createHash('sha256')
      .update(canonical([about.path, about.body]))
      .digest('hex'),
    requestId,
    holder,
    at: new Date(at),
    leaseUntil: leaseUntil(),
    keepUntil: new Date(at + keptDays * 86_400_000),
  })
  if (claim.state === 'answered') return { answer: claim.answer }
  if (claim.state === 'reused')
    throw new HttpError('idempotency-key-reused', 'This Idempotency-Key was used with another body. Use a new key.')
  if (claim.state === 'in-flight') {
    throw new HttpError('idempotency-key-in-flight', 'The first call with this Idempotency-Key is still in progress.', {
      headers: { 'Retry-After': '1' },
    })
  }
  const stopRenewing = every(renewSeconds, () => {
    if (now() - at > heldSeconds * 1000) stopRenewing()
    // If one renewal fails, the next one succeeds, or the lease ends.
    else store.renew(key, holder, leaseUntil()).catch(() => undefined)
  })
  const isContinued = claim.requestId !== requestId
  return {
    requestId: claim.requestId,
    isContinued,
    complete(answer) {
      stopRenewing()
      return store.complete(key, answer)
    },
    release(outcome) {
      stopRenewing()
      // The key keeps the id of work that an earlier attempt may have done.
      return store.release(key, holder, isContinued ? 'unknown' : outcome)
    },
  }
}

function every(seconds: number, act: () => void): () => void {
  const timer = setInterval(act, seconds * 1000).unref()
  return () => clearInterval(timer)
}

/** JSON with sorted keys: the order of fields does not change a body. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_, member: unknown) => {
    if (typeof member !== 'object' || member === null || Array.isArray(member)) return member
    return Object.fromEntries(Object.entries(member).sort(([one], [other]) => (one < other ? -1 : 1)))
  })
}
