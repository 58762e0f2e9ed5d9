import type { IncomingMessage } from 'node:http'
import {
  type Actor,
  authorize,
  type IdempotencyStore,
  isBusy,
  ProvisioningError,
  TenantError,
  within,
} from '../../core/index.ts'
import { answered } from './answers.ts'
import type { Authenticate, Identity } from './authenticate.ts'
import { largestBody, parseJson, readBody } from './bodies.ts'
import {
  type ActorRoute,
  type ActorScope,
  isDecidedHere,
  type PublicRoute,
  type RawInput,
  type Route,
  type Scope,
} from './define-route.ts'
import { claimKey, idempotencyKeyOf } from './idempotency.ts'
import type { Limits } from './limits.ts'
import { HttpError, problemOf } from './problem.ts'
import { acceptsJson, type Exchange, type Outgoing, outgoing, pathOf, send, sent } from './respond.ts'
import type { Services } from './services.ts'

/** All that serving a route takes. */
export interface Door {
  readonly services: Services
  readonly authenticate: Authenticate
  readonly limits: Limits
  /** What a refused call is answered, by how many its address has had. */
  readonly refusals: (error: unknown, request: IncomingMessage) => Promise<unknown>
  readonly idempotency: IdempotencyStore
  readonly now: () => number
}

/** How deep a body of our API may nest; the deepest documented one has three levels. */
const apiDepth = 10

/** Serves one call of a route: who, how much, what, and only then the work. Throws what becomes a problem. */
export async function serveRoute(door: Door, route: Route, exchange: Exchange): Promise<void> {
  if (!route.anyAccept && !acceptsJson(exchange.request.headers.accept))
    throw new HttpError('not-acceptable', 'This API answers application/json.')
  if (route.permission === 'public') {
    return servePublic(door, route, exchange)
  }
  const caller = await door.authenticate(exchange.request, route.audience)
  exchange.told.personId = caller.id
  const abandoned = isReading(route) ? abandonedBy(exchange) : undefined
  return within({ caller: caller.id, abandoned }, () => serveCaller(door, route, exchange, caller))
}

const isReading = ({ method, onlyReads }: ActorRoute): boolean => method === 'GET' || onlyReads === true

/** Aborts when the caller hangs up before the answer: for reads only, since a write that was begun is completed. */
function abandonedBy({ response }: Exchange): AbortSignal {
  const abandoned = new AbortController()
  response.once('close', () => {
    if (!response.writableFinished)
      abandoned.abort(new TenantError('abandoned', 'The caller has hung up.', { retryable: true }))
  })
  return abandoned.signal
}

async function servePublic(door: Door, route: PublicRoute, exchange: Exchange): Promise<void> {
  const scope = scopeOf(door, exchange, exchange.callId)
  exchange.told.byHandler = route.admit !== undefined && !(await route.admit(scope))
  if (exchange.told.byHandler) return
  const call = route.prepare(await rawInput(route, exchange))
  const answer = await call(scope)
  if (answer === answered) exchange.told.byHandler = true
  else send(exchange, sent(answer), answer.mediaType)
}

