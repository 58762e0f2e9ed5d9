import { createHash, randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { IdempotencyStore, StoredAnswer } from '../../core/index.ts'
import type { Identity } from './authenticate.ts'
import { HttpError } from './problem.ts'

/** A claimed key and what to do with it, or the answer that was given before. */
export type Claimed =
  | {
      readonly requestId: string
      /** Whether an earlier attempt under this key may have done the work, so that this one only continues it. */
      readonly isContinued: boolean
      complete(answer: StoredAnswer): Promise<void>
      /** `refused`: this attempt did nothing. */
      release(outcome: 'refused' | 'unknown'): Promise<void>
    }
  | { readonly answer: StoredAnswer }

const keptDays = 7
/**
 * A repeat after a crash waits this long at most. Seconds. A process that is only slow, or whose clock is behind, may lose
 * its claim: the repeat continues the same request, so that nothing is done twice.
 */
const leaseSeconds = 10
/** How often an attempt that is still being answered says so. Seconds. */
const renewSeconds = 3
/** Longer than any answer takes: an attempt that hangs does not hold its key for ever. Seconds. */
const heldSeconds = 60

/** The request's Idempotency-Key, or undefined. Throws 400 `idempotency-key-malformed`. */
export function idempotencyKeyOf(request: IncomingMessage): string | undefined {
  const given = request.headersDistinct['idempotency-key']
  if (given === undefined) return undefined
  const [key = ''] = given
  if (given.length === 1 && /^[\x20-\x7e]{1,255}$/.test(key)) return key
  throw new HttpError('idempotency-key-malformed', 'Idempotency-Key is one header of 1 to 255 printable characters.')
}

/**
 * Claims a key for one attempt. Throws 422 `idempotency-key-reused` when it came with another body before, and 409
 * `idempotency-key-in-flight` while the first attempt is still being answered (draft-ietf-httpapi-idempotency-key-header).
 */
export async function claimKey(
  store: IdempotencyStore,
  caller: Identity,
  about: { route: string; key: string; path: string; body: unknown },
  now: () => number,
): Promise<Claimed> {
  const key = { tenantId: caller.tenantId, personId: caller.id, route: about.route, key: about.key }
  const at = now()
  const leaseUntil = () => new Date(now() + leaseSeconds * 1000)
  const holder = randomUUID()
  const requestId = randomUUID()
  const claim = await store.claim(key, {
    fingerprint: createHash('sha256')
      .update(canonical([about.path, about.body]))
      .digest('hex'),
    requestId,
    holder,
    at: new Date(at),
    leaseUntil: leaseUntil(),
    keepUntil: new Date(at + keptDays * 86_400_000),
  })
  if (claim.state === 'answered') return { answer: claim.answer }
  if (claim.state === 'reused')
    throw new HttpError('idempotency-key-reused', 'This Idempotency-Key was used for another request. Take a new one.')
  if (claim.state === 'in-flight') {
    throw new HttpError('idempotency-key-in-flight', 'The first request with this Idempotency-Key is still running.', {
      headers: { 'Retry-After': '1' },
    })
  }
  const stopRenewing = every(renewSeconds, () => {
    if (now() - at > heldSeconds * 1000) stopRenewing()
    // One that fails is made good by the next one, or the lease ends.
    else store.renew(key, holder, leaseUntil()).catch(() => undefined)
  })
  const isContinued = claim.requestId !== requestId
  return {
    requestId: claim.requestId,
    isContinued,
    complete(answer) {
      stopRenewing()
      return store.complete(key, answer)
    },
    release(outcome) {
      stopRenewing()
      // The id of the work that an earlier attempt may have done stays with the key.
      return store.release(key, holder, isContinued ? 'unknown' : outcome)
    },
  }
}

function every(seconds: number, act: () => void): () => void {
  const timer = setInterval(act, seconds * 1000).unref()
  return () => clearInterval(timer)
}

/** JSON with sorted keys, so that the order in which a client writes its fields makes no other body. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_, member: unknown) => {
    if (typeof member !== 'object' || member === null || Array.isArray(member)) return member
    return Object.fromEntries(Object.entries(member).sort(([one], [other]) => (one < other ? -1 : 1)))
  })
}
