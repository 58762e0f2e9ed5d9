/**
 * Personal data: what the store knows about a person, erasure, retention and exports.
 */
import { z } from 'zod'
import {
  type ErasureCounts,
  type KnownPerson,
  mailboxRequest,
  mentions,
  openStates,
  type Person,
  type PersonRecord,
  type PersonStore,
  person,
  shortestName,
  siteRequest,
  withoutPersonIn,
} from '../../core/index.ts'
import type { Database } from '../database/index.ts'
import { hasAny, patternOf, patternsOf } from '../shared/index.ts'

export { createExportSource, createExportTickets } from './exports.ts'
export { createRetentionStore } from './retention.ts'

/** How many rows are read at a time. */
const pageSize = 200

/**
 * SQL for the keys of the rows with a person's data, and for the records of some keys. `$1` is the tenant, `$2` the person's
 * id, and `$3` the patterns of the person's names, or the keys. `own` marks the person's rows. Other rows count only if they
 * mention the person.
 */
interface Part {
  readonly table: string
  readonly keys: string
  readonly records: string
}
/** How to find a person's data in a table: own rows, and rows of other people that mention the person. */
interface Rows {
  readonly table: string
  /** The columns of the primary key. */
  readonly key: string
  readonly record: string
  readonly within?: string
  readonly own: string
  /** Columns that may mention the person in other people's rows. */
  readonly mentions?: readonly string[]
}
const ofRows = ({ table, key, record, within = 'tenant_id = $1', own, mentions = [] }: Rows): Part => ({
  table,
  keys: `SELECT jsonb_build_object(${key.split(', ').map((column) => `'${column}', ${column}`)}) AS key FROM ${table}
    WHERE ${within} AND (${[own, ...mentions.map((column) => hasAny(`${column}::text`, '$3'))].join(' OR ')})
      AND $1::uuid IS NOT NULL AND $2::text IS NOT NULL AND $3::text[] IS NOT NULL ORDER BY ${key}`,
  // LIMIT makes PostgreSQL find each row by the index.
  records: `SELECT found.* FROM jsonb_populate_recordset(NULL::${table}, $3::jsonb) AS wanted CROSS JOIN LATERAL (
      SELECT ${record} AS record, (${own}) IS TRUE AS own FROM ${table}
      WHERE (${key}) = (${key.replace(/\w+/g, 'wanted.$&')}) LIMIT 1) AS found
    WHERE $1::uuid IS NOT NULL AND $2::text IS NOT NULL`,
})
const row = (table: string, ...without: string[]): string =>
  `to_jsonb(${table}.*)${without.map((column) => ` - '${column}'`).join('')}`
/** Omits the address, which may contain a secret. */
const withoutAddress = `to_jsonb(deliveries.*) #- '{body,url}'`
const withoutSecrets = `body #- '{webhook,secret}' #- '{webhook,formerSecrets}'`
/** Rows of chats have keys of the channel: the person's conversation id, or the person's id in the channel. */
const theirChat = (column: string): string =>
  `EXISTS (SELECT FROM conversations c WHERE c.tenant_id = $1 AND c.person_id = $2::uuid
     AND (position(c.conversation_id in ${column}) > 0 OR position(c.reference -> 'user' ->> 'id' in ${column}) > 0))`
const rowsOfTenant = 'EXISTS (SELECT FROM batches b WHERE b.batch_id = batch_rows.batch_id AND b.tenant_id = $1)'
const theirs = 'person_id = $2::uuid'
const nobodys = 'false'
const anywhere = 'true'
const body = ['body'] as const
const results = ['body', 'results'] as const

