import { hasRole } from '../registrations/index.ts'
import { type Call, Refused, type Reply, same, type Tenant } from '../tenant/index.ts'

/** Settings of Graph's operations. Times are seconds. */
export interface GraphSettings {
  readonly url: string
  readonly directorySeconds: number
  readonly siteReadySeconds: number
}

/** Graph's error: `{error: {code, message, innerError, details?}}` with the ids of the headers. */
export function graphError(
  call: Pick<Call, 'requestId' | 'clientRequestId'>,
  status: number,
  code: string,
  message: string,
  details?: readonly { code: string; target: string; message: string }[],
): Reply {
  const innerError = {
    date: new Date().toISOString().slice(0, 19),
    'request-id': call.requestId,
    'client-request-id': call.clientRequestId,
  }
  const challenge = status === 401 ? { 'www-authenticate': 'Bearer realm="", error="invalid_token"' } : undefined
  return {
    status,
    ...(challenge ? { headers: challenge } : {}),
    body: { error: { code, message, ...(details ? { details } : {}), innerError } },
  }
}

/** Ends the operation with a Graph error and undoes what it wrote. */
export function refuse(
  call: Call,
  status: number,
  code: string,
  message: string,
  details?: readonly { code: string; target: string; message: string }[],
): never {
  throw new Refused(graphError(call, status, code, message, details), message)
}

export const badRequest = (call: Call, message: string): never => refuse(call, 400, 'Request_BadRequest', message)

/** Ends the call with Graph's answer for an unknown object. */
export const notFound = (call: Call, id: string): never =>
  refuse(
    call,
    404,
    'Request_ResourceNotFound',
    `Resource '${id}' does not exist or one of its queried reference-property objects are not present.`,
  )

/** Ends the call with Graph's answer for a caller without sufficient permissions or directory roles. */
export const denied = (call: Call): never =>
  refuse(call, 403, 'Authorization_RequestDenied', 'Insufficient privileges to complete the operation.')

/** Refuses a person without one of these directory roles. For an application, the permissions in the token suffice. */
export function requireRole(tenant: Tenant, call: Call, roles: readonly string[]): void {
  const { userId } = call.caller
  if (userId !== undefined && !hasRole(tenant, userId, roles)) denied(call)
}

/** Ends the call with Graph's answer for a value that must be unique. */
export function conflict(call: Call, property: string): never {
  const message = `Another object with the same value for property ${property} already exists.`
  return refuse(call, 400, 'Request_BadRequest', message, [{ code: 'ObjectConflict', target: property, message }])
}

/**
 * Matches the path of one object, by id or by an alternate key: `/applications/{id}`, `/applications(appId='{id}')`.
 * The first three parameters are the id, the key's name and the key's value.
 */
export const onePath = (collection: string, rest = ''): RegExp =>
  new RegExp(`^/v1\\.0/${collection}(?:/([^/()]+)|/?\\((\\w+)='((?:[^']|'')+)'\\))${rest}$`)

/** Returns the key of the object in the path. */
export function keyOf({ params: [id, key, value] }: Call): { key: string; value: string } {
  return id === undefined ? { key: key ?? '', value: (value ?? '').replaceAll("''", "'") } : { key: 'id', value: id }
}

type Doc = Readonly<Record<string, unknown>>

/** An invalid query, which Graph answers with 400. */
export class BadQuery extends Error {}

type Test = (doc: Doc) => boolean

/** Parses a `$filter`: `eq`, `in`, `startswith` and `any(x:x eq …)`, joined by `and` or by `or`. */
function parseFilter(filter: string): Test {
  const joined = splitOutsideQuotes(filter, ' and ')
  if (joined.length > 1) return all(joined.map(parseFilter))
  const either = splitOutsideQuotes(filter, ' or ')
  if (either.length > 1) return some(either.map(parseFilter))
  return filterClause(filter.trim())
}

const all =
  (tests: readonly Test[]): Test =>
  (doc) =>
    tests.every((test) => test(doc))
const some =
  (tests: readonly Test[]): Test =>
  (doc) =>
    tests.some((test) => test(doc))

function filterClause(source: string): Test {
  const starts = /^startswith\(\s*([\w/]+)\s*,\s*'((?:[^']|'')*)'\s*\)$/i.exec(source)
  if (starts) {
    const prefix = literal(starts[2]).toLowerCase()
    return (doc) => textAt(doc, starts[1]).toLowerCase().startsWith(prefix)
  }
  const any = /^(\w+)\/any\(\s*(\w+)\s*:\s*(\w+)\s+eq\s+'((?:[^']|'')*)'\s*\)$/i.exec(source)
  if (any && any[2] === any[3]) {
    return (doc) => {
      const list = valueAt(doc, any[1])
      return Array.isArray(list) && list.some((item) => same(item, literal(any[4])))
    }
  }
  const equal = /^([\w/]+)\s+eq\s+(?:'((?:[^']|'')*)'|(true|false|null))$/i.exec(source)
  if (equal) {
    const wanted = equal[3] === undefined ? literal(equal[2]) : JSON.parse(equal[3].toLowerCase())
    return (doc) => same(valueAt(doc, equal[1]) ?? null, wanted)
  }
  const within = /^([\w/]+)\s+in\s+\(\s*((?:'(?:[^']|'')*'\s*,?\s*)+)\)$/i.exec(source)
  if (within) {
    const wanted = [...(within[2] ?? '').matchAll(/'((?:[^']|'')*)'/g)].map((match) => literal(match[1]))
    return (doc) => wanted.some((value) => same(valueAt(doc, within[1]), value))
  }
  throw new BadQuery(`Invalid filter clause: '${source}'.`)
}

