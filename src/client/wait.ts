import type { Answer, SendCall } from './call.ts'
import { idOf, retryAfterOf, type Timing } from './call.ts'
import { StillUnderWayError, UnexpectedAnswerError } from './errors.ts'
import type { CallOptions, ProvisioningRequest, RequestState, TokenResource } from './types.ts'

/** How a request is waited for. */
export interface WaitOptions extends CallOptions {
  /** When to give up, in seconds; without it only `signal` does: approvers may take days. */
  readonly timeoutSeconds?: number
  /** Told of the request as it is at first, and whenever it has changed since; waited for. */
  readonly onChange?: (request: ProvisioningRequest) => void | Promise<void>
  /** What is waited for; unless given, that the request has ended or failed. */
  readonly until?: (request: ProvisioningRequest) => boolean
}

interface WaitParts {
  readonly send: SendCall
  readonly root: string
  readonly resource: TokenResource
  readonly timing: Timing
}

/** The longest that the service holds an answer, in seconds. */
const longestHold = 30
/** Where answers are not held (API document, "Limits"): the first look after 20 s, then every 10 s. Milliseconds. */
const [firstPoll, pollEvery] = [20_000, 10_000]
/** However fast answers come, looks are so far apart. Milliseconds. */
const shortestPause = 500
/** A server that holds answers, and answers sooner than this that nothing has changed, does not. Milliseconds. */
const shortestHold = 1000
const longestRetryAfter = 600
/** An entity tag that no version has: the first look is answered at once. */
const noVersion = '"0"'

const over: readonly RequestState[] = ['succeeded', 'failed', 'rejected', 'expired', 'cancelled']
/** Whether nothing more happens to a request by itself. What has failed goes on when an admin retries it. */
export const isOver = ({ status }: Pick<ProvisioningRequest, 'status'>): boolean => over.includes(status)

interface Snapshot {
  readonly request: ProvisioningRequest
  readonly etag: string
}

/** Waits until a request is over. Throws StillUnderWayError when the time to wait is. */
export async function waitForRequest(
  parts: WaitParts,
  requestId: string,
  { signal, timeoutSeconds, onChange, until = isOver }: WaitOptions = {},
): Promise<ProvisioningRequest> {
  const { timing } = parts
  const about = { method: 'GET', path: `/requests/v1/${idOf('request', requestId)}`, requestId } as const
  const began = timing.now()
  const deadline = timeoutSeconds === undefined ? Number.POSITIVE_INFINITY : began + timeoutSeconds * 1000
  let latest: Snapshot | undefined
  for (;;) {
    const polledAt = timing.now()
    const seconds = Math.max(0, Math.min(longestHold, Math.ceil((deadline - polledAt) / 1000)))
    const answer = await poll(parts, about, seconds, latest?.etag ?? noVersion, signal)
    const next = snapshotOf(answer, latest)
    const isNew = next !== latest
    if (next === undefined) throw new UnexpectedAnswerError('a request that has not changed', answer.status, about)
    latest = next
    if (isNew) await onChange?.(latest.request)
    if (until(latest.request)) return latest.request
    const now = timing.now()
    if (now >= deadline) throw new StillUnderWayError(latest.request, about)
    const isHeld = answer.headers.has('preference-applied') && (isNew || now - polledAt >= shortestHold)
    const pause = isHeld ? shortestPause : pauseBetween(answer, now, began)
    await timing.sleep(Math.min(pause, Math.max(0, deadline - now)), signal)
  }
}

function poll(
  { send, root, resource }: WaitParts,
  about: { readonly method: 'GET'; readonly path: string; readonly requestId: string },
  seconds: number,
  etag: string,
  signal: AbortSignal | undefined,
): Promise<Answer> {
  return send({
    about,
    url: root + about.path,
    resource,
    headers: { 'if-none-match': etag, ...(seconds > 0 && { prefer: `wait=${seconds}` }) },
    fields: ['requestId', 'status'],
    heldSeconds: seconds,
    signal,
  })
}

/** What is known after an answer; the same as before when it tells nothing new. */
function snapshotOf({ body, headers }: Answer, before: Snapshot | undefined): Snapshot | undefined {
  if (body === undefined) return before
  // Its form is the service's promise (OpenAPI); that it is an answer of this call was checked when it was read.
  const request = body as unknown as ProvisioningRequest
  const etag = headers.get('etag') ?? noVersion
  const isSame =
    before && (etag === noVersion ? JSON.stringify(before.request) === JSON.stringify(request) : before.etag === etag)
  return isSame ? before : { request, etag }
}

function pauseBetween({ headers }: Answer, now: number, began: number): number {
  const retryAfter = retryAfterOf(headers, now)
  if (retryAfter !== undefined) return Math.max(shortestPause, Math.min(retryAfter, longestRetryAfter) * 1000)
  return now < began + firstPoll ? began + firstPoll - now : pollEvery
}
