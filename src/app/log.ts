import { type Logger, pino } from 'pino'
import { originNow } from '../core/index.ts'

export type { Logger } from 'pino'

const names = 'client_secret|client_assertion|refresh_token|access_token|id_token|password'
/** What secrets look like wherever they stand: bearer tokens, JWTs, webhook secrets, and passwords in addresses and forms. */
const shapes: readonly (readonly [RegExp, string])[] = [
  [/\beyJ[\w-]{8,}\.[\w-]+(\.[\w-]*)?/g, '[token]'],
  [/\bBearer\s+[\w.~+/=-]{8,}/gi, 'Bearer [token]'],
  [/\bwhsec_[\w+/=-]+/g, '[secret]'],
  // Whoever has the link to an export has the export.
  [/(\/exports\/v1\/)[\w-]{20,}/g, '$1[token]'],
  [/(\b[a-z][a-z0-9+.-]*:\/\/[^\s:/@"]*):[^\s@/"]+@/gi, '$1:[secret]@'],
  // In forms, quoted or not, and in JSON: the line is JSON itself, so the quotes of a text are escaped.
  [new RegExp(`\\b(${names})=(?:\\\\+"[^"\\\\]*|[^&\\s"]+)`, 'gi'), '$1=[secret]'],
  [new RegExp(`\\b(${names})(\\\\*"\\s*:\\s*\\\\*")[^"\\\\]+`, 'gi'), '$1$2[secret]'],
  [/-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(-----END [A-Z ]*PRIVATE KEY-----|$)/g, '[key]'],
]

/** Takes secrets out of a line: those given, as they are and as JSON and URLs write them, and all that has their shape. */
export function maskSecrets(secrets: readonly string[]): (line: string) => string {
  const known = secrets
    .filter((secret) => secret.length >= 8)
    .flatMap((secret) => [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret)])
  const exact = [...new Set(known)].toSorted((one, other) => other.length - one.length)
  return (line) => {
    const without = exact.reduce((text, secret) => text.replaceAll(secret, '[secret]'), line)
    return shapes.reduce((text, [shape, instead]) => text.replace(shape, instead), without)
  }
}

/** How much of a message or a stack is kept, and how many causes of causes. */
const longest = { message: 1000, stack: 4000, causes: 5 } as const

/**
 * What the log keeps of an error. Libraries hang whole requests with their headers and bodies on their errors, databases
 * the values of a statement; of such members none is kept but codes and statuses.
 */
export function shownError(error: unknown, depth = 0): unknown {
  if (!(error instanceof Error)) return typeof error === 'object' && error !== null ? '[object]' : error
  const { name, stack = '', cause } = error
  // The stack begins with the message, which may be long; the places are behind it.
  const places = stack.slice(stack.indexOf('\n    at '))
  return {
    type: name,
    message: wordsOf(error).slice(0, longest.message),
    ...codesOf(error),
    ...(stack.includes('\n    at ') && { stack: places.slice(1, longest.stack) }),
    ...(cause !== undefined && depth < longest.causes && { cause: shownError(cause, depth + 1) }),
  }
}

/** A database that cannot read a value quotes it at the end (SQLSTATE class 22). */
const wordsOf = (error: Error): string => ('severity' in error ? error.message.replace(/: ".*"$/s, '') : error.message)

function codesOf(error: Error): Record<string, unknown> {
  const members = ['code', 'status', 'statusCode', 'retryable', 'retryAfterSeconds', 'constraint', 'table', 'routine']
  return Object.fromEntries(
    members.flatMap((name) => {
      const value: unknown = Reflect.get(error, name)
      const isShort =
        typeof value === 'number' || typeof value === 'boolean' || (typeof value === 'string' && value.length <= 100)
      return isShort ? [[name, value]] : []
    }),
  )
}

/** The log: JSON lines on standard error, without the secrets that are given here and without any of their shape. */
export function createLog(level: string, secrets: readonly string[], write = toStandardError()): Logger {
  const masked = maskSecrets(secrets)
  return pino(
    { level, serializers: { err: shownError }, mixin: placeOfWork },
    { write: (line: string) => write(visible(masked(line))) },
  )
}

/** Every line that is written in the course of something has its trace, and the job that it is done by. */
function placeOfWork(): { traceId?: string; jobId?: string } {
  const { trace, job } = originNow()
  return { ...(trace !== undefined && { traceId: trace }), ...(job !== undefined && { jobId: job }) }
}

/**
 * JSON leaves controls above U+007F and marks of direction as they are; terminals and viewers act on them. They stand
 * inside strings only, so they can be written as JSON's escapes.
 */
const visible = (line: string): string =>
  line.replace(
    /[\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g,
    (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )

function toStandardError(): (line: string) => void {
  const destination = pino.destination(2)
  return (line) => void destination.write(line)
}
