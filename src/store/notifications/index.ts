/**
 * Facts about chats and cards: conversations, sent cards, the pace of a chat, notices and daily summaries.
 */
import {
  type Conversation,
  type DigestStore,
  type HealthWatch,
  type HealthWatchStore,
  healthWatch,
  type NoticeKey,
  type NoticeStore,
  noticeKey,
  noticeSubject,
  type SentNotice,
} from '../../core/index.ts'
import type { Database } from '../database/index.ts'
import { createSendingRecords } from './sending-records.ts'

export { createChatPace, createConversationStore, createSentCards } from './chats.ts'

/** How long a sent notice is remembered, in days: longer than any job that may still send it. */
const keptDays = 100

/** Notices (cards about no single request) that are being sent or were sent. */
export function createNoticeStore(database: Database): NoticeStore {
  const sending = createSendingRecords(database, 'notices', 'tenant_id')
  return {
    async find({ tenantId, personId, notice }) {
      const { rows } = await database.read<{ state: SentNotice['state']; at: Date; job: string | null }>(
        'SELECT state, updated_at AS at, job_id AS job FROM notices WHERE tenant_id = $1 AND person_id = $2 AND key = $3',
        [tenantId, personId, notice],
      )
      const [row] = rows
      return row && { state: row.state, updatedAt: row.at, ...(row.job !== null && { job: row.job }) }
    },
    async claim({ tenantId, personId, notice }, job) {
      const { rowCount } = await database.query(
        `INSERT INTO notices (tenant_id, person_id, key, state, batch_id, job_id) VALUES ($1, $2, $3, 'sending', $4, $5)
         ON CONFLICT (tenant_id, person_id, key) DO NOTHING`,
        [tenantId, personId, notice, batchOf(notice), job ?? null],
      )
      return rowCount === 1
    },
    takeOver: ({ tenantId, personId, notice }, change) => sending.takeOver([tenantId, personId, notice], change),
    release: ({ tenantId, personId, notice }, job) => sending.release([tenantId, personId, notice], job),
    async put({ tenantId, personId, notice }, state, card) {
      await database.query(
        `INSERT INTO notices (tenant_id, person_id, key, state, batch_id, activity_id, shown)
         VALUES ($1, $2, $3, $4, $5, $6, $7)
         ON CONFLICT (tenant_id, person_id, key) DO UPDATE SET state = excluded.state, updated_at = now(),
           activity_id = excluded.activity_id, shown = excluded.shown`,
        [tenantId, personId, notice, state, batchOf(notice), card?.activityId ?? null, card?.shown ?? null],
      )
    },
    async replaceShown({ tenantId, personId, notice }, { activityId, shown: before }, shown) {
      const { rowCount } = await database.query(
        `UPDATE notices SET shown = $6, updated_at = now()
         WHERE tenant_id = $1 AND person_id = $2 AND key = $3 AND activity_id = $4 AND coalesce(shown, '') = $5`,
        [tenantId, personId, notice, activityId, before, shown],
      )
      return rowCount === 1
    },
    async ofBatch(tenantId, batchId) {
      const { rows } = await database.query<NoticeRow>(
        `SELECT person_id, key, state, activity_id, shown, updated_at FROM notices
         WHERE tenant_id = $1 AND batch_id = $2 ORDER BY updated_at`,
        [tenantId, batchId],
      )
      return rows.map(({ person_id: personId, key, state, activity_id: activityId, shown, updated_at: updatedAt }) => ({
        tenantId,
        personId,
        notice: noticeKey.parse(key),
        ...{ state, updatedAt },
        ...(activityId !== null && { card: { activityId, shown: shown ?? '' } }),
      }))
    },
    async remove({ tenantId, personId, notice }) {
      const values = [tenantId, personId, notice]
      await database.query('DELETE FROM notices WHERE tenant_id = $1 AND person_id = $2 AND key = $3', values)
    },
    async forgetOld(at) {
      const before = new Date(at.getTime() - keptDays * 86_400_000).toISOString()
      await database.query('DELETE FROM notices WHERE updated_at < $1', [before])
    },
  }
}

