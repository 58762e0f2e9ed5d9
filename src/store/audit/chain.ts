import { createSecretKey, type KeyObject } from 'node:crypto'
import {
  auditEntry,
  type ChainedEntry,
  chain,
  headOf,
  type NewEntry,
  type Proof,
  type SealedHead,
  type StoredChain,
  type StoredEntry,
  sealOf,
  verify,
} from '../../core/index.ts'
import type { Database } from '../database/index.ts'

/** Returns SQL for a time in the form of entries: with milliseconds, or with microseconds if the time has them. */
export const iso = (column: string): string =>
  `regexp_replace(to_char(${column} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US'), '000$', '') || 'Z'`

interface Row {
  readonly requestId: string
  readonly head: SealedHead | null
  readonly request: (NonNullable<StoredChain['request']> & { readonly number: number }) | null
  readonly entries: readonly StoredEntry[]
}

/** Reads each chain in one statement, so that entries written meanwhile do not look like a change. */
const chains = `
  SELECT chain.id AS "requestId",
    (SELECT json_build_object('seq', seq, 'hash', hash, 'seal', seal)
     FROM audit_heads WHERE request_id = chain.id) AS head,
    (SELECT json_build_object('tenantId', tenant_id, 'version', version, 'status', status, 'number', number, 'body', body)
     FROM requests WHERE request_id = chain.id) AS request,
    (SELECT coalesce(json_agg(json_build_object('seq', seq, 'requestId', request_id, 'tenantId', tenant_id,
       'at', ${iso('at')}, 'action', action, 'actorId', actor_id, 'from', origin, 'trace', trace, 'version', version,
       'digest', digest, 'stateSalt', state_salt, 'before', before, 'after', after, 'text', body, 'salt', salt,
       'hash', hash) ORDER BY entry), '[]')
     FROM audit_log WHERE request_id = chain.id) AS entries
  FROM unnest($1::uuid[]) WITH ORDINALITY AS chain (id, place) ORDER BY place`

/** Proves the chains of these requests, in their order. Omits unknown requests. */
export async function proofsOf(database: Database, key: KeyObject, requestIds: readonly string[]): Promise<Proof[]> {
  const { rows } = await database.query<Row>(chains, [requestIds])
  return rows.flatMap((row) => {
    const tenantId = row.request?.tenantId ?? row.entries[0]?.tenantId
    if (!tenantId) return row.head ? [proofOf(row, '', key)] : []
    return [proofOf(row, tenantId, key)]
  })
}

function proofOf(row: Row, tenantId: string, key: KeyObject): Proof {
  const { requestId, head, request, entries } = row
  const isSealed = head !== null && head.seal === sealOf(key, requestId, head)
  return {
    ...{ requestId, tenantId, reference: request ? `REQ-${request.number}` : undefined },
    entries: entries.map(shown),
    findings: verify({ requestId, head, request, entries }, isSealed),
  }
}

/** Returns an entry for the proof, also when parts of it are missing. */
function shown(entry: StoredEntry): Proof['entries'][number] {
  const { seq, requestId, tenantId, at, action, actorId, from, digest, hash, text } = entry
  const parsed = auditEntry.safeParse(text)
  return {
    ...entry,
    seq: seq ?? 0,
    requestId: requestId ?? '',
    tenantId: tenantId ?? '',
    at: at ?? '',
    action: action ?? '',
    actorId: actorId ?? 'system',
    from: from ?? '',
    digest: digest ?? '',
    hash: hash ?? '',
    content: parsed.success ? parsed.data : undefined,
  }
}

/** How many chains are read at a time. */
const batch = 200

/** Proves every chain of the store, one after another. */
export async function* provedAll(database: Database, auditKey: Uint8Array): AsyncGenerator<Proof> {
  const key = createSecretKey(auditKey)
  let after = beforeAll
  for (;;) {
    const { rows } = await database.query<{ id: string }>(known, [after])
    const last = rows.at(-1)
    if (!last) return
    const requestIds = rows.map(({ id }) => id)
    yield* await proofsOf(database, key, requestIds)
    after = last.id
  }
}

