import {
  type CallAbout,
  DirectoryError,
  type FieldFault,
  ProblemError,
  type QuartermasterError,
  UnexpectedAnswerError,
} from './errors.ts'
import { problemCodeOf } from './problem-codes.ts'
import { retryAfterOf } from './timing.ts'

/** An answer that is a success, or the 304 that was asked for. */
export interface Answer {
  readonly status: number
  readonly headers: Headers
  /** Of a 304: undefined. */
  readonly body: Readonly<Record<string, unknown>> | undefined
}

/** The longest answer that is read: a page of a hundred requests with the longest automatic replies is a third of it. */
const longestAnswer = 16 * 1024 * 1024

/** What an answer says, read to its end. Throws what it is instead of a success. Whatever breaks the reading passes through. */
export async function readAnswer(
  response: Response,
  call: CallAbout,
  expects: {
    readonly from: 'service' | 'directory'
    readonly fields: readonly string[]
    readonly mayBeUnchanged: boolean
  },
  now: number,
): Promise<Answer> {
  const { status, headers } = response
  const retryAfter = retryAfterOf(headers, now)
  const unexpected = (what: string) => new UnexpectedAnswerError(what, status, call, retryAfter)
  if (status === 304 && expects.mayBeUnchanged) return { status, headers, body: undefined }
  if (isRedirect(response)) throw await dropped(response, unexpected('a redirect, which is never followed'))
  const text = await readText(response)
  if (text === undefined) throw unexpected(`more than ${longestAnswer} bytes`)
  const body = objectIn(headers.get('content-type') ?? '', text)
  if (!response.ok) throw body ? refusal(expects.from, body, status, call, headers, retryAfter) : unexpected('no JSON')
  if (!body) throw unexpected('no JSON')
  if (expects.fields.some((field) => !isThere(field, body[field]))) throw unexpected('what this API does not answer')
  return { status, headers, body }
}

/** A followed redirect could lead anywhere; browsers hide its status and show its type alone. */
const isRedirect = ({ status, type, redirected }: Response): boolean =>
  (status >= 300 && status < 400) || type === 'opaqueredirect' || redirected

async function dropped(response: Response, error: Error): Promise<Error> {
  await response.body?.cancel?.().catch(() => undefined)
  return error
}

/** undefined: it is longer than any answer of this API, and was not read to its end. */
async function readText(response: Response): Promise<string | undefined> {
  const reader = response.body?.getReader?.()
  if (!reader) {
    const text = await response.text()
    return text.length > longestAnswer ? undefined : text
  }
  const decoder = new TextDecoder()
  let [text, bytes] = ['', 0]
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return text + decoder.decode()
    bytes += value.byteLength
    if (bytes > longestAnswer) {
      await reader.cancel().catch(() => undefined)
      return undefined
    }
    text += decoder.decode(value, { stream: true })
  }
}

/** `value` is what every list of this API is called. */
const isThere = (field: string, value: unknown): boolean =>
  field === 'value' ? Array.isArray(value) : value !== undefined && value !== null

function objectIn(contentType: string, text: string): Record<string, unknown> | undefined {
  if (!/^application\/(?:[\w.-]+\+)?json\s*(?:;|$)/i.test(contentType)) return undefined
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
export const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')

function refusal(
  from: 'service' | 'directory',
  body: Readonly<Record<string, unknown>>,
  status: number,
  call: CallAbout,
  headers: Headers,
  retryAfterSeconds: number | undefined,
): QuartermasterError {
  const wait = retryAfterSeconds !== undefined && { retryAfterSeconds }
  if (from === 'directory') {
    const code = isObject(body['error']) ? textOf(body['error']['code']) : ''
    return new DirectoryError(status, code.slice(0, 100), call, retryAfterSeconds)
  }
  const { code, title, detail, instance, traceId, errors } = body
  const problem = {
    ...{ status, code: problemCodeOf(code), givenCode: textOf(code), title: textOf(title), detail: textOf(detail) },
    ...{ instance: textOf(instance), traceId: textOf(traceId) || (headers.get('x-request-id') ?? '') },
    errors: Array.isArray(errors) ? errors.filter(isObject).map(faultOf) : [],
    ...wait,
  }
  return new ProblemError(problem, call)
}

const faultOf = ({ pointer, code, detail, suggestion }: Record<string, unknown>): FieldFault => ({
  pointer: textOf(pointer),
  code: textOf(code),
  detail: textOf(detail),
  ...(typeof suggestion === 'string' && { suggestion }),
})