const literal = (quoted: string | undefined): string => (quoted ?? '').replaceAll("''", "'")

function valueAt(doc: Doc, path: string | undefined): unknown {
  let value: unknown = doc
  for (const step of (path ?? '').split('/')) {
    value = typeof value === 'object' && value !== null ? Reflect.get(value, step) : undefined
  }
  return value
}

const textAt = (doc: Doc, path: string | undefined): string => {
  const value = valueAt(doc, path)
  return typeof value === 'string' ? value : ''
}

function splitOutsideQuotes(source: string, separator: string): string[] {
  const parts: string[] = []
  let start = 0
  let quoted = false
  for (let at = 0; at < source.length; at += 1) {
    if (source[at] === "'") quoted = !quoted
    else if (!quoted && source.slice(at, at + separator.length).toLowerCase() === separator) {
      parts.push(source.slice(start, at))
      start = at + separator.length
    }
  }
  return [...parts, source.slice(start)]
}

/** Returns a test of the call's `$filter`. Without `$filter` the test accepts everything. */
export function filterTest(call: Call): Test {
  const filter = call.query.get('$filter')
  return filter === null ? () => true : parseFilter(filter)
}

/** Replies with one page of a list. `context` is the part of the OData context after `$metadata#`. */
export function listReply(call: Call, url: string, context: string, docs: readonly Doc[]): Reply {
  const list = page(docs, call.query, `${url}${call.path}`)
  return { status: 200, body: { '@odata.context': `${url}/v1.0/$metadata#${context}`, ...list } }
}

/** Returns one page of a list in Graph's envelope; `$top` from 1 to 999, default 100. */
function page(docs: readonly Doc[], query: URLSearchParams, self: string): Record<string, unknown> {
  const top = Number(query.get('$top') ?? '100')
  if (!Number.isInteger(top) || top < 1 || top > 999) throw new BadQuery(`Invalid page size specified: '${top}'.`)
  const start = Number(query.get('$skiptoken') ?? '0')
  if (!Number.isInteger(start) || start < 0) throw new BadQuery('The $skiptoken is not valid.')
  const next = new URLSearchParams(query)
  next.set('$skiptoken', String(start + top))
  return {
    ...(query.get('$count') === 'true' ? { '@odata.count': docs.length } : {}),
    ...(docs.length > start + top ? { '@odata.nextLink': `${self}?${next}` } : {}),
    value: docs.slice(start, start + top),
  }
}

/**
 * Properties that `$search` compares token by token. It compares others by their beginning ("Use the $search query
 * parameter").
 */
const tokenized = new Set(['displayName', 'description'])

/**
 * Returns a test of the call's `$search` on directory objects: `"property:text"` clauses joined by OR or by AND,
 * without brackets. Refuses this advanced query without `ConsistencyLevel: eventual`. `searchable` lists the known
 * properties.
 */
export function searchTest(call: Call, searchable: readonly string[]): (doc: Doc) => boolean {
  const search = call.query.get('$search')
  if (search === null) return () => true
  if (call.headers['consistencylevel']?.toString().toLowerCase() !== 'eventual') {
    badRequest(
      call,
      "Request with $search query parameter only works through MSGraph with a special request header: 'ConsistencyLevel: eventual'",
    )
  }
  const parts = search.split(/\s+(OR|AND)\s+(?=")/)
  const joints = new Set(parts.filter((_, index) => index % 2 === 1))
  if (joints.size > 1) badRequest(call, 'The simulator does not serve AND together with OR in a $search.')
  const tests = parts.filter((_, index) => index % 2 === 0).map((part) => searchClause(call, part.trim(), searchable))
  return joints.has('AND') ? (doc) => tests.every((test) => test(doc)) : (doc) => tests.some((test) => test(doc))
}

function searchClause(call: Call, source: string, searchable: readonly string[]): (doc: Doc) => boolean {
  const [, property = '', escaped = ''] = /^"(\w+):((?:[^"\\]|\\.)*)"$/u.exec(source) ?? []
  if (!searchable.includes(property)) badRequest(call, `Syntax error: character ':' is not valid in '${source}'.`)
  const wanted = escaped.replace(/\\(.)/gu, '$1')
  if (!tokenized.has(property)) return (doc) => fold(String(doc[property] ?? '')).startsWith(fold(wanted))
  const wantedTokens = tokensOf(wanted)
  return (doc) => {
    const tokens = tokensOf(String(doc[property] ?? ''))
    return wantedTokens.every((prefix) => tokens.some((token) => token.startsWith(prefix)))
  }
}

/**
 * Splits a value into tokens as Graph does: at spaces, signs, digits and before a capital after a small letter. Parts
 * that only signs separate also form one token together.
 */
function tokensOf(value: string): string[] {
  const chunks = value.split(/\s+/).filter((chunk) => chunk !== '')
  return chunks.flatMap((chunk) => {
    const parts = chunk.replace(/(\p{Ll})(\p{Lu})/gu, '$1 $2').match(/\p{N}+|[\p{L}\p{M}]+/gu) ?? []
    const whole = chunk.replace(/[^\p{L}\p{M}\p{N}]/gu, '')
    return [...parts, whole].map(fold).filter((token) => token !== '')
  })
}

const fold = (value: string): string =>
  value
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replace(/ł/gi, 'l')
    .replace(/ø/gi, 'o')
    .replace(/ß/g, 'ss')
    .toLowerCase()