/** All tables with personal data: those that {@link forgetPerson} and the erasure of requests and entries change. */
const parts: readonly Part[] = (
  [
    { table: 'requests', key: 'request_id', record: 'body', own: 'requester_id = $2::uuid', mentions: body },
    { table: 'drafts', key: 'request_id', record: 'body', own: theirs, mentions: body },
    {
      table: 'delegations',
      key: 'delegation_id',
      record: 'body',
      own: 'person_id = $2::uuid OR delegate_id = $2::uuid',
    },
    { table: 'conversations', key: 'tenant_id, person_id', record: row('conversations'), own: theirs },
    {
      table: 'bot_state',
      key: 'key',
      record: row('bot_state'),
      within: anywhere,
      ...{ own: `${theirChat('key')} OR ${theirChat('body::text')}`, mentions: body },
    },
    {
      table: 'inbox',
      key: 'channel, conversation_id, activity_id',
      record: row('inbox'),
      within: anywhere,
      own: theirChat('conversation_id'),
      mentions: ['answer'],
    },
    {
      table: 'chat_pace',
      key: 'conversation_id',
      record: row('chat_pace'),
      within: anywhere,
      own: theirChat('conversation_id'),
    },
    { table: 'notices', key: 'tenant_id, person_id, key', record: row('notices'), own: theirs },
    { table: 'digest_choices', key: 'tenant_id, person_id', record: row('digest_choices'), own: theirs },
    {
      table: 'sent_cards',
      key: 'request_id, person_id, key',
      record: row('sent_cards'),
      within: anywhere,
      own: theirs,
    },
    { table: 'batches', key: 'batch_id', record: 'body', own: theirs, mentions: body },
    {
      table: 'batch_rows',
      key: 'batch_id, place',
      record: row('batch_rows'),
      within: rowsOfTenant,
      own: 'EXISTS (SELECT FROM batches b WHERE b.batch_id = batch_rows.batch_id AND b.person_id = $2::uuid)',
      mentions: ['body', 'problem'],
    },
    { table: 'joint_decisions', key: 'decision_id', record: row('joint_decisions'), own: theirs, mentions: results },
    // The key is the caller's secret, but the answer is personal data.
    {
      table: 'idempotency_keys',
      key: 'tenant_id, person_id, route, key',
      within: 'tenant_id = $1::text',
      record: row('idempotency_keys', 'key', 'fingerprint', 'holder'),
      own: 'person_id = $2',
      mentions: ['answer'],
    },
    {
      table: 'export_tickets',
      key: 'hash',
      record: row('export_tickets', 'hash'),
      own: 'issued_by = $2::uuid OR person_id = $2::uuid',
    },
    { table: 'deliveries', key: 'delivery_id', record: withoutAddress, own: nobodys, mentions: body },
    { table: 'templates', key: 'tenant_id, template_id', record: withoutSecrets, own: nobodys, mentions: body },
    {
      table: 'template_versions',
      key: 'tenant_id, template_id, version',
      record: row('template_versions'),
      own: nobodys,
      mentions: ['body', 'changed_by'],
    },
    {
      table: 'audit_log',
      key: 'entry',
      own: 'actor_id = $2',
      mentions: body,
      record: `jsonb_build_object('requestId', request_id, 'entry', seq, 'at', at, 'action', action, 'actorId', actor_id,
       'from', origin, 'words', body, 'hash', hash)`,
    },
  ] satisfies Rows[]
).map(ofRows)

/** A person's data in all tables. */
export function createPersonStore(database: Database): PersonStore {
  return {
    known: (tenantId, idOrAddress) => knownPeople(database, tenantId, idOrAddress),
    namesOf: (tenantId, personId) => storedNames(database, tenantId, personId),
    records: (tenantId, one) => recordsOf(database, tenantId, one),
    async requestsWith(tenantId, one) {
      const { rows } = await database.patiently(() =>
        database.query<{ id: string }>(
          `SELECT request_id AS id FROM requests WHERE tenant_id = $1 AND
             (requester_id = $2::uuid OR ${hasAny('body::text', '$3')}) ORDER BY number`,
          [tenantId, one.id, patternsOf(one)],
        ),
      )
      return rows.map(({ id }) => id)
    },
    async openWith(tenantId, personId) {
      const { rows } = await database.query<{ id: string }>(
        `SELECT request_id AS id FROM requests WHERE tenant_id = $1 AND status = ANY($3) AND requester_id <> $2::uuid
           AND position($2::text in lower(concat(body -> 'owners', body -> 'people', body -> 'details'))) > 0 ORDER BY number LIMIT 50`,
        [tenantId, personId, openStates],
      )
      return rows.map(({ id }) => id)
    },
    forget: (tenantId, one) => database.patiently(() => forgetPerson(database, tenantId, one)),
  }
}

