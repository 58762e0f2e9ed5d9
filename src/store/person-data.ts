import { openStates, type Person, type PersonRecord, type PersonStore, person } from '../core/index.ts'
import type { Database } from './database.ts'
import { forgetPerson } from './person-forget.ts'
import { hasAny, patterns } from './person-names.ts'

/** How many rows are read at a time. */
const pageSize = 200

/** A text of SQL in which `$1` is the tenant, `$2` the person's id, and `$3` the last row of the page before. */
interface Part {
  readonly table: string
  readonly sql: string
}
const names = `position($2::text in body::text) > 0`
const ofRows = (table: string, key: string, record: string, where: string): Part => ({
  table,
  sql: `SELECT ${key}::text AS key, ${record} AS record FROM ${table}
    WHERE ${where} AND $1::uuid IS NOT NULL AND $2::text IS NOT NULL AND ($3::text = '' OR ${key}::text > $3) ORDER BY ${key}::text`,
})
const row = (table: string, ...without: string[]): string =>
  `to_jsonb(${table}.*)${without.map((column) => ` - '${column}'`).join('')}`
/** What stands in an address may be a secret as well. */
const withoutAddress = `to_jsonb(deliveries.*) #- '{body,url}'`
const withoutSecrets = `body #- '{webhook,secret}' #- '{webhook,formerSecrets}'`
/** Chats have keys of the channel's own: the person's conversation, and their id there. */
const theirChat = (column: string): string =>
  `EXISTS (SELECT FROM conversations c WHERE c.tenant_id = $1 AND c.person_id = $2::uuid
     AND position(c.conversation_id in ${column}) > 0)`

/** Every table that holds something of a person. */
const parts: readonly Part[] = [
  ofRows('requests', 'request_id', 'body', `tenant_id = $1 AND (requester_id = $2::uuid OR ${names})`),
  ofRows('drafts', 'request_id', 'body', `tenant_id = $1 AND (person_id = $2::uuid OR ${names})`),
  ofRows('delegations', 'delegation_id', 'body', `tenant_id = $1 AND (person_id = $2::uuid OR delegate_id = $2::uuid)`),
  ofRows('conversations', 'person_id', row('conversations'), 'tenant_id = $1 AND person_id = $2::uuid'),
  ofRows('bot_state', 'key', row('bot_state'), `(${theirChat('key')} OR ${names})`),
  ofRows('inbox', 'activity_id', row('inbox'), theirChat('conversation_id')),
  ofRows('chat_pace', 'conversation_id', row('chat_pace'), theirChat('conversation_id')),
  ofRows('notices', 'key', row('notices'), 'tenant_id = $1 AND person_id = $2::uuid'),
  ofRows('digest_choices', 'person_id', row('digest_choices'), 'tenant_id = $1 AND person_id = $2::uuid'),
  ofRows('sent_cards', '(request_id, key)', row('sent_cards'), 'person_id = $2::uuid'),
  ofRows('batches', 'batch_id', 'body', 'tenant_id = $1 AND person_id = $2::uuid'),
  ofRows(
    'batch_rows',
    '(batch_id, place)',
    row('batch_rows'),
    'EXISTS (SELECT FROM batches b WHERE b.batch_id = batch_rows.batch_id AND b.tenant_id = $1 AND b.person_id = $2::uuid)',
  ),
  // A key is the caller's secret; what was answered is about them.
  ofRows(
    'idempotency_keys',
    '(route, request_id, key)',
    row('idempotency_keys', 'key', 'fingerprint', 'holder'),
    'tenant_id = $1::text AND person_id = $2',
  ),
  ofRows(
    'export_tickets',
    'hash',
    row('export_tickets', 'hash'),
    'tenant_id = $1 AND (issued_by = $2::uuid OR person_id = $2::uuid)',
  ),
  ofRows('deliveries', 'delivery_id', withoutAddress, `tenant_id = $1 AND ${names}`),
  ofRows('templates', 'template_id', withoutSecrets, `tenant_id = $1 AND ${names}`),
  ofRows(
    'template_versions',
    '(template_id, version)',
    row('template_versions'),
    `tenant_id = $1 AND (${names} OR changed_by ->> 'id' = $2)`,
  ),
  ofRows(
    'audit_log',
    `to_char(entry, 'FM0000000000000000000')`,
    `jsonb_build_object('requestId', request_id, 'entry', seq, 'at', at, 'action', action, 'actorId', actor_id,
       'from', origin, 'words', body, 'hash', hash)`,
    `tenant_id = $1 AND (actor_id = $2 OR ${names})`,
  ),
]

