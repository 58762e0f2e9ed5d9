import { badRequest } from './graph-wire.ts'
import type { Doc } from './odata.ts'
import type { Call } from './wire.ts'

/** Directory properties that are searched by words; any other text by its beginning ("Use the $search query parameter"). */
const tokenized = new Set(['displayName', 'description'])

/**
 * A `$search` on directory objects as a test: `"property:text"` clauses joined by OR or by AND, without brackets. It is an
 * advanced query, so it is refused without `ConsistencyLevel: eventual`. `searchable` are the properties known here.
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
  if (joints.size > 1) badRequest(call, 'The simulator does not serve AND beside OR in a $search.')
  const tests = parts.filter((_, index) => index % 2 === 0).map((part) => clause(call, part.trim(), searchable))
  return joints.has('AND') ? (doc) => tests.every((test) => test(doc)) : (doc) => tests.some((test) => test(doc))
}

function clause(call: Call, source: string, searchable: readonly string[]): (doc: Doc) => boolean {
  const [, property = '', escaped = ''] = /^"(\w+):((?:[^"\\]|\\.)*)"$/u.exec(source) ?? []
  if (!searchable.includes(property)) badRequest(call, `Syntax error: character ':' is not valid in '${source}'.`)
  const wanted = escaped.replace(/\\(.)/gu, '$1')
  if (!tokenized.has(property)) return (doc) => fold(String(doc[property] ?? '')).startsWith(fold(wanted))
  const words = tokensOf(wanted)
  return (doc) => {
    const tokens = tokensOf(String(doc[property] ?? ''))
    return words.every((word) => tokens.some((token) => token.startsWith(word)))
  }
}

/**
 * The words of a value as Graph takes them: divided by spaces, signs, digits and a capital after a small letter; what
 * only signs divide is also one word.
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
