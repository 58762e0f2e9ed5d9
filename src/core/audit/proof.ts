import { because, isRecord, type Reason, type ReasonFacts, type ReasonKey } from '../shared/index.ts'
import type { AuditAction, AuditEntry, EntryFacts } from './chain.ts'
import { type ChainedEntry, genesis, hashOf, type SealedHead, stateDigest, textDigest } from './chain.ts'

/** A stored entry. An entry that the service did not write lacks parts. */
export type StoredEntry = { readonly [K in keyof ChainedEntry]: ChainedEntry[K] | null }
/** The stored request of a chain: its columns and its body. */
interface StoredRequest {
  readonly tenantId: string
  readonly version: number
  readonly status: string
  readonly body: Readonly<Record<string, unknown>>
}
/** The stored parts of one request's chain. The entries are in the order in which they were written. */
export interface StoredChain {
  readonly requestId: string
  readonly entries: readonly StoredEntry[]
  readonly head: SealedHead | null
  readonly request: StoredRequest | null
}

export const findingKinds = ['changed', 'removed', 'inserted', 'moved', 'anchor', 'request'] as const
/** A difference from the entries that were written. */
export interface Finding {
  readonly kind: (typeof findingKinds)[number]
  /** The position of the entry in the chain; null: it has no position, or the finding concerns the whole chain. */
  readonly entry: number | null
  /** Names the entry, for admins. */
  readonly reason: Reason
}

/** The action of the entry that lists the entries without texts. */
export const erasure = 'text-erased' satisfies AuditAction

/**
 * Compares a chain with its head and its request. No finding: everything is unchanged. `isSealed`: whether the head has the
 * seal of our key.
 */
export function verify(stored: StoredChain, isSealed: boolean): Finding[] {
  const { head } = stored
  const end = head && isSealed ? head.seq : undefined
  const walk = followed(stored, end)
  const found = [...walk.findings]
  const isNamed = (seq: number) => found.some(({ entry, kind }) => entry === seq && kind !== 'moved')
  const erased = new Set(walk.placed.flatMap(({ entry }) => (isNamed(entry.seq) ? [] : erasedBy(entry))))
  for (const { place, entry } of walk.placed) {
    if (isNamed(place) || textHolds(entry, erased.has(place))) continue
    found.push(finding('changed', place, because('entryTextChanged', factsOf(entry))))
  }
  found.push(...headFindings(stored, isSealed, walk, found))
  return [...found, ...requestFindings(stored, walk.placed, found)]
}

const finding = (kind: Finding['kind'], entry: number | null, reason: Reason): Finding => ({ kind, entry, reason })
const factsOf = ({ seq, action, at }: StoredEntry) => ({ entry: String(seq), action: String(action), at: String(at) })

interface Placed {
  /** The position where it belongs. */
  readonly place: number
  readonly entry: ChainedEntry
}
interface Walk {
  readonly placed: readonly Placed[]
  readonly findings: readonly Finding[]
  /** The hashes that the last entry may have; empty if the entry before it is missing. */
  readonly links: readonly string[]
  readonly last: number
}

/** Follows the hashes from the first entry on. Puts an entry with a wrong position where its hash says. */
function followed({ requestId, entries, head }: StoredChain, end: number | undefined): Walk {
  const order = entries.filter(isChained)
  const pool = new Set(order)
  // The organisation's chain grows for ever, so entries are found by position, without a search.
  const bySeq = Map.groupBy(order, ({ seq }) => seq)
  const leftAt = (seq: number) => (bySeq.get(seq) ?? []).filter((entry) => pool.has(entry))
  const findings = strangers(entries)
  const places = [...new Set(order.flatMap(({ seq }, index) => [Math.max(1, seq), index + 1]))]
  places.sort((one, other) => one - other)
  const placed: Placed[] = []
  let links: readonly string[] = [genesis(requestId)]
  let last = 0
  for (const place of places) {
    const here = leftAt(place)
    const fits = (entry: ChainedEntry) => links.some((link) => hashOf(link, { ...entry, seq: place }) === entry.hash)
    const fitting = here.filter((entry) => entry.requestId === requestId && fits(entry))
    // If several entries fit, the one with a successor is ours.
    const own =
      fitting.find((entry) => isFollowed(entry, leftAt(place + 1), end === place ? head?.hash : undefined)) ??
      fitting[0]
    const moved = own || links.length === 0 ? undefined : [...pool].find(fits)
    const isBeyond = end !== undefined && place > end
    const entry = own ?? moved ?? (isBeyond ? undefined : here[0])
    if (!entry) continue
    pool.delete(entry)
    if (isBeyond) {
      findings.push(inserted(entry))
      continue
    }
    findings.push(...missing(last + 1, place - 1))
    if (place > last + 1) links = []
    const isProved = own !== undefined || moved !== undefined || links.length === 0
    if (moved) findings.push(finding('moved', place, because('entryMoved', { ...factsOf(entry), entry: place })))
    if (!isProved) findings.push(finding('changed', place, because('entryChanged', factsOf(entry))))
    links = isProved ? [entry.hash] : [entry.hash, ...links.map((link) => hashOf(link, { ...entry, seq: place }))]
    placed.push({ place, entry })
    last = place
  }
  findings.push(...outOfOrder(order, placed, findings), ...[...pool].map(inserted))
  return { placed, findings, links, last }
}

