import type { Answer, SendCall } from './call.ts'
import { idOf, mayPass, retryAfterOf, type Timing } from './call.ts'
import { StillUnderWayError, UnexpectedAnswerError } from './errors.ts'
import type { CallOptions, ProvisioningRequest, RequestState, TokenResource } from './types.ts'

export interface WaitOptions extends CallOptions {
  /** The time limit in seconds; without it only `signal` ends the wait, because approvers may take days. */
  readonly timeoutSeconds?: number
  /** Called, and awaited, with the first version of the request and after each change. */
  readonly onChange?: (request: ProvisioningRequest) => void | Promise<void>
  /** Ends the wait; {@link isOver} by default. */
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
/**
 * The polls if the service does not hold answers (API document, "Limits"): after 20 s, then every 10 s. Milliseconds.
 */
const [firstPoll, pollEvery] = [20_000, 10_000]
const shortestPause = 500
/** A service that answers "unchanged" sooner than this does not hold answers. Milliseconds. */
const shortestHold = 1000
const longestRetryAfter = 600
/** An entity tag of no version: the first poll is answered at once. */
const noVersion = '"0"'

const over: readonly RequestState[] = ['succeeded', 'failed', 'rejected', 'expired', 'cancelled']
/** Whether a request does not change by itself. An admin may still retry a failed request. */
export const isOver = ({ status }: Pick<ProvisioningRequest, 'status'>): boolean => over.includes(status)

interface Snapshot {
  readonly request: ProvisioningRequest
  readonly etag: string
}

/**
 * Waits until a request is over. Throws StillUnderWayError at the time limit, also if the service does not answer then.
 */
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
    const answer = await poll(parts, { about, seconds, etag: latest?.etag ?? noVersion, deadline, signal }).catch(
      (error: unknown) => {
        const isLate = mayPass(error) && timing.now() >= deadline
        throw isLate && latest ? new StillUnderWayError(latest.request, about) : error
      },
    )
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

interface Poll {
  readonly about: { readonly method: 'GET'; readonly path: string; readonly requestId: string }
  readonly seconds: number
  readonly etag: string
  readonly deadline: number
  readonly signal: AbortSignal | undefined
}

function poll({ send, root, resource }: WaitParts, { about, seconds, etag, deadline, signal }: Poll): Promise<Answer> {
  return send({
    about,
    url: root + about.path,
    resource,
    headers: { 'if-none-match': etag, ...(seconds > 0 && { prefer: `wait=${seconds}` }) },
    fields: ['requestId', 'status'],
    heldSeconds: seconds,
    deadline,
    signal,
  })
}

/** The latest version after an answer; the same object if nothing is new. */
function snapshotOf({ body, headers }: Answer, before: Snapshot | undefined): Snapshot | undefined {
  if (body === undefined) return before
  // The service promises its form (OpenAPI); `readAnswer` has checked that it answers this call.
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
