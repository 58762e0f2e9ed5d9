/**
 * The audit: entries, the hash chain that ties them together, and the key that seals it.
 */
import { createSecretKey } from 'node:crypto'
import {
  type AuditEntry,
  type AuditedState,
  type AuditLog,
  auditEntry,
  type ChainedEntry,
  chain,
  erasure,
  headOf,
  type KnownPerson,
  mentions,
  newEntryOf,
  originNow,
  type SealedHead,
  sealOf,
  system,
} from '../../core/index.ts'
import type { Database } from '../database/index.ts'
import { hasAny, patternsOf } from '../shared/index.ts'
import { proofsOf } from './chain.ts'

export { chainExisting, iso, missingNumbers, provedAll } from './chain.ts'
export * from './key.ts'

/** Creates the audit log. Entries are appended in the transaction of the change, each chained to the previous entry. */
export function createAuditLog(database: Database, auditKey: Uint8Array): AuditLog {
  const key = createSecretKey(auditKey)
  /** Starts the chain of a new request without reading. Returns false when another process has started it. */
  async function begin(entries: readonly AuditEntry[], state?: AuditedState): Promise<boolean> {
    const chained = chain(undefined, entries.map(newEntryOf), originNow(), state)
    return write(database, chained, headOf(key, chained, true), beginning)
  }

  /** Appends to an existing chain. Waits for transactions that write to the same chain. */
  async function appendChained(
    requestId: string,
    entries: readonly AuditEntry[],
    state?: AuditedState,
  ): Promise<boolean> {
    const { rows } = await database.query<SealedHead>(
      'SELECT seq, hash, seal FROM audit_heads WHERE request_id = $1 FOR UPDATE',
      [requestId],
    )
    const [head] = rows
    // A chain whose head has a foreign seal gets no seal of ours: the seal would prove entries that we cannot prove.
    const isSealed = head !== undefined && head.seal === sealOf(key, requestId, head)
    const last = head ?? (await lastOf(requestId))
    const chained = chain(last, entries.map(newEntryOf), originNow(), state)
    return write(database, chained, headOf(key, chained, isSealed), head ? continuing : beginning)
  }

  async function lastOf(requestId: string): Promise<{ seq: number; hash: string } | undefined> {
    const { rows } = await database.query<{ seq: number; hash: string }>(
      'SELECT seq, hash FROM audit_log WHERE request_id = $1 AND seq IS NOT NULL ORDER BY entry DESC LIMIT 1',
      [requestId],
    )
    return rows[0]
  }

  async function appendTo(requestId: string, entries: readonly AuditEntry[], state?: AuditedState): Promise<void> {
    const isNew = (state?.after !== undefined && state.before === undefined) || isOfOrganisation(requestId, entries)
    if (isNew && (await begin(entries, state))) return
    for (let attempt = 1; attempt <= 3; attempt += 1)
      if (await database.transaction(() => appendChained(requestId, entries, state))) return
    throw new Error(`no entry could be added to the timeline of ${requestId}`)
  }

  return {
    async append(entries, state) {
      for (const requestId of new Set(entries.map((entry) => entry.requestId))) {
        const own = entries.filter((entry) => entry.requestId === requestId)
        await appendTo(requestId, own, state)
      }
    },
    async timeline(requestId) {
      const { rows } = await database.query<{ body: unknown; at: Date; action: string; tenant: string; actor: string }>(
        `SELECT body, at, action, tenant_id AS tenant, actor_id AS actor FROM audit_log
         WHERE request_id = $1 ORDER BY entry`,
        [requestId],
      )
      return rows.map(({ body, at, action, tenant: tenantId, actor: id }) => {
        if (body !== null) return auditEntry.parse(body)
        const actor = id === 'system' ? system : { id, displayName: '', userPrincipalName: '' }
        return { requestId, tenantId, at: at.toISOString(), action, actor }
      })
    },
    async prove(requestId) {
      const [proof] = await proofsOf(database, key, [requestId])
      return proof
    },
    async erase(person, at) {
      const written = patternsOf(person)
      // Chains with the person's id come last: after a crash, the next run learns the names from them.
      const { rows } = await database.patiently(() =>
        database.query<{ requestId: string; tenantId: string }>(
          `SELECT request_id AS "requestId", tenant_id AS "tenantId" FROM audit_log
           WHERE ${mayMention} AND seq IS NOT NULL GROUP BY 1, 2 ORDER BY bool_or(${isById}), 1`,
          [person.id, written],
        ),
      )
      let erased = 0
      for (const { requestId, tenantId } of rows)
        erased += await database.transaction(async () => {
          const entries = await eraseIn(database, requestId, person, written)
          const notice = {
            requestId,
            tenantId,
            at: at.toISOString(),
            actor: system,
            action: erasure,
            data: { entries },
          }
          if (entries.length > 0) await appendTo(requestId, [notice])
          return entries.length
        })
      return erased
    },
  }
}

