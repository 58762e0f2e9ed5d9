import { randomUUID } from 'node:crypto'
import { mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { readConfig } from '../../src/app/config.ts'
import { freePort } from '../../src/app/free-port.ts'
import { type App, createApp } from '../../src/app/index.ts'
import { bareEnvironment } from '../support/bare-environment.ts'
import { actionsOf, textOf } from '../support/cards.ts'
import { type Connector, startConnector } from '../support/connector.ts'
import { newDatabaseUrl } from '../support/database.ts'
import { type ProductProcess, startProduct } from '../support/process.ts'
import { quickWatch } from '../support/quick-watch.ts'
import { startTenant } from '../support/replica-set.ts'
import { templates, withService } from '../support/service.ts'
import { people, scopes, TeamsUser } from '../support/teams-user.ts'
import { control, tokenFor } from '../support/tenant-control.ts'
import { seconds, until } from '../support/until.ts'

const titles = (card: object): unknown[] => actionsOf(card as Record<string, unknown>).map(({ title }) => title)
/** Maximum time until the trouble is visible. */
const aMinute = 60

describe('two processes with one server after a kill of one during a job', () => {
  let connector: Connector
  let tenant: Awaited<ReturnType<typeof startTenant>>
  let doomed: ProductProcess | undefined
  let app: App
  let sam: TeamsUser
  let start: () => Promise<ProductProcess> = () => Promise.reject(new Error('there is no database yet'))

  const variablesOf = (folder: string, databaseUrl: string) => ({
    ...{ DATA_DIR: folder, LOG_LEVEL: process.env['TEST_LOG_LEVEL'] ?? 'fatal', PLAYGROUND: 'off' },
    ...{ ...tenant.variables, DATABASE_URL: databaseUrl, FOLLOW_UP_WEBHOOK: 'off', FOLLOW_UP_FIRST_SECONDS: '1' },
  })
  beforeAll(async () => {
    const folder = mkdtempSync(join(inject('runFolder'), 'worker-'))
    connector = await startConnector()
    const env = { ...bareEnvironment, DATA_DIR: folder, LOG_LEVEL: 'fatal', SIMULATOR_DIRECTORY_SECONDS: '0' }
    tenant = await startTenant(folder, { ...env, SIMULATOR_PORT: String(await freePort()) })
    const databaseUrl = await newDatabaseUrl()
    const variables = variablesOf(folder, databaseUrl)
    const port = String(await freePort())
    const doomedUrl = `http://127.0.0.1:${port}`
    start = () =>
      startProduct('main.ts', { cwd: folder, variables: { ...variables, PORT: port }, up: /^Quartermaster answers/ })
    doomed = await start()
    // The process that creates the site receives no answer once, so it is busy.
    const tenantUrl = tenant.variables['LOGIN_URL'] ?? ''
    const hold = { operation: 'sharepoint.site.create', kind: 'holdAfterCommit', count: 1 }
    await control(tenantUrl, 'POST', 'faults', hold)
    const token = await tokenFor(tenantUrl, people.kim.id, scopes.collab)
    const accepted = await fetch(`${doomedUrl}/collab/v1/spo/`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ displayName: 'Outlives its maker', templateId: templates.openCommunity }),
    })
    expect(accepted.status).toBe(202)
    app = await createApp(readConfig({ ...variables, PORT: String(await freePort()) }), { watchTimes: quickWatch })
    sam = new TeamsUser(() => app.url, connector, people.sam)
  })
  afterAll(async () => {
    await doomed?.kill()
    await app?.close()
    await tenant?.stop()
    await connector?.close()
  })
  const status = async () => {
    const { rows } = await app.database.query<{ status: string }>('SELECT status FROM requests')
    return rows[0]?.status
  }
  const health = async () => sam.says('admin health')

  it('are visible to an admin in admin health, the other takes over the jobs, and the site is created', async () => {
    await until(async () => (await status()) === 'provisioning' || undefined, 'the request to be at work')
    expect(textOf((await health()).card)).toContain('Running: 2')
    await doomed?.kill()
    const shown = await until(
      async () => {
        const answer = await health()
        return /stopped unexpectedly at/.test(textOf(answer.card)) ? answer : undefined
      },
      'the dead process to be seen',
      aMinute,
    )
    expect(textOf(shown.card)).toContain('Processes · Amber')
    expect(textOf(shown.card)).toContain('Running: 1')
    expect(titles(shown.card)).not.toContain('Take over now')
    await until(async () => (await status()) === 'succeeded' || undefined, 'the request to be made', aMinute)
  })

  it('report nothing when one stops in order', async () => {
    const names = async () => (await app.database.query<{ name: string }>('SELECT name FROM processes')).rows
    const before = await names()
    doomed = await start()
    await until(async () => (await names()).length === before.length + 1 || undefined, 'it to say that it is there')
    expect(await doomed.stop()).toBe(0)
    expect(await names()).toEqual(before)
  })
})

describe('a process with stuck workers', () => {
  const service = withService({}, () => ({ watchTimes: quickWatch }))
  const countOf = (words: string) =>
    service.connector.sent.filter(({ card }) => card && textOf(card).includes(words)).length

  it('is visible in admin health, /readyz and the metrics, no card is sent, and a restart fixes it', async () => {
    const { sam } = service
    await sam.installs()
    await seconds(2)
    await service.app.queue.stop(0)
    await until(
      async () => /No process takes jobs/.test(textOf((await sam.says('admin health')).card)) || undefined,
      'it to be seen',
      aMinute,
    )
    const ready = await fetch(`${service.app.url}/readyz`)
    expect([ready.status, await ready.json()]).toMatchObject([503, { checks: { queue: 'is not running' } }])
    // A due job that no worker claims. The figures are updated after 15 s.
    await service.app.queue.enqueue('watchdog', { turn: 1 })
    await until(
      async () =>
        /^quartermaster_queue_oldest_due_job_age_seconds [1-9]/m.test(
          await (await fetch(`${service.app.url}/metrics`)).text(),
        ) || undefined,
      'the metrics to show it',
      aMinute,
    )
    expect(countOf('Something is broken')).toBe(0)
    await service.restart()
    expect((await fetch(`${service.app.url}/readyz`)).status).toBe(200)
    await seconds(3)
    expect([countOf('Something is broken'), countOf('Everything works again')]).toEqual([0, 0])
  })
})

describe('one process with an embedded store', () => {
  const service = withService()
  const silent = `INSERT INTO processes (process_id, name, version, works, started_at, seen_at)
    VALUES (gen_random_uuid(), 'killed / 1', '0.1.0', true, now() - interval '1 hour', now() - interval '2 minutes')`
  const health = async () => textOf((await service.sam.says('admin health')).card)

  it('that was killed without jobs is replaced without a message', async () => {
    await service.app.database.query(silent)
    expect(await health()).toContain('stopped unexpectedly')
    await service.restart()
    expect(await health()).toContain('Running: 1')
    expect(await health()).not.toContain('unexpectedly')
  })

  it('that was killed during jobs is reported', async () => {
    await service.app.database.query(silent)
    const { schema } = service.app.database.queueConnection
    // A job that a killed process has started.
    const person = { v: 1, tenantId: randomUUID(), personId: randomUUID() }
    await service.app.queue.enqueue('realign-approvals', person, { startAfter: new Date(Date.now() + 3_600_000) })
    await service.app.database.query(
      `UPDATE ${schema}.job SET state = 'active', started_on = now() WHERE start_after > now()`,
    )
    await service.restart()
    expect(await health()).toContain('stopped unexpectedly')
  })
})
