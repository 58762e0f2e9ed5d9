import { type Logger, pino } from 'pino'
import { originNow } from '../core/index.ts'

export type { Logger } from 'pino'

const names = 'client_secret|client_assertion|refresh_token|access_token|id_token|password'
/** The shapes of secrets: bearer tokens, JWTs, webhook secrets, and passwords in addresses and forms. */
const shapes: readonly (readonly [RegExp, string])[] = [
  [/\beyJ[\w-]{8,}\.[\w-]+(\.[\w-]*)?/g, '[token]'],
  [/\bBearer\s+[\w.~+/=-]{8,}/gi, 'Bearer [token]'],
  [/\bwhsec_[\w+/=-]+/g, '[secret]'],
  // The link to an export gives access to its file.
  [/(\/exports\/v1\/)[\w-]{20,}/g, '$1[token]'],
  [/(\b[a-z][a-z0-9+.-]*:\/\/[^\s:/@"]*):[^\s@/"]+@/gi, '$1:[secret]@'],
  // In forms, quoted or not, and in JSON: the line is JSON itself, so the quotes of a text are escaped.
  [new RegExp(`\\b(${names})=(?:\\\\+"[^"\\\\]*|[^&\\s"]+)`, 'gi'), '$1=[secret]'],
  [new RegExp(`\\b(${names})(\\\\*"\\s*:\\s*\\\\*")[^"\\\\]+`, 'gi'), '$1$2[secret]'],
  [/-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(-----END [A-Z ]*PRIVATE KEY-----|$)/g, '[key]'],
]

/** Returns a function that masks known secrets, also in JSON and URL encoding, and all texts with the shape of a secret. */
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

/** The longest message and stack, and the largest number of nested causes. */
const longest = { message: 1000, stack: 4000, causes: 5 } as const

/**
 * Returns the parts of an error for the log. Libraries attach whole requests with headers and bodies to their errors, and
 * databases the values of a statement. Of such members, the log contains only codes and statuses.
 */
function shownError(error: unknown, depth = 0): unknown {
  if (!(error instanceof Error)) return typeof error === 'object' && error !== null ? '[object]' : error
  const { name, stack = '', cause } = error
  // The stack starts with the message, which may be long. The places follow.
  const places = stack.slice(stack.indexOf('\n    at '))
  return {
    type: name,
    message: messageOf(error).slice(0, longest.message),
    ...codesOf(error),
    ...(stack.includes('\n    at ') && { stack: places.slice(1, longest.stack) }),
    ...(cause !== undefined && depth < longest.causes && { cause: shownError(cause, depth + 1) }),
  }
}

/** A database that cannot read a value quotes it at the end (SQLSTATE class 22). */
const messageOf = (error: Error): string =>
  'severity' in error ? error.message.replace(/: ".*"$/s, '') : error.message

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

/** Creates the log: JSON lines on standard error, without these secrets and without texts with the shape of a secret. */
export function createLog(level: string, secrets: readonly string[], write = toStandardError()): Logger {
  const masked = maskSecrets(secrets)
  return pino(
    { level, serializers: { err: shownError }, mixin: traceOf },
    { write: (line: string) => write(visible(masked(line))) },
  )
}

/** The trace and the job of a line. */
function traceOf(): { traceId?: string; jobId?: string } {
  const { trace, job } = originNow()
  return { ...(trace !== undefined && { traceId: trace }), ...(job !== undefined && { jobId: job }) }
}

/**
 * Escapes control characters above U+007F and marks of direction, on which terminals act and which JSON does not escape.
 * They occur only inside strings, so JSON's escapes are valid.
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