/** Whether entries are about no single request: their chain has the tenant's id. */
const isOfOrganisation = (chainId: string, entries: readonly AuditEntry[]): boolean =>
  entries.every(({ tenantId }) => tenantId === chainId)

const isById = '(actor_id = $1 OR position($1 IN lower(body::text)) > 0)'
/** Finds entries by a person, and entries that may name the person, except those that record the erasure by id. */
const mayMention = `body IS NOT NULL AND (${isById} OR ${hasAny('body::text', '$2')})
  AND NOT (request_id = tenant_id AND actor_id <> $1
    AND action = ANY('{erasure-ordered,erasure-begun,erasure-stopped,person-erased}'))`

async function eraseIn(
  database: Database,
  requestId: string,
  person: KnownPerson,
  written: readonly string[],
): Promise<number[]> {
  await database.query('SELECT FROM audit_heads WHERE request_id = $1 FOR UPDATE', [requestId])
  const { rows } = await database.query<{ seq: number; actor: string; body: unknown }>(
    `SELECT seq, actor_id AS actor, body FROM audit_log WHERE ${mayMention} AND request_id = $3 AND seq IS NOT NULL ORDER BY seq`,
    [person.id, written, requestId],
  )
  const theirs = rows.filter(({ actor, body }) => actor === person.id || mentions(body, person)).map(({ seq }) => seq)
  await database.query('UPDATE audit_log SET body = NULL, salt = NULL WHERE request_id = $1 AND seq = ANY($2::int[])', [
    requestId,
    theirs,
  ])
  return theirs
}

const beginning = `INSERT INTO audit_heads (request_id, seq, hash, seal) VALUES ($1, $2, $3, $4)
  ON CONFLICT (request_id) DO NOTHING RETURNING 1`
const continuing = 'UPDATE audit_heads SET seq = $2, hash = $3, seal = $4 WHERE request_id = $1 RETURNING 1'

/**
 * Writes entries and their head in one statement. Returns false when the head was not written: another process was
 * first.
 */
async function write(
  database: Database,
  entries: readonly ChainedEntry[],
  head: SealedHead | undefined,
  heading: string,
): Promise<boolean> {
  const [first] = entries
  if (!first || !head) return true
  const { rowCount } = await database.query(
    `WITH head AS (${heading})
     INSERT INTO audit_log (tenant_id, request_id, at, action, body, seq, actor_id, origin, trace, version, salt, digest,
       state_salt, before, after, hash)
     SELECT "tenantId", "requestId", at, action, text, seq, "actorId", "from", trace, version, salt, digest,
       "stateSalt", before, after, hash
     FROM jsonb_to_recordset($5::jsonb) AS entry ("tenantId" uuid, "requestId" uuid, at timestamptz, action text,
       text jsonb, seq integer, "actorId" text, "from" text, trace text, version integer, salt text, digest text,
       "stateSalt" text, before text, after text, hash text)
     WHERE EXISTS (SELECT FROM head)`,
    [first.requestId, head.seq, head.hash, head.seal, JSON.stringify(entries)],
  )
  return rowCount > 0
}
