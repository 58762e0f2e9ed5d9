import { mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import strings from '../../cards/strings/en.json' with { type: 'json' }
import { type App, createApp } from '../../src/app.ts'
import { readConfig } from '../../src/config.ts'
import { bareEnvironment } from '../support/bare-environment.ts'
import { actionsOf, textOf } from '../support/cards.ts'
import { type Connector, startConnector } from '../support/connector.ts'
import { newDatabaseUrl } from '../support/database.ts'
import { freePort } from '../support/free-port.ts'
import { type ProductProcess, startProduct } from '../support/process.ts'
import { quickWatch } from '../support/quick-watch.ts'
import { startTenant } from '../support/replica-set.ts'
import { templates, tokenFor, withService } from '../support/service.ts'
import { people, TeamsUser } from '../support/teams-user.ts'
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
  let kim: TeamsUser
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
    const token = await tokenFor(
      tenant.variables['LOGIN_URL'] ?? '',
      people.kim.id,
      `${doomedUrl}/collab/App.ReadWrite.All`,
    )
    const asked = await fetch(`${doomedUrl}/collab/v1/spo/`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ displayName: 'Outlives its maker', templateId: templates.openCommunity }),
    })
    expect(asked.status).toBe(202)
    app = await createApp(readConfig({ ...variables, PORT: String(await freePort()) }), { watchTimes: quickWatch })
    sam = new TeamsUser(() => app.url, connector, people.sam)
    kim = new TeamsUser(() => app.url, connector, people.kim)
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

  it('an admin sees it in admin health, the button takes its jobs over, and the request is made', async () => {
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
    const asked = await sam.clicks(shown, 'Take over now')
    expect(textOf(asked.card ?? {})).toContain('This process has ended without a goodbye')
    const question = { id: shown.id, card: asked.card }
    const [done, again] = [await sam.clicks(question, 'Take over now'), await sam.clicks(question, 'Take over now')]
    for (const { card } of [done, again]) {
      expect(textOf(card ?? {})).toContain('At work: 1')
      expect(titles(card ?? {})).not.toContain('Take over now')
    }
    await until(async () => (await status()) === 'succeeded' || undefined, 'the request to be made', aMinute)
    const { rows } = await app.database.query<{ action: string }>(
      `SELECT body->>'action' AS action FROM audit_log WHERE body->>'action' = 'jobs-taken-over'`,
    )
    expect(rows).toHaveLength(1)
  })

  it('one that stops in order is missed by nobody', async () => {
    const names = async () => (await app.database.query<{ name: string }>('SELECT name FROM processes')).rows
    const before = await names()
    doomed = await start()
    await until(async () => (await names()).length === before.length + 1 || undefined, 'it to say that it is there')
    expect(await doomed.stop()).toBe(0)
    expect(await names()).toEqual(before)
  })

  it('refuses everybody who is no admin, shows them nothing and takes no job over', async () => {
    await kim.installs()
    // A killed process that was at a job: something that an admin could take over.
    await app.database.query(
      `INSERT INTO processes (process_id, name, version, works, started_at, seen_at)
       VALUES (gen_random_uuid(), 'killed / 1', '0.1.0', true, now() - interval '1 hour', now() - interval '2 minutes')`,
    )
    const { schema } = app.database.queueConnection
    await app.queue.enqueue('watchdog', { turn: 1 }, { startAfter: new Date(Date.now() + 3_600_000) })
    const later = `start_after > now() + interval '50 minutes'`
    await app.database.query(`UPDATE ${schema}.job SET state = 'active', started_on = now() WHERE ${later}`)
    const standing = async () => ({
      jobs: (await app.database.query(`SELECT id, state FROM ${schema}.job WHERE ${later} ORDER BY id`)).rows,
      processes: (await app.database.query('SELECT process_id FROM processes ORDER BY process_id')).rows,
      acts: (await app.database.query(`SELECT 1 FROM audit_log WHERE action = 'jobs-taken-over'`)).rows.length,
    })
    const before = await standing()
    expect([before.jobs.length > 0, before.acts]).toEqual([true, 1])
    for (const verb of ['admin.processes', 'admin.takeover']) {
      const { card = {} } = await kim.invokes('x', verb, {})
      expect(textOf(card)).toContain(strings.notice.noLongerAdmin.what)
      for (const words of ['At work', 'killed / 1', 'ended without a goodbye', 'Take over'])
        expect(JSON.stringify(card)).not.toContain(words)
    }
    expect(await standing()).toEqual(before)
  })
})

describe('a process whose workers stand still', { timeout: 120_000 }, () => {
  const service = withService({}, () => ({ watchTimes: quickWatch }))
  const told = (words: string) =>
    service.connector.sent.filter(({ card }) => card && textOf(card).includes(words)).length

  it('an admin sees it, and is told although nobody works on jobs; a restart mends it, and is told of once', async () => {
    const { sam } = service
    await sam.installs()
    await seconds(2)
    await service.app.queue.stop(0)
    await until(
      async () => /No process takes jobs/.test(textOf((await sam.says('admin health')).card)) || undefined,
      'it to be seen',
      aMinute,
    )
    await until(() => told('Something is broken') > 0 || undefined, 'the admin to be told')
    expect(told('No process takes jobs')).toBeGreaterThan(0)
    await service.restart()
    await until(() => told('All works again') > 0 || undefined, 'the admin to be told that it works')
    await seconds(2)
    expect([told('Something is broken'), told('All works again')]).toEqual([1, 1])
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
    await service.app.queue.enqueue('watchdog', { turn: 1 }, { startAfter: new Date(Date.now() + 3_600_000) })
    await service.app.database.query(
      `UPDATE ${schema}.job SET state = 'active', started_on = now() WHERE start_after > now()`,
    )
    await service.restart()
    expect(await health()).toContain('ended without a goodbye')
  })
})
