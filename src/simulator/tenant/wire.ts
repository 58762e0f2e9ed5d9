import type { IncomingMessage, ServerResponse } from 'node:http'

/**
 * Answer of an operation. `body` may be a promise (a token to sign); the state is committed before the promise is
 * awaited.
 */
export interface Reply {
  readonly status: number
  readonly body?: unknown
  readonly html?: string
  readonly headers?: Readonly<Record<string, string>>
}

/** The caller in the access token: a person (`userId`) or an app (`appOnly`). */
export interface Caller {
  readonly userId: string | undefined
  readonly appOnly: boolean
  readonly clientId: string
  /** The app's credential, as in Entra's claim `azpacr`: '1' secret, '2' certificate. */
  readonly proof: string
  /** The app's roles in the token (`roles` and, by name, `wids`), or the scopes that the person's app may use. */
  readonly permissions: readonly string[]
}

/** A parsed request. `params` contains the groups of the operation's path. The path is percent-decoded. */
export interface Call {
  readonly method: string
  readonly path: string
  readonly query: URLSearchParams
  readonly headers: IncomingMessage['headers']
  readonly body: unknown
  readonly params: readonly string[]
  readonly caller: Caller
  readonly clientRequestId: string
  readonly requestId: string
}

/** A refusal by a service. When it is thrown, the operation's changes are rolled back. */
export class Refused extends Error {
  readonly reply: Reply
  constructor(reply: Reply, message = `refused with ${reply.status}`) {
    super(message)
    this.name = 'Refused'
    this.reply = reply
  }
}

/** One operation of a service. Handlers are synchronous, so that each runs in one transaction. */
export interface Operation {
  /** Name for faults and the call log, e.g. `graph.groups.upsert`. */
  readonly name: string
  readonly method: string
  /** Matches the whole decoded path. */
  readonly path: RegExp
  /** Whether web pages of other origins may call the operation (CORS). */
  readonly crossOrigin?: true
  /** Distinguishes operations with the same path by the request. It is checked again after the body is read. */
  accepts?(request: Pick<Call, 'body'>): boolean
  handle(call: Call): Reply
}

/** Creates an operation without further conditions. */
export const operation = (name: string, method: string, path: RegExp, handle: Operation['handle']): Operation => ({
  name,
  method,
  path,
  handle,
})

/** A service of Microsoft 365: its operations, its access control and its error format. */
export interface Service {
  readonly name: string
  owns(path: string): boolean
  readonly operations: readonly Operation[]
  /** Whether the service has a log and faults; false for the simulator's own services. */
  readonly observed: boolean
  /** Returns the caller in the request's token; throws `Refused`. */
  admit(call: Omit<Call, 'caller' | 'params'>): Promise<Caller>
  /** A refusal in the service's error format: unknown path, invalid JSON, or a fault of a test. */
  refusal(status: number, message: string, call: Pick<Call, 'requestId' | 'clientRequestId'>): Reply
}

export const nobody: Caller = { userId: undefined, appOnly: false, clientId: '', proof: '0', permissions: [] }

const largestBody = 4 * 1024 * 1024

/** A body that cannot be read. The service creates the refusal. */
export class Unreadable extends Error {
  readonly status: number
  constructor(status: number, message: string) {
    super(message)
    this.name = 'Unreadable'
    this.status = status
  }
}

/** Reads a JSON, form or zip body (a Buffer); undefined for an empty body. Throws {@link Unreadable}. */
export async function readBody(request: IncomingMessage): Promise<unknown> {
  if (request.headers['content-encoding'] !== undefined) throw new Unreadable(415, 'Encoded bodies are not supported.')
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request) {
    const bytes = Buffer.from(chunk)
    size += bytes.length
    if (size > largestBody) throw new Unreadable(413, 'The request body is too large.')
    chunks.push(bytes)
  }
  if (size === 0) return undefined
  const type = request.headers['content-type'] ?? ''
  if (type.startsWith('application/zip')) return Buffer.concat(chunks)
  const text = Buffer.concat(chunks).toString('utf8')
  if (type.startsWith('application/x-www-form-urlencoded')) return Object.fromEntries(new URLSearchParams(text))
  if (!type.startsWith('application/json')) throw new Unreadable(415, `The media type '${type}' is not supported.`)
  try {
    return JSON.parse(text)
  } catch {
    throw new Unreadable(400, 'Unable to read JSON request payload.')
  }
}

/** Writes the reply, with length and type for a JSON body. */
export async function send(response: ServerResponse, reply: Reply): Promise<void> {
  const body = await reply.body
  const text = reply.html ?? (typeof body === 'string' ? body : body === undefined ? '' : JSON.stringify(body))
  const type = reply.html === undefined ? 'application/json; charset=utf-8' : 'text/html; charset=utf-8'
  response.writeHead(reply.status, {
    ...(text === '' ? {} : { 'content-type': type }),
    'content-length': Buffer.byteLength(text),
    'cache-control': 'no-store',
    ...reply.headers,
  })
  response.end(text)
}

/** Returns `value` if it is an object, or else an empty object. */
export function asRecord(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {}
}

/** Returns the text under `key`, or `''`. */
export function text(record: Record<string, unknown>, key: string): string {
  const value = record[key]
  return typeof value === 'string' ? value : ''
}

/** Returns whether two values are equal. Compares texts without case, as the directory and Exchange do. */
export const same = (left: unknown, right: unknown): boolean =>
  typeof left === 'string' && typeof right === 'string' ? left.toLowerCase() === right.toLowerCase() : left === right

/** Returns the properties of `doc` in `$select`, or the default properties. */
export function select(
  doc: Readonly<Record<string, unknown>>,
  query: URLSearchParams,
  defaults = Object.keys(doc),
): Record<string, unknown> {
  const selected = query.get('$select')
  const names = selected === null || selected === '' ? defaults : selected.split(',')
  const known = names.map((name) => name.trim()).filter((name) => name in doc)
  return Object.fromEntries(known.map((name) => [name, doc[name]]))
}