/** Reads each table once for the keys, because no index finds the mentions. Then reads the records page by page. */
async function* recordsOf(database: Database, tenantId: string, one: KnownPerson): AsyncGenerator<PersonRecord[]> {
  const patterns = patternsOf(one)
  for (const part of parts) {
    const { rows: keys } = await database.patiently(() =>
      database.query<{ key: unknown }>(part.keys, [tenantId, one.id, patterns]),
    )
    for (let from = 0; from < keys.length; from += pageSize) {
      const page = JSON.stringify(keys.slice(from, from + pageSize).map(({ key }) => key))
      const { rows } = await database.patiently(() =>
        database.query<{ record: unknown; own: boolean }>(part.records, [tenantId, one.id, page]),
      )
      const found = rows.filter(({ own, record }) => own || mentions(record, one))
      yield found.map(({ record }) => ({ table: part.table, record }))
    }
  }
}

/** Returns all names and sign-in names that are stored with this id, also former names. */
async function storedNames(database: Database, tenantId: string, personId: string): Promise<string[]> {
  const mentioned = ['requests', 'delegations', 'batches', 'audit_log'].map(
    (table) => `SELECT body FROM ${table} WHERE tenant_id = $1 AND position($2 in body::text) > 0`,
  )
  const { rows } = await database.patiently(() =>
    database.query<{ one: unknown }>(
      `SELECT DISTINCT one FROM (${mentioned.join(' UNION ALL ')} UNION ALL
           SELECT changed_by FROM template_versions WHERE tenant_id = $1 AND position($2 in changed_by::text) > 0) AS found,
         jsonb_path_query(found.body, '$.** ? (@.id == $id)', jsonb_build_object('id', $2::text)) AS one`,
      [tenantId, personId],
    ),
  )
  const names = rows.flatMap(({ one }) => peopleIn(one)).filter(({ id }) => id === personId)
  return [...new Set(names.flatMap(({ displayName, userPrincipalName }) => [displayName, userPrincipalName]))]
}

/** Finds people by id or sign-in name, by the newest mention of each. Erased people are found by id only. */
async function knownPeople(database: Database, tenantId: string, idOrAddress: string): Promise<Person[]> {
  const wanted = idOrAddress.toLowerCase()
  if (wanted.length < shortestName) return []
  const mentioning = (table: string, order: string): string =>
    `(SELECT body FROM ${table} WHERE tenant_id = $1 AND lower(body::text) LIKE $2 ORDER BY ${order} DESC LIMIT 20)`
  const { rows } = await database.patiently(() =>
    database.query<{ body: unknown }>(
      `${mentioning('requests', 'number')} UNION ALL ${mentioning('delegations', 'until')}
       UNION ALL ${mentioning('batches', 'updated_at')} UNION ALL ${mentioning('audit_log', 'entry')}
       UNION ALL (SELECT changed_by FROM template_versions WHERE tenant_id = $1 AND lower(changed_by::text) LIKE $2)
       UNION ALL (SELECT jsonb_build_object('id', person_id, 'displayName', '', 'userPrincipalName', '')
         FROM conversations WHERE tenant_id = $1 AND person_id::text = $3)`,
      [tenantId, patternOf(wanted), wanted],
    ),
  )
  const found = rows.flatMap(({ body }) => peopleIn(body)).filter((one) => isMeant(one, wanted))
  // Prefers a mention with a name.
  const best = new Map<string, Person>()
  for (const one of found) if (!best.get(one.id)?.userPrincipalName) best.set(one.id, one)
  return [...best.values()]
}

const isMeant = ({ id, userPrincipalName }: Person, wanted: string): boolean =>
  id === wanted || userPrincipalName.toLowerCase() === wanted

function peopleIn(value: unknown): Person[] {
  if (Array.isArray(value)) return value.flatMap(peopleIn)
  if (typeof value !== 'object' || value === null) return []
  const one = person.safeParse(value)
  return [...(one.success ? [one.data] : []), ...Object.values(value).flatMap(peopleIn)]
}

type Forgotten = Omit<ErasureCounts, 'requests' | 'entries'>