const beforeAll = '00000000-0000-0000-0000-000000000000'
const part = (table: string): string =>
  `(SELECT DISTINCT request_id AS id FROM ${table} WHERE request_id > $1 ORDER BY 1 LIMIT ${batch})`
/** Reads the next ids of chains with a row in one of these tables. */
const known = `SELECT id FROM (${['requests', 'audit_heads', 'audit_log'].map(part).join(' UNION ')}) AS known
  ORDER BY id LIMIT ${batch}`

/** Returns the first numbers of requests that no longer exist: the numbers of a tenant have no gaps. */
export async function missingNumbers(database: Database): Promise<number[]> {
  const { rows } = await database.query<{ number: number }>(
    `SELECT expected.number FROM counters, generate_series(1001, last_number) AS expected (number)
     WHERE NOT EXISTS (SELECT FROM requests WHERE tenant_id = counters.tenant_id AND number = expected.number)
     ORDER BY 1 LIMIT ${batch}`,
  )
  return rows.map(({ number }) => number)
}

interface Unchained extends NewEntry {
  readonly entry: number
}

/**
 * Chains the entries that are older than the chains, unchanged. Call it in the transaction of migration 7, so that nobody
 * can add entries to these chains later. Returns the number of chains.
 */
export async function chainExisting(database: Database, auditKey: Uint8Array): Promise<number> {
  const key = createSecretKey(auditKey)
  let after = beforeAll
  let count = 0
  for (;;) {
    const { rows: ids } = await database.query<{ id: string }>(
      `SELECT DISTINCT request_id AS id FROM audit_log WHERE request_id > $1 ORDER BY 1 LIMIT 1000`,
      [after],
    )
    const last = ids.at(-1)
    if (!last) return count
    const requestIds = ids.map(({ id }) => id)
    const { rows } = await database.query<Unchained>(
      `SELECT entry, request_id AS "requestId", tenant_id AS "tenantId", ${iso('at')} AS at, action, body AS text,
         coalesce(body -> 'actor' ->> 'id', 'system') AS "actorId"
       FROM audit_log WHERE request_id = ANY($1) ORDER BY entry`,
      [requestIds],
    )
    const byRequest = Map.groupBy(rows, ({ requestId }) => requestId)
    await store(
      database,
      requestIds.map((id) => chained(key, byRequest.get(id) ?? [])),
    )
    count += requestIds.length
    after = last.id
  }
}

interface Chained {
  readonly head: SealedHead | undefined
  readonly entries: readonly (ChainedEntry & { readonly entry: number })[]
}

function chained(key: KeyObject, rows: readonly Unchained[]): Chained {
  const texts = rows.map(({ entry: _, ...text }) => text)
  const links = chain(undefined, texts, { from: 'migration' })
  return {
    head: headOf(key, links, true),
    entries: links.map((link, index) => ({ ...link, entry: rows[index]?.entry ?? 0 })),
  }
}

async function store(database: Database, chains: readonly Chained[]): Promise<void> {
  const heads = chains.flatMap(({ head, entries: [first] }) =>
    head && first ? [{ id: first.requestId, ...head }] : [],
  )
  const entries = chains.flatMap((one) => one.entries.map(({ text: _, ...rest }) => rest))
  await database.query(
    `UPDATE audit_log SET seq = made.seq, actor_id = made."actorId", origin = made."from", salt = made.salt,
       digest = made.digest, hash = made.hash
     FROM jsonb_to_recordset($1::jsonb) AS made (entry bigint, seq integer, "actorId" text, "from" text, salt text,
       digest text, hash text)
     WHERE audit_log.entry = made.entry`,
    [JSON.stringify(entries)],
  )
  await database.query(
    `INSERT INTO audit_heads (request_id, seq, hash, seal)
     SELECT id, seq, hash, seal FROM jsonb_to_recordset($1::jsonb) AS made (id uuid, seq integer, hash text, seal text)`,
    [JSON.stringify(heads)],
  )
}
