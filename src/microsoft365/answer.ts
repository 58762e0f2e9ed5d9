import { TenantError } from '../core/index.ts'

/** More than any answer that we ask for can hold; whoever sends more is not Microsoft 365. Bytes. */
const largestAnswer = 4 * 1024 * 1024

/**
 * Statuses after which the same call may succeed later (Graph's and SharePoint's throttling and error pages, and the
 * list in dev-proxy's GraphRandomErrorPlugin). All others stay as they are until somebody changes something.
 */
const passing = new Set([408, 423, 425, 429, 500, 502, 503, 504, 507])
export const isPassing = (status: number): boolean => passing.has(status)

/** The whole body as text, cut off with a `TenantError` when it is larger than anything we ask for. */
export async function readText(response: Response, service: string): Promise<string> {
  if (!response.body) return ''
  const parts: Uint8Array[] = []
  let size = 0
  for await (const part of response.body) {
    size += part.byteLength
    // Leaving the loop cancels the stream, so the rest is never downloaded.
    if (size > largestAnswer) throw unreadable(service, `an answer of more than ${largestAnswer} bytes`)
    parts.push(part)
  }
  return Buffer.concat(parts).toString('utf8')
}

/** The JSON value of a text; undefined when it is none (an HTML page of some proxy, say). */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** An answer that is not what the service documents. Worth another try: mostly something in between answered. */
export const unreadable = (service: string, what: string, cause?: unknown): TenantError =>
  new TenantError('unreadable-answer', `${service} sent ${what}, which is not what it documents.`, {
    retryable: true,
    cause,
  })

/**
 * Seconds to wait by a `Retry-After` header (RFC 9110 §10.2.3): a number of seconds or an HTTP date, never less than 0.
 * Undefined when there is none or it cannot be read. SharePoint's `RateLimit-Reset` counts when it is longer. At most an
 * hour: nothing here asks for more, and a broken header must not put a request to sleep for years.
 */
export function retryAfterSeconds(headers: Headers, now: number = Date.now()): number | undefined {
  const waits = [headers.get('retry-after'), headers.get('ratelimit-reset')].flatMap((value) => {
    if (value === null) return []
    if (/^\s*\d+(\.\d+)?\s*$/.test(value)) return [Math.ceil(Number(value))]
    const date = Date.parse(value)
    return Number.isNaN(date) ? [] : [Math.max(0, Math.ceil((date - now) / 1000))]
  })
  return waits.length > 0 ? Math.min(3600, Math.max(...waits)) : undefined
}

/** How `fetch` reports a lost connection and a time-out; whatever else it throws is a defect and stays one. */
export const isLost = (error: unknown): boolean => error instanceof TypeError || error instanceof DOMException