/** Deletes a person's own data and removes the person from copies of other people's data, in one transaction. */
function forgetPerson(database: Database, tenantId: string, person: KnownPerson): Promise<Forgotten> {
  return database.transaction(async () => {
    const values = [tenantId, person.id]
    const remove = async (sql: string): Promise<number> => (await database.query(sql, values)).rowCount
    const own = 'tenant_id = $1 AND person_id = $2'
    // First, while the person's chat is still known.
    const chats = await forgetChat(database, tenantId, person)
    const drafts = await remove(`DELETE FROM drafts WHERE ${own}`)
    const delegations = await remove(
      'DELETE FROM delegations WHERE tenant_id = $1 AND (person_id = $2 OR delegate_id = $2)',
    )
    const batches = await remove(`DELETE FROM batches WHERE ${own}`)
    const copies =
      (await remove(`DELETE FROM notices WHERE ${own}`)) +
      (await remove(`DELETE FROM digest_choices WHERE ${own}`)) +
      (await remove('DELETE FROM sent_cards WHERE $1::uuid IS NOT NULL AND person_id = $2')) +
      (await remove(`DELETE FROM joint_decisions WHERE ${own}`)) +
      (await remove('DELETE FROM idempotency_keys WHERE tenant_id = $1 AND person_id = $2')) +
      (await remove('DELETE FROM export_tickets WHERE tenant_id = $1 AND (issued_by = $2 OR person_id = $2)')) +
      (await redactCopies(database, person))
    return { drafts, delegations, batches, chats, copies }
  })
}

/** Deletes the person's conversation, its recent activities and the state of its dialog. */
async function forgetChat(database: Database, tenantId: string, { id }: Person): Promise<number> {
  const { rows } = await database.query<{ chat: string; account: string | null }>(
    `DELETE FROM conversations WHERE tenant_id = $1 AND person_id = $2
     RETURNING conversation_id AS chat, reference -> 'user' ->> 'id' AS account`,
    [tenantId, id],
  )
  const chats = rows.map(({ chat }) => chat)
  const keys = [...chats, ...rows.flatMap(({ account }) => (account ? [account] : [])), id]
  const gone = [
    await database.query('DELETE FROM inbox WHERE conversation_id = ANY($1)', [chats]),
    await database.query('DELETE FROM chat_pace WHERE conversation_id = ANY($1)', [chats]),
    await database.query(
      `DELETE FROM bot_state WHERE EXISTS (SELECT FROM unnest($1::text[]) AS their (part)
         WHERE position(their.part in key) > 0 OR position(their.part in body::text) > 0)`,
      [keys],
    ),
  ]
  return rows.length + gone.reduce((sum, { rowCount }) => sum + rowCount, 0)
}

/** Columns that copy answers to other people, or the names of authors; `schema`: the limits of the column's texts. */
const copied: readonly { readonly table: string; readonly column: string; readonly schema?: z.ZodType }[] = [
  { table: 'inbox', column: 'answer' },
  { table: 'idempotency_keys', column: 'answer' },
  { table: 'batch_rows', column: 'body', schema: z.union([siteRequest, mailboxRequest.partial({ name: true })]) },
  { table: 'batch_rows', column: 'problem' },
  { table: 'batches', column: 'body' },
  { table: 'joint_decisions', column: 'body' },
  { table: 'joint_decisions', column: 'results' },
  { table: 'drafts', column: 'body' },
  { table: 'deliveries', column: 'body' },
  { table: 'template_versions', column: 'changed_by' },
  { table: 'template_versions', column: 'body' },
  { table: 'bot_state', column: 'body' },
]

async function redactCopies(database: Database, person: KnownPerson): Promise<number> {
  let count = 0
  for (const { table, column, schema = z.unknown() } of copied) {
    const { rows } = await database.query<{ place: string; value: unknown }>(
      `SELECT ctid::text AS place, ${column} AS value FROM ${table}
       WHERE ${hasAny(`${column}::text`, '$1')} FOR UPDATE`,
      [patternsOf(person)],
    )
    for (const { place, value } of rows) {
      const left = JSON.stringify(withoutPersonIn(schema, value, person))
      if (left === JSON.stringify(value)) continue
      await database.query(`UPDATE ${table} SET ${column} = $2 WHERE ctid = $1::tid`, [place, left])
      count += 1
    }
  }
  return count
}
