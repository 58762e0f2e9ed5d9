import { createHash, createHmac, type KeyObject, randomBytes } from 'node:crypto'
import { z } from 'zod'
import type { MailboxStep, SiteStep } from '../resources/index.ts'
import { instant, type Origin, person, requestStates } from '../shared/index.ts'

/** The person who acted, or the system itself. */
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
  /** The id of the call, which identifies a repeat of the same call. Not shown. */
  attempt: z.uuid().optional(),
})
export type AuditEntry = z.output<typeof auditEntry>
export const system = { kind: 'system' } as const
/**
 * All actions of a timeline except the steps: the states and the events within them. The catalogue has a text for each.
 */
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
  'address-taken',
  'address-free',
  'address-changed',
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

/** The part of an entry that stays when its text is erased: who, what, when, from where, and digests of the rest. */
export interface EntryFacts {
  /** The position in its request's chain; the first is 1. */
  readonly seq: number
  readonly requestId: string
  readonly tenantId: string
  readonly at: string
  readonly action: string
  /** An object id, or `system`. */
  readonly actorId: string
  readonly from: string
  readonly trace: string | null
  /** The request's version after this entry, if known. */
  readonly version: number | null
  /** SHA-256 of the salt and the text. It stays when both are erased, and does not reveal them. */
  readonly digest: string
  readonly stateSalt: string | null
  /** Salted SHA-256 of the request before and after; null: nothing changed, or the request is new. */
  readonly before: string | null
  readonly after: string | null
}
/** A stored entry: its facts, its text (null when erased) and the hash that links it to the previous entry. */
export interface ChainedEntry extends EntryFacts {
  readonly text: unknown
  readonly salt: string | null
  readonly hash: string
}

/** The newest hash of a request's chain, stored apart from its entries. */
export interface ChainHead {
  readonly seq: number
  readonly hash: string
}
/** A stored head with its seal, which needs the key. null: the entries before it have no seal. */
export interface SealedHead extends ChainHead {
  readonly seal: string | null
}

/** A request whose digest is in the chain. */
interface AuditedRequest {
  readonly version: number
  readonly number: number
}

/** The change that entries record. Without `before` the request is new. */
export interface AuditedState {
  readonly version: number
  readonly before?: AuditedRequest | undefined
  readonly after?: AuditedRequest
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')

/** Returns JSON with sorted keys and no spaces: the same text for the same value, also after it was stored as jsonb. */
export function canonical(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null'
  let text = ''
  // Adds to one text: each change waits for the digest of its long request, and lists of parts would be garbage.
  if (Array.isArray(value)) {
    for (const one of value) text += `${text && ','}${canonical(one)}`
    return `[${text}]`
  }
  for (const key of Object.keys(value).sort()) {
    const one = (value as Readonly<Record<string, unknown>>)[key]
    if (one !== undefined) text += `${text && ','}${JSON.stringify(key)}:${canonical(one)}`
  }
  return `{${text}}`
}

export const textDigest = (salt: string, text: unknown): string => sha256(salt + canonical(text))

/**
 * Returns the digest of a request, in memory or as stored. Leaves out the number of a new request: it comes after the
 * entry.
 */
export function stateDigest(salt: string, request: { readonly version?: unknown; readonly number?: unknown }): string {
  const { number: _, ...rest } = request
  return sha256(salt + canonical(request.version === 1 ? rest : request))
}

/** Returns the hash that the first entry of a request's chain follows. */
export const genesis = (requestId: string): string => sha256(canonical(['request', requestId]))

/** Returns the hash of an entry that follows the entry with the hash `previous`. */
export function hashOf(previous: string, entry: EntryFacts): string {
  const { seq, requestId, tenantId, at, action, actorId, from, trace } = entry
  const { digest, stateSalt, before, after, version } = entry
  const facts = [previous, seq, requestId, tenantId, at, action, actorId, from, trace]
  return sha256(canonical([...facts, digest, stateSalt, before, after, version]))
}

/**
 * Returns the HMAC-SHA-256 (RFC 2104) of a head. Its key is not in the database. With bytes instead of a key object, Node
 * would need five times as long (https://nodejs.org/api/crypto.html#cryptocreatesecretkeykey-encoding).
 */
export const sealOf = (key: KeyObject, requestId: string, { seq, hash }: ChainHead): string =>
  createHmac('sha256', key)
    .update(canonical([requestId, seq, hash]))
    .digest('hex')

/** Returns the head after these entries, with a seal if the entries before it were sealed. */
export function headOf(key: KeyObject, entries: readonly ChainedEntry[], isSealed: boolean): SealedHead | undefined {
  const last = entries.at(-1)
  if (!last) return undefined
  const { requestId, seq, hash } = last
  return { seq, hash, seal: isSealed ? sealOf(key, requestId, { seq, hash }) : null }
}

/** An entry before it is chained. `text` is the whole entry, as it is stored. */
export interface NewEntry extends Pick<EntryFacts, 'requestId' | 'tenantId' | 'at' | 'action' | 'actorId'> {
  readonly text: unknown
}
export function newEntryOf(entry: AuditEntry): NewEntry {
  const { requestId, tenantId, at, action, actor } = entry
  const actorId = 'id' in actor ? actor.id : 'system'
  return { requestId, tenantId, at: new Date(at).toISOString(), action, actorId, text: entry }
}

/** Chains entries of one request to its head; without a head they start its chain. */
export function chain(
  head: ChainHead | undefined,
  entries: readonly NewEntry[],
  origin: Origin,
  state?: AuditedState,
): ChainedEntry[] {
  const chained: ChainedEntry[] = []
  // Once for all entries of a change: requests are long, and each change waits for the digest.
  const stateSalt = randomBytes(16).toString('hex')
  const digests = {
    stateSalt: state?.after ? stateSalt : null,
    before: state?.before ? stateDigest(stateSalt, state.before) : null,
    after: state?.after ? stateDigest(stateSalt, state.after) : null,
  }
  for (const { text, ...about } of entries) {
    const previous = chained.at(-1) ?? head ?? { seq: 0, hash: genesis(about.requestId) }
    const salt = randomBytes(16).toString('hex')
    const facts = {
      seq: previous.seq + 1,
      ...about,
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