async function serveCaller(door: Door, route: ActorRoute, exchange: Exchange, caller: Identity): Promise<void> {
  const { request } = exchange
  const kind = isReading(route) ? 'read' : 'write'
  const key = route.idempotent && idempotencyKeyOf(request)
  const count = async () => Object.assign(exchange.extra, await door.limits.take(kind, caller))
  // A replayed answer is not counted, and whether it is one is known only with the body.
  if (key) await door.limits.attempt(caller)
  else await count()
  const raw = await rawInput(route, exchange)
  if (route.audienceOf) await door.authenticate(request, route.audienceOf(raw.body))
  const enter = (requestId: string) => actorScope(door, route, exchange, caller, { raw, requestId })
  const countWork = async () => {
    const reads = route.extraReads?.(raw.body) ?? 0
    if (reads > 0)
      Object.assign(exchange.extra, joined(exchange.extra, await door.limits.take('read', caller, reads), kind))
  }
  if (!key) {
    await countWork()
    const scope = await enter(exchange.callId)
    return send(exchange, outgoing(await route.prepare(raw)(scope)))
  }
  // Both forms of an address are the same call.
  const path = pathOf(request).replace(/\/$/, '')
  const about = { route: `${route.method} ${route.path}`, key, path, body: raw.body }
  const claimed = await claimKey(door.idempotency, caller, about, door.now)
  if ('answer' in claimed) {
    // The answer was for somebody who might have it then: what the caller may do now decides.
    await route.recheck(raw, await enter(exchange.callId))
    const headers = { ...claimed.answer.headers, 'Idempotency-Replayed': 'true' }
    return send(exchange, { ...claimed.answer, headers })
  }
  let answer: Outgoing
  let isBegun = false
  try {
    await count()
    await countWork()
    const scope = await enter(claimed.requestId)
    const call = route.prepare(raw)
    // What an earlier attempt has done is only shown, so the right to see it is checked as for a stored answer.
    if (claimed.isContinued) await route.recheck(raw, scope)
    isBegun = true
    answer = outgoing(await call(scope))
  } catch (error) {
    const { status } = problemOf(error, { ...exchange, instance: '' })
    // A refusal changes nothing. What else goes wrong after the beginning may have come after the commit.
    const isUnknown = isBegun && status >= 500 && !isRefusedAsBusy(route, error)
    await quietly(exchange, () => claimed.release(isUnknown ? 'unknown' : 'refused'))
    throw error
  }
  // Nothing was done, so there is nothing that a repeat must not do again.
  const isCheck = route.changesNothing?.(raw.body) === true
  await quietly(exchange, () => (isCheck ? claimed.release('refused') : claimed.complete(answer)))
  send(exchange, answer)
}

/** A new request is checked before anything is stored, so a check that found no place at Microsoft 365 has done nothing. */
const isRefusedAsBusy = ({ permission }: ActorRoute, error: unknown): boolean =>
  permission === 'request.create' && (isBusy(error) || (error instanceof ProvisioningError && isBusy(error.cause)))

/** The RateLimit headers of a call that was counted twice: as a write and as reads, or as reads alone. */
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

/** What is done is done: if the key cannot be written, a repeat finds the same requestId when the lease has ended. */
async function quietly(exchange: Exchange, write: () => Promise<void>): Promise<void> {
  try {
    await write()
  } catch (error) {
    exchange.log.error({ err: error }, 'an Idempotency-Key could not be written')
  }
}

/** The caller as the directory knows them now. Throws 403 unless they are let in and have the route's permission. */
async function actorScope(
  door: Door,
  route: ActorRoute,
  exchange: Exchange,
  caller: Identity,
  { raw, requestId }: { readonly raw: RawInput; readonly requestId: string },
): Promise<ActorScope> {
  const { provisioning } = door.services
  const actor = await admitted(door, route, exchange, caller, raw)
  if (isDecidedHere(route.permission)) authorize(actor, route.permission)
  return { ...scopeOf(door, exchange, requestId), actor, provisioning }
}

/** Who calls; that somebody tried to decide who is let into nothing is written down with the request. */
async function admitted(
  { services: { provisioning } }: Door,
  { decides, permission }: ActorRoute,
  { log }: Exchange,
  caller: Identity,
  { params }: RawInput,
): Promise<Actor> {
  try {
    return await (permission === 'health.read' ? provisioning.actorForHealth(caller) : provisioning.actor(caller))
  } catch (error) {
    if (decides && error instanceof ProvisioningError && error.code === 'forbidden')
      await provisioning.system
        .noteForbidden(caller, Object(params).requestId, decides)
        .catch((err: unknown) => log.warn({ err }, 'that somebody was refused was not noted'))
    throw error
  }
}

function scopeOf(door: Door, { request, response }: Exchange, requestId: string): Scope {
  return { services: door.services, request, response, headers: request.headers, requestId }
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

/** A parameter that comes twice is a list, which no schema takes for one value. */
function queryOf(url: string): Record<string, string | string[]> {
  const search = new URLSearchParams(url.split('?').slice(1).join('?'))
  return Object.fromEntries(
    [...new Set(search.keys())].map((name) => {
      const values = search.getAll(name)
      return [name, values.length === 1 ? (values[0] ?? '') : values]
    }),
  )
}
