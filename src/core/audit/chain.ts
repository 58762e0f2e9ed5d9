import { createHash, createHmac, randomBytes } from 'node:crypto'
import { z } from 'zod'
import type { MailboxStep, SiteStep } from '../resources/index.ts'
import { instant, type Origin, person, requestStates } from '../shared/index.ts'

/** Who did something: a person, or the system itself. */
export const auditActor = z.union([person, z.object({ kind: z.literal('system') })])
/** One line of a request's timeline. A state change's action is the new state (DESIGN §5). */
export const auditEntry = z.object({
  requestId: z.uuid(),
  tenantId: z.uuid(),
  at: instant,
  actor: auditActor,
  action: z.string(),
  comment: z.string().optional(),
  data: z.record(z.string(), z.unknown()).optional(),
  /** The call that asked for it: a repeat of the same call is known by it. Not shown. */
  attempt: z.uuid().optional(),
})
export type AuditEntry = z.output<typeof auditEntry>
export const system = { kind: 'system' } as const
/** All that a timeline can tell of beside the steps: the states, and what happens within them. Cards have words for each. */
export const auditActions = [
  ...requestStates,
  'approved',
  'late',
  'delayed',
  'renamed',
  'announced',
  'overdue',
  'timed',
  'not-told',
  'reached',
  'reminded',
  'escalated',
  'warned',
  'delegated',
  'reassigned',
  'refused',
  'restarted',
  'replayed',
  'dismissed',
  'webhook-replayed',
  'text-erased',
  'reduced',
  'person-erased',
] as const
export type AuditAction = (typeof auditActions)[number] | `step:${SiteStep | MailboxStep}`

/** What an entry says that outlives its words: who, what, when, from where, and digests of the rest. */
export interface EntryFacts {
  /** The place in its request's chain; the first is 1. */
  readonly seq: number
  readonly requestId: string
  readonly tenantId: string
  readonly at: string
  readonly action: string
  /** An object id, or `system`. */
  readonly actorId: string
  readonly from: string
  readonly trace: string | null
  /** The request's version after it, where it is known. */
  readonly version: number | null
  /** SHA-256 of the salt and the text: it stays when both are erased, and tells nothing of them. */
  readonly digest: string
  readonly stateSalt: string | null
  /** Salted SHA-256 of the request before and after; null: nothing changed, or there was none before. */
  readonly before: string | null
  readonly after: string | null
}
/** An entry as it is kept: its facts, its words (null once they are erased) and the hash that ties it to the one before. */
export interface ChainedEntry extends EntryFacts {
  readonly text: unknown
  readonly salt: string | null
  readonly hash: string
}

/** The newest hash of a request's chain, kept apart from its entries. */
export interface ChainHead {
  readonly seq: number
  readonly hash: string
}
/** The same as it is stored. Only who has the key can seal it; null: nobody could vouch for what it stands on. */
export interface SealedHead extends ChainHead {
  readonly seal: string | null
}

/** A request, of which the chain keeps a digest. */
export interface AuditedRequest {
  readonly version: number
  readonly number: number
}

/** The change that entries tell of. Without `before` the request is new. */
export interface AuditedState {
  readonly version: number
  readonly before?: AuditedRequest | undefined
  readonly after?: AuditedRequest
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')

/** JSON with sorted keys and no spaces: the same text for the same value, wherever it has been in between. */
export function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null'
  const members = Object.entries(value).filter(([, one]) => one !== undefined)
  const sorted = members.sort(([one], [other]) => (one < other ? -1 : 1))
  return `{${sorted.map(([key, one]) => `${JSON.stringify(key)}:${canonical(one)}`).join(',')}}`
}

export const textDigest = (salt: string, text: unknown): string => sha256(salt + canonical(text))

/** Of a request as an object, or as the store holds it. Its number is given only when its first entry has been written. */
export function stateDigest(salt: string, request: { readonly version?: unknown; readonly number?: unknown }): string {
  const { number: _, ...rest } = request
  return sha256(salt + canonical(request.version === 1 ? rest : request))
}

/** What the first entry of a request's chain follows. */
export const genesis = (requestId: string): string => sha256(canonical(['request', requestId]))

/** The hash of an entry that follows the one with the hash `previous`. */
export function hashOf(previous: string, entry: EntryFacts): string {
  const { seq, requestId, tenantId, at, action, actorId, from, trace } = entry
  const { digest, stateSalt, before, after, version } = entry
  const facts = [previous, seq, requestId, tenantId, at, action, actorId, from, trace]
  return sha256(canonical([...facts, digest, stateSalt, before, after, version]))
}

/** HMAC-SHA-256 (RFC 2104) of a head, by a key that is not in the database. */
export const sealOf = (key: Uint8Array, requestId: string, { seq, hash }: ChainHead): string =>
  createHmac('sha256', key)
    .update(canonical([requestId, seq, hash]))
    .digest('hex')

/** The head that stands on these entries; its seal, if what it follows was sealed. */
export function headOf(key: Uint8Array, entries: readonly ChainedEntry[], isSealed: boolean): SealedHead | undefined {
  const last = entries.at(-1)
  if (!last) return undefined
  const { requestId, seq, hash } = last
  return { seq, hash, seal: isSealed ? sealOf(key, requestId, { seq, hash }) : null }
}

/** An entry before it is chained. `text` is the whole of it, as it is kept. */
export interface Words extends Pick<EntryFacts, 'requestId' | 'tenantId' | 'at' | 'action' | 'actorId'> {
  readonly text: unknown
}
export function wordsOf(entry: AuditEntry): Words {
  const { requestId, tenantId, at, action, actor } = entry
  const actorId = 'id' in actor ? actor.id : 'system'
  return { requestId, tenantId, at: new Date(at).toISOString(), action, actorId, text: entry }
}

/** Entries of one request as they follow its head; without one they begin its chain. */
export function chain(
  head: ChainHead | undefined,
  entries: readonly Words[],
  origin: Origin,
  state?: AuditedState,
): ChainedEntry[] {
  const chained: ChainedEntry[] = []
  // Once for all entries of a change: requests are long, and each change waits for it.
  const stateSalt = randomBytes(16).toString('hex')
  const digests = {
    stateSalt: state?.after ? stateSalt : null,
    before: state?.before ? stateDigest(stateSalt, state.before) : null,
    after: state?.after ? stateDigest(stateSalt, state.after) : null,
  }
  for (const { text, ...words } of entries) {
    const previous = chained.at(-1) ?? head ?? { seq: 0, hash: genesis(words.requestId) }
    const salt = randomBytes(16).toString('hex')
    const facts = {
      seq: previous.seq + 1,
      ...words,
      from: origin.from,
      trace: origin.trace ?? null,
      version: state?.version ?? null,
      digest: textDigest(salt, text),
      ...digests,
    }
    chained.push({ ...facts, text, salt, hash: hashOf(previous.hash, facts) })
  }
  return chained
}
