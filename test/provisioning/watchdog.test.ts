import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { templates, withService } from '../support/service.ts'
import { until } from '../support/until.ts'

const timelineBody = z.object({
  value: z.array(z.object({ action: z.string(), data: z.record(z.string(), z.unknown()).optional() })),
})

describe('the watchdog', () => {
  const service = withService()
  const turnOfWatchdog = async () => {
    const before = await service.app.queue.lastDone('watchdog')
    await service.app.queue.enqueue('watchdog', { turn: Date.now() })
    await until(async () => {
      const last = await service.app.queue.lastDone('watchdog')
      return last !== null && last > (before ?? new Date(0)) ? last : undefined
    }, 'a turn of the watchdog')
  }
  const jobTable = () => `${service.app.database.queueConnection.schema}.job`
  /** Changes jobs of this name when they are enqueued. */
  async function meddling(name: string, what: string, work: () => Promise<void>): Promise<void> {
    const run = (sql: string) => service.app.database.query(sql)
    await run(`create or replace function meddle() returns trigger language plpgsql as
      $$ begin if new.name = '${name}' then ${what}; end if; return new; end $$`)
    await run(`create trigger meddle before insert on ${jobTable()} for each row execute function meddle()`)
    await work()
    await run(`drop trigger meddle on ${jobTable()}`)
  }
  /** Loses jobs of this name when they are enqueued. */
  const losing = (name: string, work: () => Promise<void>) => meddling(name, 'return null', work)
  /** Makes a request this many minutes older. */
  const age = (requestId: string, minutes: number) =>
    service.app.database.query(
      `update requests set updated_at = updated_at - $2 * interval '1 minute', submitted_at = submitted_at - $2 * interval '1 minute',
         body = body || jsonb_build_object(
           'updatedAt', to_char((body ->> 'updatedAt')::timestamptz at time zone 'utc' - $2 * interval '1 minute', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
           'submittedAt', to_char((body ->> 'submittedAt')::timestamptz at time zone 'utc' - $2 * interval '1 minute', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
           'queuedAt', to_char((body ->> 'queuedAt')::timestamptz at time zone 'utc' - $2 * interval '1 minute', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))
       where request_id = $1`,
      [requestId, minutes],
    )
  const ask = async (displayName: string, templateId: string, metadata = {}) =>
    String(
      (await service.rest('kim', 'POST', '/collab/v1/spo/', { displayName, templateId, metadata })).body['requestId'],
    )
  const timeline = async (requestId: string) =>
    timelineBody.parse((await service.rest('sam', 'GET', `/requests/v1/${requestId}/timeline`)).body).value
  const overdue = async (requestId: string) => (await timeline(requestId)).filter(({ action }) => action === 'overdue')
  const stuckCards = () => service.sam.chat().filter(({ card }) => JSON.stringify(card ?? {}).includes('is stuck'))

  it('completes a request whose job was lost, and notifies the admins once', async () => {
    await service.sam.says('help')
    let requestId = ''
    await losing('provision', async () => {
      requestId = await ask('Forgotten', templates.openCommunity)
    })
    await turnOfWatchdog()
    expect(await overdue(requestId)).toEqual([])
    await losing('provision', async () => {
      // The schedule of the service also runs the watchdog, so its job has to be lost too.
      await age(requestId, 6)
      await Promise.all([turnOfWatchdog(), turnOfWatchdog()])
      await turnOfWatchdog()
    })
    // The new job was lost too, so nothing changes within the same deadline, and there is one notification.
    expect(await overdue(requestId)).toMatchObject([{ data: { status: 'queued' } }])
    await until(() => stuckCards().length === 1 || undefined, 'the admins to be notified')
    await service.app.database.query(`update audit_log set at = at - interval '6 minutes' where action = 'overdue'`)
    await age(requestId, 6)
    await turnOfWatchdog()
    await service.kim.says('help')
    await until(
      async () =>
        (await service.rest('kim', 'GET', `/requests/v1/${requestId}`)).body['status'] === 'succeeded' || undefined,
      'the site',
    )
    expect(await overdue(requestId)).toHaveLength(2)
  })

  it('does nothing for a request whose job waits in a long queue', async () => {
    const earlier = stuckCards().length
    let requestId = ''
    await meddling('provision', `new.start_after := now() + interval '1 hour'`, async () => {
      requestId = await ask('In line', templates.openCommunity)
    })
    await age(requestId, 6)
    await turnOfWatchdog()
    expect(await overdue(requestId)).toEqual([])
    expect(stuckCards()).toHaveLength(earlier)
    const { rows } = await service.app.database.query(
      `update ${jobTable()} set start_after = now() where name = 'provision' and data ->> 'requestId' = $1 returning id`,
      [requestId],
    )
    expect(rows).toHaveLength(1)
  })

  it('notifies the admins once about a request that nobody decides', async () => {
    const earlier = stuckCards().length
    const requestId = await ask('Undecided', templates.projectSite, { costCentre: '4711', audience: 'internal' })
    await age(requestId, 4 * 24 * 60)
    await turnOfWatchdog()
    await turnOfWatchdog()
    await until(() => stuckCards().length === earlier + 1 || undefined, 'the admins to be notified')
    expect(await overdue(requestId)).toMatchObject([{ data: { status: 'pendingApproval' } }])
  })

  it('handles the other requests if one cannot be read', async () => {
    const lost: string[] = []
    await losing('provision', async () => {
      for (const name of ['Unreadable', 'Behind it']) lost.push(await ask(name, templates.openCommunity))
    })
    const [unreadable = '', behind = ''] = lost
    for (const requestId of lost) await age(requestId, 6)
    const { rows } = await service.app.database.query<{ body: unknown }>(
      'update requests r set body = $2 from requests o where r.request_id = $1 and o.request_id = $1 returning o.body',
      [unreadable, '{}'],
    )
    await turnOfWatchdog()
    expect(await overdue(behind)).toMatchObject([{ data: { status: 'queued' } }])
    await service.app.database.query('update requests set body = $2 where request_id = $1', [
      unreadable,
      JSON.stringify(rows[0]?.body),
    ])
    await turnOfWatchdog()
    expect(await overdue(unreadable)).toHaveLength(1)
  })

  it('stays healthy on the health card', async () => {
    const { card } = await service.sam.says('admin health')
    expect(JSON.stringify(card)).toContain('Checked for stuck requests')
  })
})
