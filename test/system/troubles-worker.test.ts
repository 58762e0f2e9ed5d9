import { randomUUID } from 'node:crypto'
import { mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { readConfig } from '../../src/app/config.ts'
import { type App, createApp } from '../../src/app/index.ts'
import { bareEnvironment } from '../support/bare-environment.ts'
import { actionsOf, textOf } from '../support/cards.ts'
import { type Connector, startConnector } from '../support/connector.ts'
import { newDatabaseUrl } from '../support/database.ts'
import { freePort } from '../support/free-port.ts'
import { type ProductProcess, startProduct } from '../support/process.ts'
import { quickWatch } from '../support/quick-watch.ts'
import { startTenant } from '../support/replica-set.ts'
import { templates, tokenFor, withService } from '../support/service.ts'
import { people, scopes, TeamsUser } from '../support/teams-user.ts'
import { seconds, until } from '../support/until.ts'

const titles = (card: object): unknown[] => actionsOf(card as Record<string, unknown>).map(({ title }) => title)
/** What must be seen is seen within a minute. */
const aMinute = 60

describe('two processes over one server, of which one is killed while it is at a job', { timeout: 150_000 }, () => {
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
    // Whoever makes the site gets no answer, once, and so is at it.
    await fetch(`${tenant.variables['LOGIN_URL']}/control/faults`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ operation: 'sharepoint.site.create', kind: 'holdAfterCommit', count: 1 }),
    })
    const token = await tokenFor(tenant.variables['LOGIN_URL'] ?? '', people.kim.id, scopes.collab)
    const asked = await fetch(`${doomedUrl}/collab/v1/spo/`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ displayName: 'Outlives its maker', templateId: templates.openCommunity }),
    })
    expect(asked.status).toBe(202)
    app = await createApp(readConfig({ ...variables, PORT: String(await freePort()) }), { watchTimes: quickWatch })
    sam = new TeamsUser(() => app.url, connector, people.sam)
  }, 60_000)
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

  it('an admin sees it in admin health, its jobs are taken over, and the request is made', async () => {
    await until(async () => (await status()) === 'provisioning' || undefined, 'the request to be at work')
    expect(textOf((await health()).card)).toContain('At work: 2')
    await doomed?.kill()
    const shown = await until(
      async () => {
        const answer = await health()
        return /ended without a goodbye at/.test(textOf(answer.card)) ? answer : undefined
      },
      'the dead process to be seen',
      aMinute,
    )
    expect(textOf(shown.card)).toContain('Processes · Amber')
    expect(textOf(shown.card)).toContain('At work: 1')
    expect(titles(shown.card)).not.toContain('Take over now')
    await until(async () => (await status()) === 'succeeded' || undefined, 'the request to be made', aMinute)
  })

  it('one that stops in order is missed by nobody', async () => {
    const names = async () => (await app.database.query<{ name: string }>('SELECT name FROM processes')).rows
    const before = await names()
    doomed = await start()
    await until(async () => (await names()).length === before.length + 1 || undefined, 'it to say that it is there')
    expect(await doomed.stop()).toBe(0)
    expect(await names()).toEqual(before)
  })
})

describe('a process whose workers stand still', { timeout: 120_000 }, () => {
  const service = withService({}, () => ({ watchTimes: quickWatch }))
  const told = (words: string) =>
    service.connector.sent.filter(({ card }) => card && textOf(card).includes(words)).length

  it('admin health, /readyz and the metrics show it, and no card is sent; a restart fixes it', async () => {
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
    expect([ready.status, await ready.json()]).toMatchObject([503, { checks: { queue: 'is not worked on' } }])
    // A job that is due and that nobody takes. The figures are read anew after 15 s.
    await service.app.queue.enqueue('watchdog', { turn: 1 })
    await until(
      async () =>
        /^quartermaster_queue_oldest_due_job_age_seconds [1-9]/m.test(
          await (await fetch(`${service.app.url}/metrics`)).text(),
        ) || undefined,
      'the metrics to show it',
      aMinute,
    )
    expect(told('Something is broken')).toBe(0)
    await service.restart()
    expect((await fetch(`${service.app.url}/readyz`)).status).toBe(200)
    await seconds(3)
    expect([told('Something is broken'), told('The trouble is over')]).toEqual([0, 0])
  })
})

describe('one process over an embedded store', { timeout: 60_000 }, () => {
  const service = withService()
  const silent = `INSERT INTO processes (process_id, name, version, works, started_at, seen_at)
    VALUES (gen_random_uuid(), 'killed / 1', '0.1.0', true, now() - interval '1 hour', now() - interval '2 minutes')`
  const health = async () => textOf((await service.sam.says('admin health')).card)

  it('one that was killed and left nothing is replaced without a word', async () => {
    await service.app.database.query(silent)
    expect(await health()).toContain('ended without a goodbye')
    await service.restart()
    expect(await health()).toContain('At work: 1')
    expect(await health()).not.toContain('goodbye')
  })

  it('one that was killed at its jobs is told of', async () => {
    await service.app.database.query(silent)
    const { schema } = service.app.database.queueConnection
    // A job that a killed process has begun.
    const person = { v: 1, tenantId: randomUUID(), personId: randomUUID() }
    await service.app.queue.enqueue('realign-approvals', person, { startAfter: new Date(Date.now() + 3_600_000) })
    await service.app.database.query(
      `UPDATE ${schema}.job SET state = 'active', started_on = now() WHERE start_after > now()`,
    )
    await service.restart()
    expect(await health()).toContain('ended without a goodbye')
  })
})