/** The batch that a notice is about. */
function batchOf(notice: NoticeKey): string | null {
  const subject = noticeSubject(notice)
  return 'batchId' in subject ? subject.batchId : null
}

interface NoticeRow {
  readonly person_id: string
  readonly key: string
  readonly state: SentNotice['state']
  readonly activity_id: string | null
  readonly shown: string | null
  readonly updated_at: Date
}
interface Chat {
  readonly person_id: string
  readonly locale: string
  readonly time_zone: string
}

/** Reads only pending requests, by their index. */
const awaited = `
  SELECT chat.person_id, chat.locale, chat.time_zone FROM conversations chat
  WHERE chat.tenant_id = $1 AND chat.closed_at IS NULL
    AND chat.person_id IN (
      SELECT unnest(waiting_for) FROM requests WHERE tenant_id = $1 AND status = 'pendingApproval')
    AND NOT EXISTS (
      SELECT FROM digest_choices chosen
      WHERE chosen.tenant_id = $1 AND chosen.person_id = chat.person_id AND NOT chosen.is_on)
  ORDER BY chat.person_id`

/** People's choices about the daily digest. */
export function createDigestStore(database: Database): DigestStore {
  return {
    async choose(tenantId, personId, isOn, at) {
      await database.query(
        `INSERT INTO digest_choices (tenant_id, person_id, is_on, chosen_at) VALUES ($1, $2, $3, $4)
         ON CONFLICT (tenant_id, person_id) DO UPDATE SET is_on = excluded.is_on, chosen_at = excluded.chosen_at`,
        [tenantId, personId, isOn, at.toISOString()],
      )
    },
    async without(tenantId, personIds) {
      const { rows } = await database.query<{ person_id: string }>(
        'SELECT person_id FROM digest_choices WHERE tenant_id = $1 AND person_id = ANY($2::uuid[]) AND NOT is_on',
        [tenantId, personIds],
      )
      return new Set(rows.map(({ person_id }) => person_id))
    },
    async awaited(tenantId) {
      const { rows } = await database.query<Chat>(awaited, [tenantId])
      return rows.map(({ person_id: personId, locale, time_zone: timeZone }) => {
        return { personId, locale, timeZone } satisfies Pick<Conversation, 'personId' | 'locale' | 'timeZone'>
      })
    },
  }
}

/**
 * For versions that elect a process for the checks (`holder`, `held_until`). Our rows name no process and have expired.
 */
const nobody = '00000000-0000-0000-0000-000000000000'

/** The result of the health checks: one row, which all processes share. */
export function createHealthWatchStore(database: Database): HealthWatchStore {
  const read = async (tenantId: string, more: '' | ' FOR UPDATE'): Promise<HealthWatch | undefined> => {
    const { rows } = await database.query<{ body: unknown }>(
      `SELECT body FROM health_watch WHERE tenant_id = $1${more}`,
      [tenantId],
    )
    // A result that only another version can read counts as missing.
    return healthWatch.safeParse(rows[0]?.body).data
  }
  return {
    find: (tenantId) => read(tenantId, ''),
    async lock(tenantId) {
      await database.query(
        `INSERT INTO health_watch (tenant_id, holder, held_until) VALUES ($1, $2, now())
         ON CONFLICT (tenant_id) DO NOTHING`,
        [tenantId, nobody],
      )
      return read(tenantId, ' FOR UPDATE')
    },
    async put(tenantId, watch) {
      await database.query(
        `INSERT INTO health_watch (tenant_id, holder, held_until, body) VALUES ($1, $2, now(), $3)
         ON CONFLICT (tenant_id) DO UPDATE SET body = excluded.body`,
        [tenantId, nobody, JSON.stringify(watch)],
      )
    },
  }
}
