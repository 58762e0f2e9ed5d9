import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { wrappedError } from '../exchange/index.ts'
import {
  asRecord,
  type Call,
  type Operation,
  Refused,
  type Reply,
  readBody,
  type Service,
  send,
  type Tenant,
  Unreadable,
} from '../tenant/index.ts'
import type { Fault, Faults } from './faults.ts'

interface Parts {
  readonly tenant: Tenant
  readonly faults: Faults
  readonly services: readonly Service[]
  readonly host: string
  readonly closing: AbortSignal
}

type Request = Omit<Call, 'caller' | 'params'>

/**
 * Creates the handler of requests: finds the operation, checks the caller, applies a fault, runs the operation and its log
 * entry in one transaction, and answers. The paths are OData's (`/groups(uniqueName='x')`, `/sites/host:/sites/x`), which
 * a radix router cannot match, so services use regular expressions with node:http.
 */
export function createDispatcher(parts: Parts): (request: IncomingMessage, response: ServerResponse) => void {
  return (request, response) => {
    answer(parts, request, response).catch((error: unknown) => {
      if (parts.closing.aborted || response.destroyed) return
      const message = error instanceof Error ? error.message : String(error)
      // This is a defect of the simulator. The answer says so, so that no test mistakes it for Microsoft's behaviour.
      if (response.headersSent) return void response.destroy()
      // Two statements: restify's writeHead, if it is loaded in this process, returns nothing to chain.
      response.writeHead(500, { 'content-type': 'text/plain' })
      response.end(`The simulator failed: ${message}`)
    })
  }
}

async function answer(parts: Parts, incoming: IncomingMessage, response: ServerResponse): Promise<void> {
  const request = describe(incoming)
  const { dateOffsetSeconds } = parts.tenant.modes
  if (dateOffsetSeconds !== 0) response.setHeader('date', new Date(Date.now() + dateOffsetSeconds * 1000).toUTCString())
  response.setHeader('request-id', request.requestId)
  response.setHeader('client-request-id', request.clientRequestId)
  if (!isOurs(incoming.headers.host, parts.host)) return send(response, { status: 421 })
  const service = request.path === '' ? undefined : parts.services.find(({ owns }) => owns(request.path))
  const isOpen = service?.operations.some(({ path, crossOrigin }) => crossOrigin && path.test(request.path)) ?? false
  if (isOpen) response.setHeader('access-control-allow-origin', '*')
  else if (isOfAnotherSite(incoming.headers)) return send(response, { status: 403 })
  if (isOpen && request.method === 'OPTIONS') return send(response, preflight(request))
  if (!service)
    return send(response, { status: 404, body: { error: { message: `No service has the address ${incoming.url}.` } } })
  const route = findOperation(service, request)
  if (!route) return send(response, unknownRoute(service, request))
  let found = route
  try {
    const body = await readBody(incoming)
    found = findOperation(service, { ...request, body }) ?? route
    const caller = await service.admit({ ...request, body })
    const call: Call = { ...request, body, caller, params: found.params }
    if (service.observed) await runWithFaults(parts, service, found.operation, call, response)
    else
      await send(
        response,
        parts.tenant.transaction(() => found.operation.handle(call)),
      )
  } catch (error) {
    const reply = replyTo(error, service, request)
    if (!reply) throw error
    if (service.observed) {
      logCall(parts.tenant, found.operation.name, request, { status: reply.status, at: new Date().toISOString() })
    }
    await send(response, reply)
  }
}

/** Returns whether the Host header is ours. Another name means a web page that uses DNS rebinding. */
function isOurs(header: string | undefined, host: string): boolean {
  const name = (header ?? '').replace(/:\d+$/, '')
  return host === '0.0.0.0' || [host, 'localhost', '127.0.0.1', '[::1]'].includes(name)
}

/**
 * Returns whether a page of another origin sent the request. Such a page could otherwise sign a device in or request
 * tokens.
 */
const isOfAnotherSite = ({ origin, host }: IncomingMessage['headers']): boolean =>
  origin !== undefined && origin !== `http://${host}`

/** Answers a browser's question about requests that web pages of another origin may send (CORS preflight). */
const preflight = ({ headers }: Request): Reply => ({
  status: 200,
  headers: {
    'access-control-allow-methods': 'GET, POST, OPTIONS',
    'access-control-allow-headers': headers['access-control-request-headers'] ?? '',
    'access-control-max-age': '600',
  },
})

function describe(incoming: IncomingMessage): Request {
  const url = new URL(incoming.url ?? '/', 'http://simulator')
  const header = incoming.headers['client-request-id'] ?? url.searchParams.get('client-request-id')
  const requestId = randomUUID()
  return {
    method: incoming.method ?? 'GET',
    path: decoded(url.pathname),
    query: url.searchParams,
    headers: incoming.headers,
    body: undefined,
    clientRequestId: typeof header === 'string' && /^[\w-]{1,64}$/.test(header) ? header : requestId,
    requestId,
  }
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path)
  } catch {
    return ''
  }
}

function findOperation(service: Service, request: Request): { operation: Operation; params: string[] } | undefined {
  for (const operation of service.operations) {
    const match = operation.method === request.method ? operation.path.exec(request.path) : null
    if (match && (operation.accepts?.(request) ?? true)) return { operation, params: match.slice(1) }
  }
  return undefined
}