function isFollowed({ hash }: ChainedEntry, next: readonly ChainedEntry[], newest: string | undefined): boolean {
  if (newest !== undefined) return hash === newest
  return next.some((one) => hashOf(hash, one) === one.hash)
}

const isChained = (entry: StoredEntry): entry is ChainedEntry =>
  [entry.seq, entry.hash, entry.digest, entry.actorId, entry.from].every((part) => part !== null)

const strangers = (stored: readonly StoredEntry[]): Finding[] =>
  stored.filter((entry) => !isChained(entry)).map(inserted)

const inserted = (entry: StoredEntry): Finding =>
  finding(
    'inserted',
    entry.seq,
    because(entry.seq === null ? 'entryForeignUnnumbered' : 'entryForeign', factsOf(entry)),
  )

/** Entries are written in the order of the chain. */
function outOfOrder(stored: readonly ChainedEntry[], placed: readonly Placed[], found: readonly Finding[]): Finding[] {
  const places = new Map(placed.map(({ entry, place }) => [entry, place]))
  let highest = 0
  return stored.flatMap((entry) => {
    const place = places.get(entry) ?? highest
    const isLate = place < highest && !found.some((one) => one.entry === place)
    highest = Math.max(highest, place)
    return isLate ? [finding('moved', place, because('entryOutOfOrder', factsOf(entry)))] : []
  })
}

function missing(first: number, last: number): Finding[] {
  if (last < first) return []
  if (last - first > 20) return [finding('removed', first, because('entriesRemoved', { first, last }))]
  const places = Array.from({ length: last - first + 1 }, (_, index) => first + index)
  return places.map((place) => finding('removed', place, because('entryRemoved', { entry: place })))
}

function erasedBy({ action, text }: ChainedEntry): number[] {
  const data: unknown = action === erasure && isRecord(text) ? text['data'] : undefined
  const entries = isRecord(data) ? data['entries'] : undefined
  return Array.isArray(entries) ? entries.filter((one) => typeof one === 'number') : []
}

/** Whether a text is unchanged. A text may be missing only if an entry records its erasure. */
const textHolds = ({ text, salt, digest }: ChainedEntry, isErased: boolean): boolean =>
  text === null || salt === null ? isErased && text === salt : textDigest(salt, text) === digest

function headFindings({ head }: StoredChain, isSealed: boolean, walk: Walk, found: readonly Finding[]): Finding[] {
  if (!head) return [finding('anchor', null, because('headMissing'))]
  if (!isSealed) return [finding('anchor', null, because(head.seal === null ? 'headUnsealed' : 'headOfOtherSeal'))]
  if (head.seq > walk.last) return missing(walk.last + 1, head.seq)
  const isExplained = found.some(({ kind }) => kind !== 'inserted')
  if (walk.links.includes(head.hash) || isExplained) return []
  return [finding('anchor', null, because('headDiffers'))]
}

function requestFindings(
  { request, requestId }: StoredChain,
  placed: readonly Placed[],
  found: readonly Finding[],
): Finding[] {
  const requestIs = (key: ReasonKey, facts?: ReasonFacts) => [finding('request', null, because(key, facts))]
  // The organisation's chain has the id of the tenant, and no request.
  if (!request && placed.some(({ entry }) => entry.tenantId === requestId)) return []
  if (!request) return requestIs('requestGone')
  const { body, version, status, tenantId } = request
  const columns = { requestId, version, status, tenantId }
  if (Object.entries(columns).some(([name, value]) => body[name] !== value)) return requestIs('requestColumnsDiffer')
  const last = placed.findLast(({ entry }) => entry.after !== null && entry.version !== null)?.entry
  if (!last || last.version === null || found.some(({ entry }) => entry === last.seq)) return []
  const { seq, stateSalt, after } = last
  if (version < last.version) return requestIs('requestOlder', { entry: seq })
  if (version === last.version)
    return after === stateDigest(stateSalt ?? '', body) ? [] : requestIs('requestDiffers', { entry: seq })
  // Attempts and directory polls change the request without an entry, but only while it is in progress.
  const followUp = isRecord(body['followUp']) ? body['followUp']['state'] : undefined
  const isInProgress =
    status === 'queued' || status === 'provisioning' || (status === 'succeeded' && followUp !== 'announced')
  const isExplained = isInProgress || found.some(({ kind }) => kind === 'removed' || kind === 'anchor')
  return isExplained ? [] : requestIs('requestChangedLater', { entry: seq })
}

/** The chain of a request and the findings of its proof. */
export interface Proof {
  readonly requestId: string
  readonly tenantId: string
  /** The number that people read, such as `REQ-1042`; undefined when the request was deleted. */
  readonly reference: string | undefined
  /** The oldest first. `content`: the entry itself, unless its text was erased. */
  readonly entries: readonly (EntryFacts & { readonly hash: string; readonly content: AuditEntry | undefined })[]
  readonly findings: readonly Finding[]
}
