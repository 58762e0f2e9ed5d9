/**
 * Shared by several capabilities: claimed activities and bot state, idempotency keys, token buckets, the service’s own
 * settings, and SQL that finds a person. Data of a single capability is in its room.
 */
import {
  type BotStateStore,
  type ClaimedActivity,
  type Inbox,
  type KnownPerson,
  namesOf,
  type TokenBuckets,
} from '../../core/index.ts'
import type { Database } from '../database/index.ts'

export { createIdempotencyKeys } from './idempotency-keys.ts'

/** How long the state of an unused conversation is kept, in days. */
const keptDays = 90

/** botbuilder's state, stored so that conversations survive a restart. */
export function createBotState(database: Database): BotStateStore {
  return {
    async read(keys) {
      const { rows } = await database.read<{ key: string; body: unknown }>(
        'SELECT key, body FROM bot_state WHERE key = ANY($1)',
        [keys],
      )
      return Object.fromEntries(rows.map(({ key, body }) => [key, body]))
    },
    async write(changes) {
      for (const [key, body] of Object.entries(changes)) {
        await database.query(
          `INSERT INTO bot_state (key, body) VALUES ($1, $2) ON CONFLICT (key) DO UPDATE SET body = excluded.body, updated_at = now()`,
          [key, JSON.stringify(body)],
        )
      }
    },
    async delete(keys) {
      await database.query('DELETE FROM bot_state WHERE key = ANY($1)', [keys])
    },
    async forgetOld(at) {
      await database.query('DELETE FROM bot_state WHERE updated_at < $1::timestamptz - make_interval(days => $2)', [
        at,
        keptDays,
      ])
    },
  }
}

/** How long a received activity is remembered, in hours. Channels repeat activities within minutes. */
const rememberedHours = 48

/** A claim without an answer after this time belongs to a dead process, and the next delivery is accepted. Seconds. */
const abandonedSeconds = 30

/** Received activities, so that a repeated delivery has its effect once (reliability F7). */
export function createInbox(database: Database): Inbox {
  // Every turn claims an activity. A crash that loses the last claims only repeats activities, which drafts, versions and
  // decisions tolerate, so these commits do not wait for the disk. All other commits do.
  const quick = `WITH quick AS (SELECT set_config('synchronous_commit', 'off', true))`
  return {
    async claim({ channel, conversationId, activityId }, sender) {
      const { rows } = await database.query<ClaimedActivity>(
        `${quick}, claimed AS (
           INSERT INTO inbox (channel, conversation_id, activity_id) SELECT $1, $2, $3 FROM quick
           ON CONFLICT (channel, conversation_id, activity_id) DO UPDATE SET received_at = now()
           WHERE inbox.answer IS NULL AND inbox.received_at < now() - make_interval(secs => $4) RETURNING 1)
         SELECT EXISTS (SELECT FROM claimed) AS "isFirst",
           EXISTS (SELECT FROM conversations WHERE tenant_id = $5 AND person_id = $6 AND closed_why IS NOT NULL)
             AS "isChatClosed"`,
        [
          ...[channel, conversationId, activityId, abandonedSeconds],
          ...[sender?.tenantId ?? null, sender?.personId ?? null],
        ],
      )
      const [claimed] = rows
      if (!claimed) throw new Error('the store returned no claim')
      return claimed
    },
    async answer({ channel, conversationId, activityId }) {
      const { rows } = await database.read<{ answer: unknown }>(
        'SELECT answer FROM inbox WHERE channel = $1 AND conversation_id = $2 AND activity_id = $3',
        [channel, conversationId, activityId],
      )
      return rows[0]?.answer ?? undefined
    },
    async remember({ channel, conversationId, activityId }, answer) {
      await database.query(
        `${quick}
         UPDATE inbox SET answer = $4 FROM quick WHERE channel = $1 AND conversation_id = $2 AND activity_id = $3`,
        [channel, conversationId, activityId, JSON.stringify(answer)],
      )
    },
    async release({ channel, conversationId, activityId }) {
      await database.query('DELETE FROM inbox WHERE channel = $1 AND conversation_id = $2 AND activity_id = $3', [
        channel,
        conversationId,
        activityId,
      ])
    },
    async forgetOld() {
      await database.query(`DELETE FROM inbox WHERE received_at < now() - make_interval(hours => $1)`, [
        rememberedHours,
      ])
    },
  }
}

/**
 * Returns a value that the service creates once. `make` runs only without a stored value; the first stored value wins.
 */
export async function ownSetting(database: Database, name: string, make: () => string): Promise<string> {
  const known = await find(database, name)
  if (known !== undefined) return known
  await database.query('INSERT INTO settings (name, value) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING', [
    name,
    make(),
  ])
  const stored = await find(database, name)
  if (stored === undefined) throw new Error(`setting ${name} could not be created`)
  return stored
}

async function find(database: Database, name: string): Promise<string | undefined> {
  const { rows } = await database.query<{ value: string }>('SELECT value FROM settings WHERE name = $1', [name])
  return rows[0]?.value
}

/**
 * Returns LIKE patterns for a person's id and names inside JSON. They match every row that may mention the person, and
 * a few more, because other text between the parts of a name also matches. Non-ASCII letters match in both cases and in
 * both forms of Unicode, because the store may not fold them.
 */
export const patternsOf = (person: KnownPerson): string[] => [
  ...new Set([person.id, ...namesOf(person).flatMap(formsOf)].map(patternOf)),
]

/** Returns the LIKE pattern for one text inside JSON. */
export const patternOf = (name: string): string => {
  const parts = name.split(/\s+|(?<=@)|(?=@)/u).filter((part) => part !== '' && part !== '@')
  const inJson = parts.map((part) =>
    JSON.stringify(part)
      .slice(1, -1)
      .replace(/[\\%_]/g, '\\$&'),
  )
  return `%${inJson.join('%')}%`
}

const formsOf = (name: string): string[] =>
  [name, name.toLowerCase(), name.toUpperCase()].flatMap((one) => [one.normalize('NFC'), one.normalize('NFD')])

/** Builds the SQL condition that a text matches one of these patterns, without case. */
export const hasAny = (text: string, parameter: string): string =>
  `lower(${text}) LIKE ANY (SELECT lower(one) FROM unnest(${parameter}::text[]) AS these (one))`

interface BucketRow {
  readonly left_over: number
  readonly drawn: boolean
}

/**
 * Token buckets that all processes share: one statement for each call, for any number of buckets. Uses the
 * database's clock, because the clocks of processes differ. Only tests pass another time.
 */
export function createTokenBuckets(database: Database, now: () => Date | null = () => null): TokenBuckets {
  return {
    async draw(rules) {
      if (rules.length === 0) return { taken: true, tokens: [] }
      const { rows } = await database.query<BucketRow>(
        'SELECT * FROM draw_tokens($1, $2, $3, $4, coalesce($5::timestamptz, clock_timestamp()))',
        [
          rules.map(({ key }) => key),
          rules.map(({ capacity }) => capacity),
          rules.map((one) => one.perSecond),
          rules.map(({ cost = 1 }) => cost),
          now(),
        ],
      )
      return { taken: rows.every(({ drawn }) => drawn), tokens: rows.map((row) => row.left_over) }
    },
    async forgetFull() {
      await database.query('DELETE FROM token_buckets WHERE full_at <= coalesce($1::timestamptz, now())', [now()])
    },
  }
}