function unknownRoute(service: Service, request: Request): Reply {
  const otherMethods = service.operations.filter(({ path }) => path.test(request.path)).map(({ method }) => method)
  if (otherMethods.length > 0) {
    const reply = service.refusal(405, `The method ${request.method} is not allowed here.`, request)
    return { ...reply, headers: { ...reply.headers, allow: [...new Set(otherMethods)].join(', ') } }
  }
  const segment = request.path.split('/').at(-1)
  return service.refusal(
    service.name === 'graph' ? 400 : 404,
    `Resource not found for the segment '${segment}'.`,
    request,
  )
}

function replyTo(error: unknown, service: Service, request: Request): Reply | undefined {
  if (error instanceof Refused) return error.reply
  if (error instanceof Unreadable) return service.refusal(error.status, error.message, request)
  return undefined
}

async function runWithFaults(
  parts: Parts,
  service: Service,
  operation: Operation,
  call: Call,
  response: ServerResponse,
): Promise<void> {
  const at = new Date().toISOString()
  const { delaySeconds, fault } = await parts.faults.strike(operation.name, call)
  if (delaySeconds > 0) await delay(delaySeconds * 1000, undefined, { signal: parts.closing })
  if (fault && !runs(fault)) {
    const reply = refusalOf(fault, service, call)
    logCall(parts.tenant, operation.name, call, { status: reply.status, at, fault: fault.kind })
    return send(response, reply)
  }
  const reply = parts.tenant.transaction(() => {
    const result = operation.handle(call)
    const kind = fault?.kind ?? (delaySeconds > 0 ? 'delay' : undefined)
    logCall(parts.tenant, operation.name, call, { status: result.status, at, fault: kind })
    return result
  })
  if (fault?.kind === 'holdAfterCommit') return
  if (fault?.kind === 'resetAfterCommit') response.destroy()
  else await send(response, fault ? refusalOf(fault, service, call) : reply)
}

/** Returns whether the call is executed in spite of the fault. */
const runs = ({ kind, ran }: Fault): boolean =>
  kind === 'resetAfterCommit' || kind === 'holdAfterCommit' || (kind === 'wrapped' && ran === true)

function refusalOf(fault: Fault, service: Service, call: Call): Reply {
  if (fault.kind === 'forbiddenNul') return { status: 403, body: '\u0000' }
  if (fault.kind === 'wrapped') return wrappedError(call.body, fault.inner ?? '')
  const throttled = fault.kind === 'status429'
  const forbidden = fault.status === 403
  const other = forbidden ? 'The caller may not do this.' : 'The service is temporarily unavailable.'
  const message = throttled ? 'Too many requests.' : other
  const reply = service.refusal(throttled ? 429 : (fault.status ?? 503), message, call)
  const wait = fault.retryAfter ?? (throttled ? 1 : undefined)
  return wait === undefined ? reply : { ...reply, headers: { ...reply.headers, 'retry-after': String(wait) } }
}

const maxCalls = 20_000
const secrets = new Set([
  'client_secret',
  'client_assertion',
  'assertion',
  'refresh_token',
  'device_code',
  'password',
  'code',
  'code_verifier',
])

/** Logs a call without its secrets. The log keeps the newest 20,000 calls. */
function logCall(
  tenant: Tenant,
  operation: string,
  call: Pick<Call, 'method' | 'path' | 'query' | 'headers' | 'body' | 'clientRequestId'>,
  outcome: { status: number; at: string; fault?: string | undefined },
): void {
  const query = call.query.toString()
  const { traceparent } = call.headers
  tenant.run(
    `insert into calls (operation, method, path, status, at, client_request_id, fault, body, traceparent)
     values (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    operation,
    call.method,
    query === '' ? call.path : `${call.path}?${decodeURIComponent(query.replaceAll('+', ' '))}`,
    outcome.status,
    outcome.at,
    call.clientRequestId,
    outcome.fault ?? null,
    call.body === undefined ? null : JSON.stringify(withoutSecrets(call.body)),
    typeof traceparent === 'string' ? traceparent : null,
  )
  tenant.run('delete from calls where id <= (select max(id) from calls) - ?', maxCalls)
}

function withoutSecrets(body: unknown): unknown {
  if (Buffer.isBuffer(body)) return `(a file of ${body.length} bytes)`
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return body
  return Object.fromEntries(
    Object.entries(asRecord(body)).map(([name, value]) => [name, secrets.has(name) ? '(not logged)' : value]),
  )
}

/** Returns the calls in the log, oldest first, of one operation or of all. `fault` is the kind of the call's fault. */
export function listCalls(tenant: Tenant, operation: string | null): Record<string, unknown>[] {
  return tenant
    .rows('select * from calls where ? is null or operation = ? order by id', operation, operation)
    .map((row) => ({
      id: row['id'],
      operation: row['operation'],
      method: row['method'],
      path: row['path'],
      status: row['status'],
      at: row['at'],
      clientRequestId: row['client_request_id'],
      ...(row['traceparent'] === null ? {} : { traceparent: row['traceparent'] }),
      ...(row['fault'] === null ? {} : { fault: row['fault'] }),
      ...(row['body'] === null ? {} : { body: JSON.parse(String(row['body'])) }),
    }))
}

/** Empties the log. */
export const clearCalls = (tenant: Tenant): void => tenant.run('delete from calls')
