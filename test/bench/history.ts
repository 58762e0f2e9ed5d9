import type { Database } from '../../src/store/index.ts'
import { contosoTenant, people } from '../support/teams-user.ts'
import type { Sample, SampleName } from './samples.ts'

/** The number of the newest stored request. Larger stores have a longer past and the same present. */
export const newest = 5_000_000
/** Number of requests that one statement inserts. */
const portion = 25_000
/** Number of concurrent statements on a server. The embedded store has one session. */
const serverLanes = 3

/**
 * The samples of the newest thousand requests, the same for every size of the store; `n` counts from the newest, 1. The
 * past has only finished requests, except for one in 200 that failed and was not dismissed.
 */
const spread = `CASE
  WHEN n <= 60 THEN 'pending'
  WHEN n <= 100 OR n % 200 = 0 THEN 'failed'
  WHEN n % 25 = 1 THEN 'rejected'
  WHEN n % 5 = 2 THEN 'room'
  WHEN n % 2 = 0 THEN 'workingGroup'
  ELSE 'projectSite' END`
/** Kim has 150 requests in the newest thousand and one in 50 before. The others belong to 5,000 people. */
const ofKim = '(n <= 1000 AND n % 20 < 3) OR (n > 1000 AND n % 50 = 0)'
/** The newest thousand requests are two minutes apart. A million requests go back some five years. */
const age = `CASE WHEN n <= 1000 THEN n * interval '2 minutes' ELSE n * interval '150 seconds' - interval '8 hours' END`
const uuidOf = (text: string): string => `overlay(overlay(md5(${text}) PLACING '4' FROM 13) PLACING '8' FROM 17)::uuid`
const iso = (moment: string): string => `to_char(${moment} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`

/** Each inserted request: its id, number, sample, requester and time. */
const wanted = `
  SELECT n, ${uuidOf(`'request' || n`)} AS request_id, $3::int - n AS number, ${spread} AS sample,
    now() - (${age}) AS at, ${ofKim} AS of_kim, ${uuidOf(`'person' || n % 5000`)} AS person_id,
    'Person ' || n % 5000 AS person
  FROM generate_series($1::int, $2::int) AS n`

const fillRequests = `
  WITH samples AS (SELECT * FROM jsonb_to_recordset($4::jsonb) AS s (name text, body jsonb)), wanted AS (${wanted})
  INSERT INTO requests
    (request_id, tenant_id, number, kind, status, requester_id, waiting_for, version, submitted_at, updated_at, body)
  SELECT request_id, $5::uuid, number, body ->> 'kind', body ->> 'status',
    CASE WHEN of_kim THEN $6::uuid ELSE person_id END, CASE sample WHEN 'pending' THEN $7::uuid[] ELSE '{}' END,
    (body ->> 'version')::int, at, at,
    body || jsonb_build_object('requestId', request_id, 'number', number, 'submittedAt', ${iso('at')},
      'updatedAt', ${iso('at')}, 'reason', 'For ' || person || ', wish ' || n, 'requester', CASE WHEN of_kim
        THEN body -> 'requester'
        ELSE jsonb_build_object('id', person_id, 'displayName', person,
          'userPrincipalName', replace(person, ' ', '.') || '@contoso.example') END)
  FROM wanted JOIN samples ON samples.name = sample ORDER BY number`

const fillTimelines = `
  WITH samples AS (SELECT * FROM jsonb_to_recordset($4::jsonb) AS s (name text, place int, body jsonb)),
    wanted AS (${wanted})
  INSERT INTO audit_log (tenant_id, request_id, at, action, body)
  SELECT $5::uuid, request_id, at, body ->> 'action',
    body || jsonb_build_object('requestId', request_id, 'at', ${iso('at')})
  FROM wanted JOIN samples ON samples.name = sample ORDER BY number, place`

/**
 * Replaces all requests of a migrated store by `count` copies of the samples that differ in requester, time and number.
 */
export async function fillHistory(
  database: Database,
  samples: Readonly<Record<SampleName, Sample>>,
  count: number,
): Promise<void> {
  const entries = Object.entries(samples)
  const bodies = JSON.stringify(entries.map(([name, { request }]) => ({ name, body: request })))
  const lines = JSON.stringify(
    entries.flatMap(([name, { timeline }]) => timeline.map((body, place) => ({ name, place, body }))),
  )
  const approvers = [people.dana.id, people.omar.id]
  await database.patiently(async () => {
    await database.query('TRUNCATE requests, audit_log, reservations, sent_cards, deliveries')
    // Inserts the oldest requests first, as in production.
    let last = count
    const lane = async (): Promise<void> => {
      while (last > 0) {
        const range = [Math.max(1, last - portion + 1), last, newest]
        last -= portion
        await database.query(fillRequests, [...range, bodies, contosoTenant, people.kim.id, approvers])
        await database.query(fillTimelines, [...range, lines, contosoTenant])
      }
    }
    await Promise.all(Array.from({ length: database.engine === 'server' ? serverLanes : 1 }, lane))
    await database.query('UPDATE counters SET last_number = $1', [newest])
    for (const table of ['requests', 'audit_log']) await database.query(`VACUUM (ANALYZE) ${table}`)
  })
}

/** Returns ids of requests that are distributed evenly over the whole past. */
export async function idsThroughout(database: Database, count: number, size: number): Promise<string[]> {
  const { rows } = await database.query<{ request_id: string }>(
    `SELECT ${uuidOf(`'request' || n`)} AS request_id
     FROM generate_series(1, $1::int) AS i, LATERAL (SELECT 1 + (i::bigint * 7919 * 104729) % $2::int AS n) AS place`,
    [count, size],
  )
  return rows.map((row) => row.request_id)
}
