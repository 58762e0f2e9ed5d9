import { randomBytes } from 'node:crypto'
import { mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { readConfig } from '../../src/app/config.ts'
import { type App, createApp } from '../../src/app/index.ts'
import { type Connector, startConnector } from '../support/connector.ts'
import { serverUrl } from '../support/database.ts'
import { templates } from '../support/service.ts'
import { opens } from '../support/site-request.ts'
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts'
import { people, scopes, TeamsUser } from '../support/teams-user.ts'
import { tokenFor } from '../support/tenant-control.ts'
import { until } from '../support/until.ts'

/** Maximum time for an answer: three times as long as the product may take on a quiet machine. Milliseconds. */
const answerWithin = 15_000
/** Parts of the health report that do not need the database. */
const outsideOfIt = ['graph', 'sharePoint', 'exchange', 'signIn', 'certificate', 'botSecret']
/** Parts whose facts are in the database. */
const insideOfIt = ['processes', 'queue', 'watchdog', 'deadLetters', 'webhooks', 'directory']
/** Everything works again after this time. Seconds. */
const backWithin = 10

describe('a service without its database', () => {
  let app: App
  let connector: Connector
  let proxy: TcpProxy
  let kim: TeamsUser
  let admin: pg.Client
  const name = `away_${randomBytes(6).toString('hex')}`
  let token = ''
  let adminToken = ''

  beforeAll(async () => {
    const server = new URL(await serverUrl())
    admin = new pg.Client({ connectionString: server.href })
    await admin.connect()
    await admin.query(`create database ${name}`)
    proxy = await startTcpProxy(Number(server.port))
    connector = await startConnector()
    const throughProxy = new URL(server)
    throughProxy.port = String(proxy.port)
    throughProxy.pathname = `/${name}`
    const variables = {
      ...{ PORT: '0', SIMULATOR_PORT: '0', SIMULATOR_DIRECTORY_SECONDS: '0', PLAYGROUND: 'off' },
      ...{ LOG_LEVEL: process.env['TEST_LOG_LEVEL'] ?? 'fatal', RATE_LIMIT_WRITES_PER_MINUTE: '0' },
      ...{ DATABASE_URL: throughProxy.href, DATA_DIR: mkdtempSync(join(inject('runFolder'), 'away-')) },
    }
    app = await createApp(readConfig({ ...variables, OPEN_REQUESTS_PER_PERSON: '0' }))
    kim = new TeamsUser(() => app.url, connector, people.kim)
    token = await tokenFor(app.endpoints.simulator?.url ?? '', people.kim.id, scopes.collab)
    adminToken = await tokenFor(app.endpoints.simulator?.url ?? '', people.sam.id, scopes.collab)
  })
  afterAll(async () => {
    await proxy.heal()
    await app.close()
    await connector.close()
    await proxy.close()
    await admin.query(`drop database ${name} with (force)`)
    await admin.end()
  })

  const call = (method: string, path: string, body?: object, bearer = token) =>
    fetch(`${app.url}${path}`, {
      method,
      headers: { authorization: `Bearer ${bearer}`, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(answerWithin),
    })
  const submit = (displayName: string) =>
    call('POST', '/collab/v1/spo/', { displayName, templateId: templates.openCommunity })
  const accepted: string[] = []
  async function accept(displayName: string): Promise<void> {
    const answer = await submit(displayName)
    expect(answer.status).toBe(202)
    accepted.push(((await answer.json()) as { requestId: string }).requestId)
  }
  const isReady = async () => (await fetch(`${app.url}/readyz`)).status === 200

  const ways: [string, () => unknown][] = [
    ['refuses connections', () => proxy.refuse()],
    ['holds every connection open and says nothing', () => proxy.hold()],
    ['has forgotten its connections', () => proxy.forget()],
  ]
  it.each(ways)(
    'that %s: people are asked to try again, and everything continues when the database is back',
    async (way, breakIt) => {
      const form = await opens(kim, 'site')
      await accept(`Before ${way}`)
      await breakIt()
      const responses = await Promise.all([
        submit(`While ${way}`),
        call('GET', '/requests/v1/'),
        submit(`Also while ${way}`),
      ])
      const forgets = way.startsWith('has forgotten')
      for (const answer of responses) {
        // New connections may reach a store that has only dropped the old ones.
        if (forgets && answer.ok) continue
        expect([answer.status, answer.headers.get('content-type')]).toEqual([
          503,
          'application/problem+json; charset=utf-8',
        ])
        expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0)
      }
      if (!forgets) {
        const shown = kim.chat().find(({ id }) => id === form.id)?.card
        const click = await within(kim.clicks(form, 'Choose Open community'))
        expect(click.text).toContain('Please try again in a minute')
        expect(kim.chat().find(({ id }) => id === form.id)?.card).toEqual(shown)
        await within(kim.says('my requests'))
        expect(await isReady()).toBe(false)
        const health = await call('GET', '/admin/v1/health', undefined, adminToken)
        expect(health.status).toBe(200)
        const { state, parts } = (await health.json()) as { state: string; parts: { name: string; detail: string }[] }
        const names = parts.map(({ name }) => name)
        expect([state, names[0]]).toEqual(['red', 'database'])
        expect(names).toEqual(expect.arrayContaining([...outsideOfIt]))
        expect(names.filter((name) => insideOfIt.includes(name))).toEqual([])
        expect(parts[0]?.detail).toMatch(/^Has not answered since /)
        expect((await fetch(`${app.url}/healthz`)).status).toBe(200)
      }
      await proxy.heal()
      await until(async () => (await isReady()) && (await submitted(way)), 'the service to be back', backWithin)
      expect((await kim.clicks(form, 'Choose Open community')).card).toBeDefined()
    },
  )

  async function submitted(way: string): Promise<boolean> {
    const answer = await submit(`After ${way}`)
    if (answer.status !== 202) return false
    accepted.push(((await answer.json()) as { requestId: string }).requestId)
    return true
  }

  it('that cuts every connection is noticed for a moment only', async () => {
    proxy.reset()
    await until(async () => (await submitted('it cut')) || undefined, 'the service to be back', backWithin)
  })

  it('that refuses writes: people read this, and everything works afterwards', async () => {
    await admin.query(`alter database ${name} set default_transaction_read_only = on`)
    proxy.reset()
    await until(async () => !(await isReady()) || undefined, 'the service to say that it is not ready', backWithin)
    const refused = await submit('Read-only')
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '10'])
    await admin.query(`alter database ${name} reset default_transaction_read_only`)
    await until(async () => (await isReady()) && (await submitted('it was read-only')), 'writes', backWithin)
  })

  it('has lost nothing that it had acknowledged', async () => {
    expect(accepted.length).toBeGreaterThanOrEqual(ways.length * 2)
    for (const requestId of accepted) {
      const status = async () =>
        ((await (await call('GET', `/requests/v1/${requestId}`)).json()) as { status: string }).status
      await until(async () => (await status()) === 'succeeded' || undefined, `${requestId} to succeed`, 40)
    }
  })
})

/** Fails without an answer within the allowed time. */
async function within<T>(answer: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('no answer in time')), answerWithin)
  })
  return Promise.race([answer, late]).finally(() => clearTimeout(timer))
}
