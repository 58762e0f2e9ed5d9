import { mkdtempSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { freePort } from '../../src/app/free-port.ts'
import { type Database, openDatabase } from '../../src/store/index.ts'
import { bareEnvironment } from '../support/bare-environment.ts'
import { textOf } from '../support/cards.ts'
import { type Connector, startConnector } from '../support/connector.ts'
import { newDatabaseUrl } from '../support/database.ts'
import { madeIn } from '../support/processes.ts'
import { type ReplicaSet, startReplicas, startTenant } from '../support/replica-set.ts'
import { templates } from '../support/service.ts'
import { opens } from '../support/site-request.ts'
import { people, scopes, TeamsUser } from '../support/teams-user.ts'
import { tokenFor } from '../support/tenant-control.ts'
import { seconds, until } from '../support/until.ts'

type Who = keyof typeof people
type Body = Record<string, unknown>

/** `REPLICAS=20` restarts all replicas under load twenty times instead of once. */
const rounds = Number(process.env['REPLICAS'] ?? 1)
const burst = 60 * rounds

describe('three replicas with one server', () => {
  let connector: Connector
  let tenant: Awaited<ReturnType<typeof startTenant>>
  let replicas: ReplicaSet
  let store: Database
  let folder: string
  let turn = 0
  const users = new Map<Who, TeamsUser>()
  /** Sends each action of a person in the chat to another replica than the previous action. */
  const inChat = (who: Who): TeamsUser => {
    const nextReplica = () => replicas.urls[turn++ % replicas.urls.length] ?? ''
    const user = users.get(who) ?? new TeamsUser(nextReplica, connector, people[who])
    users.set(who, user)
    return user
  }
  const authorizations = new Map<Who, Promise<string>>()
  const tokenOf = (who: Who): Promise<string> => {
    const scope = scopes.collab
    const token = authorizations.get(who) ?? tokenFor(tenant.variables['LOGIN_URL'] ?? '', people[who].id, scope)
    authorizations.set(who, token)
    return token
  }
  const call = async (who: Who, method: string, path: string, body?: Body, { at = '', key = '' } = {}) => {
    const headers = {
      authorization: `Bearer ${await tokenOf(who)}`,
      'content-type': 'application/json',
      ...(key && { 'idempotency-key': key }),
    }
    const url = `${at || replicas.proxy.url}${path}`
    const response = await fetch(url, { method, headers, ...(body && { body: JSON.stringify(body) }) })
    return { status: response.status, body: (await response.json()) as Body }
  }
  const timelineOf = async (requestId: unknown) => {
    const { body } = await call('sam', 'GET', `/requests/v1/${requestId}/timeline`)
    return (body['value'] as { action: string }[]).map(({ action }) => action)
  }
  /** Polls the store once for all requests, because the replicas are busy. */
  const announced = async (...ids: unknown[]) => {
    const sql = `select count(distinct request_id) as count from audit_log where action = 'announced' and request_id = any($1)`
    const all = async () => (await store.query<{ count: number }>(sql, [ids])).rows[0]?.count === ids.length
    await until(async () => (await all()) || undefined, `${ids.length} requests to be announced`, 60)
  }
  /** Checks that each step is in the timeline once, and that the tenant has one object of each kind. */
  const madeOnce = async (requestId: unknown) => {
    const timeline = await timelineOf(requestId)
    expect(timeline).toEqual([...new Set(timeline)])
    const { body } = await call('sam', 'GET', `/requests/v1/${requestId}`)
    expect(body).toMatchObject({ status: 'succeeded', problem: null })
    const { displayName, alias } = body['details'] as { displayName: string; alias: string }
    const tenantFile = join(folder, 'simulator.sqlite')
    const made = madeIn(tenantFile, String(requestId), displayName, alias)
    expect(made).toMatchObject({ unifiedGroups: 1, securityGroups: 1, sites: 1 })
  }
  const site = (displayName: string): Body => ({ templateId: templates.workingGroup, displayName })

  beforeAll(async () => {
    folder = mkdtempSync(join(inject('runFolder'), 'replicas-'))
    connector = await startConnector()
    const databaseUrl = await newDatabaseUrl()
    const common = { ...bareEnvironment, DATA_DIR: folder, LOG_LEVEL: process.env['TEST_LOG_LEVEL'] ?? 'fatal' }
    tenant = await startTenant(folder, {
      ...common,
      ...{ SIMULATOR_PORT: String(await freePort()), SIMULATOR_DIRECTORY_SECONDS: '2' },
    })
    const env = {
      ...{ ...common, ...tenant.variables, DATABASE_URL: databaseUrl, OPEN_REQUESTS_PER_PERSON: '0' },
      ...{ RATE_LIMIT_WRITES_PER_MINUTE: '1', RATE_LIMIT_WRITE_BURST: String(burst) },
      ...{ RATE_LIMIT_READS_PER_MINUTE: '0', RATE_LIMIT_TENANT_WRITES_PER_MINUTE: '0' },
      // Only polls report completions, so that each poll is needed.
      ...{ FOLLOW_UP_WEBHOOK: 'off', FOLLOW_UP_FIRST_SECONDS: '1', FOLLOW_UP_EVERY_SECONDS: '1' },
    }
    replicas = await startReplicas({ count: 3, cwd: folder, env, log: () => undefined })
    store = await openDatabase({ databaseUrl, dataDir: folder })
  })
  afterAll(async () => {
    await replicas?.stop()
    await tenant?.stop()
    await store?.close()
    await connector?.close()
  })

  it('start at the same time with an empty one: each migration ran once, each template exists once', async () => {
    const files = readdirSync('src/store/database/migrations').map((name) => Number(name.slice(0, 3)))
    const { rows } = await store.query<{ number: number }>('select number from migrations order by number')
    expect(rows.map(({ number }) => number)).toEqual(files.toSorted((one, other) => one - other))
    const { body } = await call('sam', 'GET', '/templates/v1/')
    expect(body['value']).toHaveLength(Object.keys(templates).length)
    expect(
      (await store.query('select count(*) as count from settings where name = $1', ['webhook-secret'])).rows,
    ).toEqual([{ count: 1 }])
  })

  it('share the work: each step runs once, each timer fires once, each card arrives once', async () => {
    await inChat('kim').installs()
    const names = Array.from({ length: 6 }, (_, index) => `Shared ${index + 1}`)
    const answers = await Promise.all(names.map((name) => call('kim', 'POST', '/collab/v1/spo/', site(name))))
    const ids = answers.map(({ body }) => body['requestId'])
    await announced(...ids)
    for (const id of ids) await madeOnce(id)
    const { rows } = await store.query<{ looks: number[]; attempts: number }>(
      `select array_agg((data ->> 'look')::int order by (data ->> 'look')::int) as looks, sum(retry_count)::int as attempts
       from pgboss.job where name = 'follow-up' and state in ('active', 'completed') group by data ->> 'requestId'`,
    )
    expect(rows).toHaveLength(ids.length)
    for (const { looks, attempts } of rows) {
      expect(looks).toEqual(looks.map((_, index) => index))
      expect(attempts).toBe(0)
    }
    const readyCards = (name: string) =>
      connector.sent.filter(({ card }) => textOf(card ?? {}).includes('ready') && textOf(card ?? {}).includes(name))
    for (const name of names) await until(() => readyCards(name)[0], `the card of ${name}`)
    expect(names.map((name) => readyCards(name).length)).toEqual(names.map(() => 1))
  })

  it('handle one form: opened at one, checked by another, sent at a third; an approver’s click may reach any', async () => {
    const [kim, dana] = [inChat('kim'), inChat('dana')]
    await dana.installs()
    const choose = await opens(kim, 'site')
    const form = await kim.clicks(choose, 'Choose Project site')
    const values = { displayName: 'By turns', 'metadata.costCentre': '4711', 'metadata.audience': 'internal' }
    const review = await kim.clicks({ id: choose.id, card: form.card }, 'Review', { ...values, reason: 'It works.' })
    const sent = await kim.clicks({ id: choose.id, card: review.card }, 'Send')
    expect(textOf(sent.card ?? {})).toContain('Waiting')
    const question = await dana.sees(/Your decision, please[\s\S]*By turns|By turns[\s\S]*Your decision, please/)
    await dana.clicks(question, 'Approve', { comment: '' })
    const { body } = await call('kim', 'GET', '/requests/v1/?limit=1')
    const [request] = body['value'] as { requestId: string; details: { displayName: string } }[]
    expect(request?.details.displayName).toBe('By turns')
    await announced(request?.requestId)
    await madeOnce(request?.requestId)
  })

  it('send messages to a chat that only a dead replica has received', async () => {
    const heardBy = turn % replicas.urls.length
    await inChat('omar').installs()
    const killed = replicas.pid(heardBy) ?? 0
    process.kill(killed, 'SIGKILL')
    const body = { ...site('Written to'), templateId: templates.projectSite }
    const metadata = { costCentre: '4711', audience: 'internal' }
    const at = replicas.urls[(heardBy + 1) % replicas.urls.length] ?? ''
    expect((await call('kim', 'POST', '/collab/v1/spo/', { ...body, metadata }, { at })).status).toBe(202)
    await inChat('omar').sees(/Written to/)
    await until(() => ![undefined, killed].includes(replicas.pid(heardBy)) || undefined, 'the dead one to come back')
    await replicas.allReady()
  })

  it('count one person’s calls together', async () => {
    const statuses: number[] = []
    for (let count = 0; count < burst + 9; count += replicas.urls.length) {
      const responses = replicas.urls.map((at) => call('omar', 'POST', '/collab/v1/spo/', {}, { at }))
      statuses.push(...(await Promise.all(responses)).map(({ status }) => status))
    }
    expect(statuses.filter((status) => status === 422)).toHaveLength(burst)
    expect(statuses.filter((status) => status === 429)).toHaveLength(9)
  })

  it('restart one after another under load: every call is answered, nothing is lost or done twice', {
    timeout: 480_000 * rounds,
  }, async () => {
    const accepted: unknown[] = []
    let restarting = true
    const responses = async (name: string): Promise<void> => {
      for (;;) {
        const { status, body } = await call('dana', 'POST', '/collab/v1/spo/', site(name), { key: name })
        if (status === 202) return void accepted.push(body['requestId'])
        expect([status, body]).toEqual([503, expect.anything()])
        await seconds(0.2)
      }
    }
    const asking = async (line: number): Promise<void> => {
      for (let count = 1; restarting && count <= burst / 3 - 2; count += 1) {
        await responses(`Load ${line}-${count}`)
        await seconds(0.4)
      }
    }
    const load = Promise.all([asking(1), asking(2)])
    const before = replicas.urls.map((_, replica) => replicas.pid(replica))
    for (let round = 0; round < rounds; round += 1) await replicas.restartAll()
    restarting = false
    await load
    const after = replicas.urls.map((_, replica) => replicas.pid(replica))
    expect(new Set([...before, ...after]).size).toBe(6)
    expect(accepted.length).toBeGreaterThan(6)
    expect(new Set(accepted).size).toBe(accepted.length)
    await announced(...accepted)
    for (const id of accepted) await madeOnce(id)
    const { rows } = await store.query(`select count(*) as count from requests where body ->> 'alias' like 'wg-load-%'`)
    expect(rows).toEqual([{ count: accepted.length }])
    expect(connector.unexpected).toEqual([])
  })
})
