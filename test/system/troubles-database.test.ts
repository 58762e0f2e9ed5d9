import { mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from 'vitest'
import { readConfig } from '../../src/app/config.ts'
import { freePort } from '../../src/app/free-port.ts'
import { type App, createApp } from '../../src/app/index.ts'
import { healthWatch } from '../../src/core/index.ts'
import { bareEnvironment } from '../support/bare-environment.ts'
import { textOf } from '../support/cards.ts'
import { type Connector, startConnector } from '../support/connector.ts'
import { newDatabaseUrl } from '../support/database.ts'
import { quickWatch } from '../support/quick-watch.ts'
import { startTenant } from '../support/replica-set.ts'
import { withService } from '../support/service.ts'
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts'
import { people, TeamsUser } from '../support/teams-user.ts'
import { control } from '../support/tenant-control.ts'
import { seconds, until } from '../support/until.ts'

/**
 * An answer that waits for the store would take half a minute; on a busy machine a good one takes a little more than the 5 s of the
 * product's own limit. In milliseconds.
 */
const answerWithin = 15_000

/** Returns the answer to a person, which must arrive within the allowed time. */
async function hears(user: TeamsUser, text: string): Promise<string> {
  const began = performance.now()
  const { card } = await user.says(text)
  expect(performance.now() - began).toBeLessThan(answerWithin)
  return textOf(card)
}

/** Counts the cards with this text that are not answers. */
const countOf = (connector: Connector, words: string): number =>
  connector.sent.filter(({ card }) => card && textOf(card).includes(words)).length

describe('two processes without their database', () => {
  let apps: App[] = []
  let connector: Connector
  let proxy: TcpProxy
  let tenant: Awaited<ReturnType<typeof startTenant>>
  let sams: TeamsUser[] = []
  const log: string[] = []
  const the = (who: keyof typeof people, app: App | undefined) =>
    new TeamsUser(() => app?.url ?? '', connector, people[who])

  beforeAll(async () => {
    const folder = mkdtempSync(join(inject('runFolder'), 'troubles-'))
    connector = await startConnector()
    const common = { ...bareEnvironment, DATA_DIR: folder, LOG_LEVEL: process.env['TEST_LOG_LEVEL'] ?? 'fatal' }
    tenant = await startTenant(folder, {
      ...{ ...common, SIMULATOR_PORT: String(await freePort()), SIMULATOR_DIRECTORY_SECONDS: '0' },
    })
    const databaseUrl = new URL(await newDatabaseUrl())
    proxy = await startTcpProxy(Number(databaseUrl.port))
    databaseUrl.port = String(proxy.port)
    const variables = { ...common, ...tenant.variables, DATABASE_URL: databaseUrl.href, PLAYGROUND: 'off' }
    for (let index = 0; index < 2; index += 1) {
      const port = String(await freePort())
      apps.push(
        await createApp(readConfig({ ...variables, PORT: port, LOG_LEVEL: 'warn' }), {
          watchTimes: quickWatch,
          writeLog: (line) => log.push(line),
        }),
      )
    }
    sams = apps.map((app) => the('sam', app))
    await sams[0]?.installs()
    await hears(sams[0] as TeamsUser, 'hi')
  })
  afterEach(() => proxy.heal())
  afterAll(async () => {
    await Promise.all(apps.map((app) => app.close()))
    apps = []
    await tenant.stop()
    await connector.close()
    await proxy.close()
  })

  const figuresOf = async (url: string) => (await fetch(`${url}/metrics`)).text()
  const watched = async () => {
    const { rows = [] } = (await apps[0]?.database.query<{ body: unknown }>('SELECT body FROM health_watch')) ?? {}
    return healthWatch.safeParse(rows[0]?.body).data
  }

  const ways: [string, () => unknown][] = [
    ['refuses connections', () => proxy.refuse()],
    ['holds every connection open and says nothing', () => proxy.hold()],
  ]
  it.each(ways)(
    'which %s: an admin reads the reason in chat, /readyz, metrics and log report it, and nobody receives a card',
    async (_, breakIt) => {
      await until(async () => (await watched().catch(() => undefined))?.state === 'well' || undefined, 'all to be well')
      connector.sent.length = 0
      log.length = 0
      await breakIt()
      const [first, second] = await Promise.all(sams.map((sam) => hears(sam, 'admin health')))
      for (const text of [first, second]) {
        expect(text).toContain('Has not answered since')
        expect(text).toContain('Work continues when the database answers again')
      }
      // Commands that need the store, and people who are not admins, are asked to try again, as always.
      expect(await hears(sams[0] as TeamsUser, 'admin queue')).toContain('try again in a minute')
      const kims = await hears(the('kim', apps[1]), 'admin health')
      expect(kims).toContain('try again in a minute')
      expect(kims).not.toContain('Has not answered')
      for (const { url } of apps) {
        const ready = await fetch(`${url}/readyz`)
        expect([ready.status, await ready.json()]).toMatchObject([503, { checks: { database: 'does not answer' } }])
        await until(async () => /^quartermaster_store_up 0$/m.test(await figuresOf(url)) || undefined, 'the metrics')
      }
      await until(() => log.some((line) => line.includes('the queue could not poll for jobs')) || undefined, 'the log')
      await seconds(3)
      await proxy.heal()
      await until(async () => (await fetch(`${apps[1]?.url}/readyz`)).status === 200 || undefined, 'it to be back')
      await seconds(3)
      expect([countOf(connector, 'Something is broken'), countOf(connector, 'Everything works again')]).toEqual([0, 0])
      expect(await hears(sams[1] as TeamsUser, 'admin health')).toContain('Answers in')
    },
  )

  it('for a moment only: nobody is notified', async () => {
    await until(async () => (await watched().catch(() => undefined))?.state === 'well' || undefined, 'all to be well')
    connector.sent.length = 0
    proxy.reset()
    await seconds(4)
    expect([countOf(connector, 'Something is broken'), countOf(connector, 'Everything works again')]).toEqual([0, 0])
  })

  it('and refused by Exchange: an admin receives one card, and one when it works again', async () => {
    await until(async () => (await watched().catch(() => undefined))?.state === 'well' || undefined, 'all to be well')
    connector.sent.length = 0
    const tenantUrl = tenant.variables['LOGIN_URL'] ?? ''
    await control(tenantUrl, 'POST', 'faults', { operation: 'exchange.*', kind: 'failBeforeCommit', status: 403 })
    await until(() => countOf(connector, 'Something is broken') > 0 || undefined, 'the admin to be told')
    await control(tenantUrl, 'DELETE', 'faults')
    await until(
      () => countOf(connector, 'Everything works again') > 0 || undefined,
      'the admin to be told that it is back',
    )
    await seconds(3)
    expect([countOf(connector, 'Something is broken'), countOf(connector, 'Everything works again')]).toEqual([1, 1])
    expect(await watched()).toMatchObject({ state: 'well', red: { parts: [{ name: 'exchange', says: 'refuses' }] } })
  })
})

describe('an embedded store that has ended', () => {
  const service = withService({}, () => ({ watchTimes: quickWatch }))

  it('shows an admin the reason in chat, nobody receives a card, and a restart fixes it', async () => {
    const { sam, kim, connector } = service
    await sam.installs()
    await seconds(2)
    await service.app.database.close()
    expect(await hears(sam, 'admin health')).toContain('Has not answered since')
    expect(await hears(kim, 'admin health')).not.toContain('Has not answered')
    expect((await fetch(`${service.app.url}/readyz`)).status).toBe(503)
    await seconds(2)
    await service.restart()
    expect(await hears(sam, 'admin health')).toContain('Answers in')
    await seconds(2)
    expect([countOf(connector, 'Something is broken'), countOf(connector, 'Everything works again')]).toEqual([0, 0])
  })
})
