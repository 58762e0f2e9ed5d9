import type { IncomingMessage, ServerResponse } from 'node:http'
import { asWritten, because, type Fault, fault, pointerOf, refuseFields } from '../../core/index.ts'
import { HttpError } from './problem.ts'

/** The largest bodies, in bytes (DESIGN §5). */
export const largestBody = { api: 64 * 1024, messages: 256 * 1024 } as const

/** Bytes above the limit that are read and discarded, so that the sender receives the refusal. */
const discardedAtMost = 1024 * 1024

/**
 * Reads a JSON body as raw bytes; undefined without a body. It decompresses nothing: restify's own parser crashes on
 * invalid gzip, and counts bytes before they are inflated. Throws 415 for another media type, charset or any content
 * coding, and 413 for more than `limit` bytes.
 */
export async function readBody(
  request: IncomingMessage,
  response: ServerResponse,
  limit: number,
): Promise<Buffer | undefined> {
  const { headers } = request
  const announced = Number(headers['content-length'] ?? 0)
  if (announced === 0 && headers['transfer-encoding'] === undefined) return undefined
  refuseOtherMedia(request)
  if (announced > limit + discardedAtMost) throw tooLarge(limit)
  if (headers.expect !== undefined) response.writeContinue()
  const chunks: Buffer[] = []
  let size = 0
  try {
    // The socket must stay open, because it carries the answer.
    for await (const chunk of request.iterator({ destroyOnReturn: false })) {
      size += chunk.length
      if (size <= limit) chunks.push(chunk)
      else if (size > limit + discardedAtMost) break
    }
  } catch (cause) {
    throw new HttpError('malformed-request', 'The body is incomplete.', { cause })
  }
  if (size > limit) throw tooLarge(limit)
  return Buffer.concat(chunks)
}

const tooLarge = (limit: number): HttpError =>
  new HttpError('body-too-large', `The body is larger than ${limit / 1024} KiB.`, {
    headers: { Connection: 'close' },
  })

function refuseOtherMedia({ headers }: IncomingMessage): void {
  const coding = headers['content-encoding']
  if (coding !== undefined && coding.trim().toLowerCase() !== 'identity') {
    throw new HttpError('unsupported-media-type', 'Send the body without a content coding.', {
      headers: { 'Accept-Encoding': 'identity' },
    })
  }
  const [type, ...parameters] = (headers['content-type'] ?? '').split(';').map((part) => part.trim().toLowerCase())
  const charset = parameters.find((parameter) => parameter.startsWith('charset='))?.replace(/^charset="?|"$/g, '')
  if (type === 'application/json' && (charset === undefined || charset === 'utf-8' || charset === 'utf8')) return
  throw new HttpError('unsupported-media-type', 'Send the body as application/json in UTF-8.', {
    headers: { Accept: 'application/json' },
  })
}

interface JsonRules {
  readonly depth: number
  /** Whether text that no database column accepts (U+0000, half a surrogate pair) is refused by its field. */
  readonly storableText: boolean
}

/**
 * Parses a JSON body strictly (RFC 8259): only UTF-8, no duplicate keys (RFC 7493 §2.3: two readers could see two
 * different requests), a limited depth. Throws 400 `malformed-json`, `duplicate-key` or `too-deep`, or 422
 * `validation-failed` for text that cannot be stored.
 */
export function parseJson(bytes: Uint8Array, rules: JsonRules): unknown {
  const text = decode(bytes)
  const value = parse(text)
  inspect(text, rules.depth)
  if (rules.storableText) refuseUnstorable(value)
  return value
}

function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: false }).decode(bytes)
  } catch {
    throw new HttpError('malformed-json', 'The body is not UTF-8.')
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // The parser's own message quotes the body.
    throw new HttpError('malformed-json', 'The body is not JSON.')
  }
}

const tokens = /"(?:[^"\\]+|\\.)*"|[{}[\],]/g
const colon = /\s*:/y

/** An open object or array, with its keys so far and the current key or index. */
interface Level {
  readonly keys: Set<string> | undefined
  at: string | number
}

/** Walks the brackets and keys of valid JSON, because JSON.parse reports neither depth nor duplicates. */
function inspect(text: string, deepest: number): void {
  const open: Level[] = []
  const path = () => open.map(({ at }) => at)
  for (const match of text.matchAll(tokens)) {
    const [token] = match
    const level = open.at(-1)
    if (token === '{' || token === '[') {
      if (open.length === deepest) throw tooDeep(path(), deepest)
      open.push(token === '{' ? { keys: new Set(), at: '' } : { keys: undefined, at: 0 })
    } else if (token === '}' || token === ']') open.pop()
    else if (token === ',') {
      if (typeof level?.at === 'number') level.at += 1
    } else if (level?.keys) {
      colon.lastIndex = match.index + token.length
      if (!colon.test(text)) continue
      level.at = String(JSON.parse(token))
      if (level.keys.has(level.at)) throw duplicateKey(path(), level.at)
      level.keys.add(level.at)
    }
  }
}

function tooDeep(path: readonly PropertyKey[], deepest: number): HttpError {
  const detail = `The body nests deeper than ${deepest} levels.`
  return new HttpError('too-deep', detail, {
    faults: [{ pointer: pointerOf(path), code: 'too-deep', reason: asWritten(detail) }],
  })
}

function duplicateKey(path: readonly PropertyKey[], key: string): HttpError {
  const detail = `The body has the key ${shown(key)} twice in one object.`
  return new HttpError('duplicate-key', detail, {
    faults: [{ pointer: pointerOf(path), code: 'duplicate-key', reason: asWritten(detail) }],
  })
}

const shown = (key: string): string => JSON.stringify(key.length > 64 ? `${key.slice(0, 64).toWellFormed()}…` : key)

function refuseUnstorable(value: unknown): void {
  const faults: Fault[] = []
  collect(value, [], faults)
  if (faults.length > 0) refuseFields(faults)
}

function collect(value: unknown, path: readonly string[], faults: Fault[]): void {
  if (typeof value === 'string') {
    if (!isStorable(value)) faults.push(unstorable(path, 'unstorableText'))
  } else if (typeof value === 'object' && value !== null) {
    for (const [key, member] of Object.entries(value)) {
      if (isStorable(key)) collect(member, [...path, key], faults)
      else faults.push(unstorable(path, 'unstorableKey'))
    }
  }
}

const unstorable = (path: readonly string[], key: 'unstorableKey' | 'unstorableText'): Fault =>
  fault(pointerOf(path), 'invalid', because(key, { name: path.join('.') || 'The body' }))

const isStorable = (text: string): boolean => text.isWellFormed() && !text.includes('\0')