/** What all tables together hold of a person. */
export function createPersonStore(database: Database): PersonStore {
  return {
    known: (tenantId, idOrAddress) => knownPeople(database, tenantId, idOrAddress),
    records: (tenantId, personId) => recordsOf(database, tenantId, personId),
    async requestsWith(tenantId, { id, displayName, userPrincipalName }) {
      const { rows } = await database.patiently(() =>
        database.query<{ id: string }>(
          `SELECT request_id AS id FROM requests WHERE tenant_id = $1 AND
             (requester_id = $2::uuid OR ${names} OR ${hasAny('body::text', '$3')}) ORDER BY number`,
          [tenantId, id, patterns([displayName, userPrincipalName])],
        ),
      )
      return rows.map(({ id }) => id)
    },
    async openWith(tenantId, personId) {
      const { rows } = await database.query<{ id: string }>(
        `SELECT request_id AS id FROM requests WHERE tenant_id = $1 AND status = ANY($3) AND requester_id <> $2::uuid
           AND position($2::text in concat(body -> 'owners', body -> 'people', body -> 'details')) > 0 ORDER BY number LIMIT 50`,
        [tenantId, personId, openStates],
      )
      return rows.map(({ id }) => id)
    },
    forget: (tenantId, one) => database.patiently(() => forgetPerson(database, tenantId, one)),
  }
}

async function* recordsOf(database: Database, tenantId: string, personId: string): AsyncGenerator<PersonRecord[]> {
  for (const { table, sql } of parts) {
    let after = ''
    for (;;) {
      const { rows } = await database.patiently(() =>
        database.query<{ key: string; record: unknown }>(`${sql} LIMIT ${pageSize}`, [tenantId, personId, after]),
      )
      const last = rows.at(-1)
      if (!last) break
      yield rows.map(({ record }) => ({ table, record }))
      after = last.key
      if (rows.length < pageSize) break
    }
  }
}

/** Everybody whom the store names so, the newest mention of each. Who was erased is known by id alone. */
async function knownPeople(database: Database, tenantId: string, idOrAddress: string): Promise<Person[]> {
  const wanted = idOrAddress.toLowerCase()
  const [pattern] = patterns([wanted])
  if (pattern === undefined) return []
  const mentioning = (table: string, order: string): string =>
    `(SELECT body FROM ${table} WHERE tenant_id = $1 AND lower(body::text) LIKE $2 ORDER BY ${order} DESC LIMIT 20)`
  const { rows } = await database.patiently(() =>
    database.query<{ body: unknown }>(
      `${mentioning('requests', 'number')} UNION ALL ${mentioning('delegations', 'until')}
       UNION ALL ${mentioning('batches', 'updated_at')} UNION ALL ${mentioning('audit_log', 'entry')}
       UNION ALL (SELECT changed_by FROM template_versions WHERE tenant_id = $1 AND lower(changed_by::text) LIKE $2)
       UNION ALL (SELECT jsonb_build_object('id', person_id, 'displayName', '', 'userPrincipalName', '')
         FROM conversations WHERE tenant_id = $1 AND person_id::text = $3)`,
      [tenantId, pattern, wanted],
    ),
  )
  const found = rows.flatMap(({ body }) => peopleIn(body)).filter((one) => isMeant(one, wanted))
  // A mention with a name tells more than one without.
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
