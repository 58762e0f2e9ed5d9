/** The part of OData that Graph's users and groups are asked with here: $filter, $select, $top, $skiptoken, $count. */
export type Doc = Readonly<Record<string, unknown>>

/** A query that is not understood; Graph answers it with 400. */
export class BadQuery extends Error {}

type Test = (doc: Doc) => boolean

/** Turns a $filter into a test: `eq`, `in`, `startswith` and `any(x:x eq …)`, joined by `and` or by `or`. */
export function parseFilter(filter: string): Test {
  const joined = splitOutsideQuotes(filter, ' and ')
  if (joined.length > 1) return all(joined.map(parseFilter))
  const either = splitOutsideQuotes(filter, ' or ')
  if (either.length > 1) return some(either.map(parseFilter))
  return clause(filter.trim())
}

const all =
  (tests: readonly Test[]): Test =>
  (doc) =>
    tests.every((test) => test(doc))
const some =
  (tests: readonly Test[]): Test =>
  (doc) =>
    tests.some((test) => test(doc))

function clause(source: string): Test {
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

/** Directory strings compare without case. */
const same = (left: unknown, right: unknown): boolean =>
  typeof left === 'string' && typeof right === 'string' ? left.toLowerCase() === right.toLowerCase() : left === right

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

/** One page of a list in Graph's envelope; `$top` 1–999, 100 unless told. */
export function page(docs: readonly Doc[], query: URLSearchParams, self: string): Record<string, unknown> {
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
