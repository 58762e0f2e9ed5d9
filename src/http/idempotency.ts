import { createHash, randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { Identity } from './authenticate.ts'
import { HttpError } from './problem.ts'

/** What a key belongs to: one caller's use of one route. */
export interface IdempotencyKey {
  readonly tenantId: string
  readonly personId: string
  /** Method and path pattern, e.g. `POST /collab/v1/spo`. */
  readonly route: string
  /** As sent: 1 to 255 printable ASCII characters. */
  readonly key: string
}

/** One try to answer a request that carries a key. */
export interface IdempotencyAttempt {
  /** SHA-256 over the address and the body, in hex. */
  readonly fingerprint: string
  /** The id that the request will have, if this is the key's first attempt ever. */
  readonly requestId: string
  /** Who holds the claim: new for each attempt. */
  readonly holder: string
  readonly at: Date
  /** From then on the attempt counts as dead, and another may take the claim over. */
  readonly leaseUntil: Date
  /** From then on the key is forgotten. */
  readonly keepUntil: Date
}

/** The first answer, kept to be given again: its status, its headers and its body as sent. */
export interface StoredAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

export type IdempotencyClaim =
  | { readonly state: 'claimed'; readonly requestId: string }
  | { readonly state: 'in-flight' }
  | { readonly state: 'reused' }
  | { readonly state: 'answered'; readonly answer: StoredAnswer }

/**
 * Keeps keys. The request's id is fixed by the first claim and stays with the key until it is forgotten, so however an
 * attempt dies, whoever repeats it continues the same request and can never make a second one.
 */
export interface IdempotencyStore {
  /**
   * Atomically, in this order: no row, or one past its `keepUntil` → a new row, `claimed` with this attempt's requestId.
   * Answered → `answered` if the fingerprint is the same, else `reused`. Another fingerprint → `reused`. A claim whose
   * lease still runs → `in-flight`. Else this attempt's holder, fingerprint and lease replace the old ones: `claimed`
   * with the requestId of the row.
   */
  claim(key: IdempotencyKey, attempt: IdempotencyAttempt): Promise<IdempotencyClaim>
  /** Keeps the answer, whoever holds the claim now; the first answer stays when there is one already. */
  complete(key: IdempotencyKey, answer: StoredAnswer): Promise<void>
  /**
   * Ends the lease, if `holder` still has it and there is no answer. `refused`: nothing was done, so the fingerprint goes
   * too and another body may come under this key; `unknown`: only the same body may.
   */
  release(key: IdempotencyKey, holder: string, outcome: 'refused' | 'unknown'): Promise<void>
  /** Removes keys past their `keepUntil`. */
  forgetOld(at: Date): Promise<void>
}

/** A claimed key and what to do with it, or the answer that was given before. */
export type Claimed =
  | {
      readonly requestId: string
      complete(answer: StoredAnswer): Promise<void>
      release(outcome: 'refused' | 'unknown'): Promise<void>
    }
  | { readonly answer: StoredAnswer }

const keptDays = 7
/** Longer than any answer takes; a repeat after a crash waits this long at most. Seconds. */
const leaseSeconds = 60

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
  const holder = randomUUID()
  const claim = await store.claim(key, {
    fingerprint: createHash('sha256')
      .update(canonical([about.path, about.body]))
      .digest('hex'),
    requestId: randomUUID(),
    holder,
    at: new Date(at),
    leaseUntil: new Date(at + leaseSeconds * 1000),
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
  return {
    requestId: claim.requestId,
    complete: (answer) => store.complete(key, answer),
    release: (outcome) => store.release(key, holder, outcome),
  }
}

/** JSON with sorted keys, so that the order in which a client writes its fields makes no other body. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_, member: unknown) => {
    if (typeof member !== 'object' || member === null || Array.isArray(member)) return member
    return Object.fromEntries(Object.entries(member).sort(([one], [other]) => (one < other ? -1 : 1)))
  })
}
