import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, it } from 'vitest'
import { maxCounted, openStates } from '../../src/core/index.ts'
import { createBoss } from '../../src/jobs/queue/boss.ts'
import { jobRegistry } from '../../src/jobs/queue/define-job.ts'
import { createQueue } from '../../src/jobs/queue/queue.ts'
import { reclaim, requestsOf } from '../../src/jobs/queue/tables.ts'
import { createStores, forgetOld, type Stores } from '../../src/store/index.ts'
import { fillHistory, newest } from '../bench/history.ts'
import { requestOf, stepsUntil } from '../support/card-requests.ts'
import { engines, withDatabase } from '../support/database.ts'
import { explain, type QueryPlan, recording, type Statement } from '../support/query-plans.ts'
import { sleeperJob } from '../support/sleeper-job.ts'
import { people, contosoTenant as tenantId } from '../support/teams-user.ts'
import { until } from '../support/until.ts'

const stored = 5_000
const [kim, dana] = [people.kim.id, people.dana.id]
const limit = 26
const long = new Date(Date.now() - 60_000)
const anHour = { from: new Date(Date.now() - 8 * 3_600_000), until: new Date(Date.now() - 7 * 3_600_000) }
const silent = { debug() {}, info() {}, warn() {}, error() {} }

/** Requests as in the bench, and thousands of rows in each other table that grows. */
const others = [
  `INSERT INTO deliveries (delivery_id, request_id, status, updated_at, body)
   SELECT gen_random_uuid(), gen_random_uuid(), 'delivered', now() - n * interval '10 minutes',
     jsonb_build_object('tenantId', '${tenantId}', 'createdAt', '2026-01-01T00:00:00.000Z', 'body', repeat('x', 300))
   FROM generate_series(1, ${stored}) AS n`,
  `INSERT INTO drafts SELECT gen_random_uuid(), '${tenantId}', gen_random_uuid(), 1, now() - n * interval '5 minutes',
     jsonb_build_object('step', 'submitted', 'values', repeat('x', 300)) FROM generate_series(1, ${stored}) AS n`,
  `INSERT INTO drafts SELECT gen_random_uuid(), '${tenantId}', gen_random_uuid(), 2, now() - n * interval '1 minute',
     jsonb_build_object('step', 'details', 'begun', true) FROM generate_series(1, ${stored}) AS n`,
  `INSERT INTO drafts SELECT gen_random_uuid(), '${tenantId}', '${people.kim.id}', 3, now() - n * interval '1 minute',
     jsonb_build_object('step', 'submitted', 'begun', true) FROM generate_series(1, ${stored}) AS n`,
  `INSERT INTO inbox SELECT 'msteams', 'chat', 'activity ' || n, '{}', now() - n * interval '20 seconds'
   FROM generate_series(1, ${stored}) AS n`,
  `INSERT INTO idempotency_keys (tenant_id, person_id, route, key, request_id, keep_until)
   SELECT '${tenantId}', 'somebody', 'POST', 'key ' || n, gen_random_uuid(), now() + n * interval '1 minute'
   FROM generate_series(1, ${stored}) AS n`,
  `INSERT INTO export_tickets (hash, tenant_id, what, format, from_day, to_day, issued_by, issued_at, until)
   SELECT 'hash ' || n, '${tenantId}', 'audit', 'csv', '2026-11-20', '2026-11-20', gen_random_uuid(),
     now() + n * interval '1 minute', now() + n * interval '1 minute' FROM generate_series(1, ${stored}) AS n`,
  `INSERT INTO sent_cards SELECT gen_random_uuid(), gen_random_uuid(), 'status', 'chat', 'activity', 'sent'
   FROM generate_series(1, ${stored}) AS n`,
  `INSERT INTO notices SELECT '${tenantId}', gen_random_uuid(), 'health:red:' || n, 'sent', now() - n * interval '1 second'
   FROM generate_series(1, ${stored}) AS n`,
  `INSERT INTO service_calls SELECT 'graph', now() - n * interval '1 second', 1, 0, 0, 0, now(), NULL
   FROM generate_series(1, ${stored}) AS n`,
  `INSERT INTO directory_sightings SELECT gen_random_uuid(), '${tenantId}', now() - n * interval '1 second', 10
   FROM generate_series(1, ${stored}) AS n`,
  `INSERT INTO gone_resources SELECT gen_random_uuid(), '${tenantId}', now() - n * interval '1 minute'
   FROM generate_series(1, ${stored}) AS n`,
  `INSERT INTO reservations SELECT '${tenantId}', 'name ' || n, gen_random_uuid()
   FROM generate_series(1, ${stored}) AS n`,
  `INSERT INTO token_buckets SELECT 'key ' || n, 1, now(), now() + n * interval '1 minute'
   FROM generate_series(1, ${stored}) AS n`,
  `INSERT INTO delegations (delegation_id, tenant_id, person_id, delegate_id, until, ended_at, body)
   SELECT gen_random_uuid(), '${tenantId}', gen_random_uuid(), gen_random_uuid(), now() + n * interval '1 minute', NULL, '{}'
   FROM generate_series(1, ${stored}) AS n`,
  `INSERT INTO batches (batch_id, tenant_id, person_id, status, updated_at, ended_at, body)
   SELECT gen_random_uuid(), '${tenantId}', gen_random_uuid(), 'done', now(), now() - n * interval '1 minute', '{}'
   FROM generate_series(1, ${stored}) AS n`,
  `INSERT INTO joint_decisions (decision_id, tenant_id, person_id, updated_at, body)
   SELECT gen_random_uuid(), '${tenantId}', gen_random_uuid(), now() - n * interval '1 second', '{}'
   FROM generate_series(1, ${stored}) AS n`,
  `INSERT INTO name_counters SELECT '${tenantId}', 'scope ' || n, n FROM generate_series(1, ${stored}) AS n`,
  `INSERT INTO chat_pace SELECT 'chat ' || n, '{}', now() - n * interval '1 second'
   FROM generate_series(1, ${stored}) AS n`,
]

const request = requestOf({ requester: { id: kim, displayName: 'Kim Lee', userPrincipalName: 'kim@contoso.example' } })
const sample = (status: typeof request.status, kind: 'site' | 'room' = 'site') => ({
  request: { ...request, ...(kind === 'room' && { kind: 'communicationSite' as const }), status, steps: stepsUntil(2) },
  timeline: [{ action: 'submitted' }, { action: status }],
})
const announced = { followUp: { state: 'announced' as const } }
const made = (kind?: 'room') => {
  const one = sample('succeeded', kind)
  return { ...one, request: { ...one.request, ...announced } }
}

describe.each(engines)('with any number of requests, %s:', (engine) => {
  const store = withDatabase(engine)
  let stores: Stores
  let statements: Statement[]
  beforeAll(async () => {
    const samples = { pending: sample('pendingApproval'), rejected: sample('rejected'), failed: sample('failed') }
    const finished = { room: made('room'), workingGroup: made(), projectSite: made() }
    await fillHistory(store.database, { ...samples, ...finished }, stored)
    // A slow disk takes longer for thousands of rows than the product allows a statement of its own.
    await store.database.patiently(async () => {
      for (const sql of others) await store.database.query(sql)
      await store.database.query('ANALYZE')
    })
    const recorded = recording(store.database)
    stores = createStores(recorded.database)
    statements = recorded.statements
  })

  /** Returns the plan of each statement of this work. */
  const plansOf = async (work: () => Promise<unknown>): Promise<QueryPlan[]> => {
    statements.splice(0)
    await store.database
      .transaction(async () => {
        await work()
        throw new Error('only to see which statements it runs')
      })
      .catch(() => undefined)
    const plans: QueryPlan[] = []
    for (const statement of statements) plans.push(await explain(store.database, statement))
    expect(plans.length).toBeGreaterThan(0)
    return plans
  }
  const list = (query: object) => () => stores.requests.list({ tenantId, limit, ...query })
  const count = (query: object) => () => stores.requests.count({ tenantId, ...query })
  const behind = newest - stored + 500
  const overdue = {
    ...{ tenantId, queuedBefore: long, provisioningBefore: long, submittedBefore: long, createdBefore: long },
    polledBefore: new Date(0),
    ...{ underWay: [], limit: 100 },
  }
  const ofTemplate = { tenantId, templateId: randomUUID(), but: [randomUUID()], most: 100 }
  const card = { requestId: randomUUID(), personId: kim, key: 'status', conversationId: 'chat' } as const

  it.each<[string, () => Promise<unknown>]>([
    ['one request', () => stores.requests.find(randomUUID())],
    ['one request by its number', () => stores.requests.findByNumber(tenantId, newest - 1000)],
    ['its timeline', () => stores.audit.timeline(randomUUID())],
    ['own requests', list({ requesterId: kim })],
    ['own requests, a late page', list({ requesterId: kim, before: behind })],
    ['own requests, the page before a late one', list({ requesterId: kim, after: behind, oldestFirst: true })],
    ['the number of older requests', count({ requesterId: kim, before: newest, limit: maxCounted })],
    ['the number of newer requests', count({ requesterId: kim, after: behind, limit: maxCounted })],
    [
      'the number of requests that wait for a person',
      count({ approverId: dana, status: 'pendingApproval', limit: maxCounted }),
    ],
    ['own requests with one status', list({ requesterId: kim, status: 'rejected' })],
    ['open own requests', list({ requesterId: kim, status: openStates })],
    ['the newest open own request', list({ requesterId: kim, status: openStates, limit: 1 })],
    [
      'the newest own request that waits for approval',
      list({ requesterId: kim, status: ['pendingApproval'], limit: 1 }),
    ],
    ['all requests', list({})],
    ['all requests, a late page', list({ before: newest - stored + 50 })],
    ['all with one status', list({ status: 'failed' })],
    ['all with a status that no request has', list({ status: 'expired' })],
    ['all of one kind', list({ kind: 'communicationSite' })],
    ['all of a kind without requests', list({ kind: 'equipmentMailbox' })],
    ['all of one kind with one status', list({ kind: 'communicationSite', status: 'rejected' })],
    ['the oldest failed requests', list({ status: ['failed'], oldestFirst: true })],
    ['the oldest requests in progress', list({ status: ['queued', 'provisioning'], oldestFirst: true })],
    ['requests that are not announced', list({ status: 'succeeded', unannounced: true, oldestFirst: true })],
    ['requests that wait for a person', list({ approverId: dana, status: 'pendingApproval' })],
    ['requests that wait for a person who is not asked', list({ approverId: kim, status: 'pendingApproval' })],
    ['the number of open requests of a person', () => stores.requests.countOpen(tenantId, kim)],
    [
      'the number of resources of a rare template',
      () => stores.requests.countOfTemplate({ ...ofTemplate, states: [...openStates, 'succeeded'] }),
    ],
    [
      'the number of open requests of a person for a template',
      () => stores.requests.countOfTemplate({ ...ofTemplate, requesterId: kim, states: openStates }),
    ],
    [
      'the resources of a rare template that may be gone',
      () =>
        stores.goneResources.toCheck({
          ...{ tenantId, templateId: randomUUID(), endedBefore: new Date(), hour: undefined, after: 0, limit: 100 },
        }),
    ],
    [
      'the resources that exist again',
      () => stores.goneResources.note(tenantId, long, new Map([[randomUUID(), true]])),
    ],
    ['the last number of a name', () => stores.nameCounters.last(tenantId, 'scope 7')],
    ['the submissions in a period', () => stores.stats.submitted(tenantId, anHour)],
    ['the number of submissions in a period', () => stores.stats.countSubmitted(tenantId, anHour)],
    ['the decisions and completions in a period', () => stores.stats.measure(tenantId, anHour)],
    ['the approvers in a period', () => stores.stats.approvers(tenantId, anHour, 20)],
    ['the failures in a period', () => stores.stats.failures(tenantId, anHour)],
    ['the latest ended requests of each kind', () => stores.stats.lastEnded(tenantId, anHour.from, 5)],
    ['the number of open requests', () => stores.requests.countByState(tenantId, openStates)],
    ['overdue requests', () => stores.requests.overdue(overdue)],
    ['waiting requests without a timer', () => stores.requests.waitingBut(tenantId, [], limit)],
    [
      'the delegations of several people',
      () => stores.delegations.reaching(tenantId, [kim, dana], new Date().toISOString()),
    ],
    ['the delegations to a person', () => stores.delegations.toPerson(tenantId, kim, new Date().toISOString())],
    ['the holder of a name', () => stores.reservations.holder(tenantId, 'Name 7')],
    ['the release of a name', () => stores.reservations.release(randomUUID())],
    ['the cards of a request', () => stores.sentCards.ofRequest(randomUUID())],
    ['one card', () => stores.sentCards.find(card.requestId, card.personId, card.key)],
    ['the cards of a person', () => stores.sentCards.ofPerson(card.personId, [randomUUID(), randomUUID()])],
    ['the cards of a bundle', () => stores.sentCards.dropBundle(randomUUID())],
    ['a draft', () => stores.drafts.find(randomUUID())],
    [
      'the equal bodies of a person',
      () =>
        stores.requests.sentSince({
          ...{ tenantId, requesterId: kim, fingerprint: 'none', since: anHour.from, but: randomUUID() },
        }),
    ],
    ['whether decisions or drafts wait for a person', () => stores.drafts.waitingFor(tenantId, dana)],
    ['the started drafts of a person', () => stores.drafts.listStarted(tenantId, kim, 50)],
    ['deliveries of the log', () => stores.deliveries.list({ tenantId, limit })],
    ['the number of recent deliveries', () => stores.deliveries.tally(tenantId, new Date())],
    ['the number of failed deliveries', () => stores.deliveries.countFailed(tenantId, null, limit)],
    ['the latest delivery to a receiver', () => stores.deliveries.list({ tenantId, templateId: randomUUID(), limit })],
    ['deliveries of one request', () => stores.deliveries.list({ tenantId, requestId: randomUUID(), limit })],
    [
      'the requests of a batch',
      () => stores.requests.list({ tenantId, batchId: randomUUID(), limit, oldestFirst: true }),
    ],
    ['the cards of a batch', () => stores.notices.ofBatch(tenantId, randomUUID())],
    ['the last joint decision', () => stores.jointDecisions.lastAbout(kim, randomUUID(), 1)],
    ['a chat', () => stores.conversations.ofPerson(tenantId, kim)],
    ['the number of requests that retention reduces', () => stores.retention.count({ tenantId, before: new Date(0) })],
    ['housekeeping without old rows', () => forgetOld(stores, new Date())],
  ])('the query for %s uses an index and reads few other rows', async (_, work) => {
    for (const { scanned, rowsRead } of await plansOf(work)) {
      // The tables of templates, processes and bot state only have as many rows as there are templates and chats.
      expect(
        scanned.filter((table) => !['templates', 'processes', 'bot_state', 'conversations'].includes(table)),
      ).toEqual([])
      expect(rowsRead).toBeLessThan(300)
    }
  })

  it.each(['requests', 'entries'] as const)('a page of exported %s does not read the later pages', async (part) => {
    const period = { tenantId, from: new Date(0), before: new Date() }
    const firstPage = async () => {
      for await (const page of stores.exports[part](period)) if (page.length > 0) break
    }
    for (const { scanned, rowsRead } of await plansOf(firstPage)) {
      expect(scanned).toEqual([])
      expect(rowsRead).toBeLessThan(500)
    }
  })

  it('the export of a person reads each table once, and then pages of records by their keys', async () => {
    statements.splice(0)
    for await (const page of stores.personData.records(tenantId, request.requester))
      expect(page.length).toBeLessThanOrEqual(200)
    for (const table of ['requests', 'drafts']) {
      const [, ...pages] = statements.filter(({ sql }) => sql.includes(`FROM ${table}\n`))
      expect(pages.length).toBeGreaterThan(20)
      for (const page of pages.slice(1, 3)) {
        const { scanned, rowsRead } = await explain(store.database, page)
        expect(scanned).toEqual([])
        expect(rowsRead).toBeLessThanOrEqual(400)
      }
    }
  })

  it('what waits for a person is found without reading what waits for thousands of others', async () => {
    await store.database.patiently(async () => {
      await store.database.query(
        `INSERT INTO requests
           (request_id, tenant_id, number, kind, status, requester_id, waiting_for, version, submitted_at, updated_at, body)
         SELECT gen_random_uuid(), tenant_id, ${newest} + n, kind, status, requester_id, ARRAY[gen_random_uuid()], version,
           submitted_at, updated_at, body
         FROM (SELECT * FROM requests WHERE status = 'pendingApproval' LIMIT 1) AS sample,
           generate_series(1, ${stored}) AS n`,
      )
      await store.database.query('VACUUM (ANALYZE) requests')
    })
    for (const person of [dana, randomUUID()]) {
      const works = [
        () => stores.drafts.waitingFor(tenantId, person),
        list({ approverId: person, status: 'pendingApproval' }),
        count({ approverId: person, status: 'pendingApproval', limit: maxCounted }),
      ]
      for (const work of works) for (const { rowsRead } of await plansOf(work)) expect(rowsRead).toBeLessThan(300)
    }
  })

  it('the queries for due jobs, the jobs of dead processes and the state of the queue do not read finished jobs', async () => {
    const recorded = recording(store.database)
    const queue = await createQueue(recorded.database, silent)
    await queue.start(jobRegistry(sleeperJob(async () => undefined)))
    const { schema } = store.database.queueConnection
    await store.database.query(
      `INSERT INTO ${schema}.job (name, state, data, completed_on, policy)
       SELECT 'sleeper', 'completed', '{}', now(), 'standard' FROM generate_series(1, ${stored})`,
    )
    await store.database.query(`ANALYZE ${schema}.job`)
    const look = await until(
      () => recorded.statements.findLast(({ sql }) => /select distinct name/.test(sql)),
      'a look',
    )
    const before = recorded.statements.length
    await queue.state()
    await requestsOf(recorded.database, 'sleeper')
    await queue.stop(1)
    await reclaim(recorded.database, createBoss(recorded.database, silent))
    const own = /oldestSeconds|'requestId'|heartbeat_on|select id, name/
    const statements = recorded.statements.slice(before).filter(({ sql }) => own.test(sql) && sql.includes('.job'))
    expect(statements.length).toBeGreaterThanOrEqual(4)
    for (const statement of [look, ...statements]) {
      const { scanned, rowsRead } = await explain(store.database, statement)
      expect([statement.sql, scanned]).toEqual([statement.sql, []])
      expect(rowsRead).toBeLessThan(100)
    }
  })
})

describe.each(engines)('in a new store without statistics, %s:', (engine) => {
  const store = withDatabase(engine)

  it('the query for equal bodies has no index to choose but its own', async () => {
    const { database, statements } = recording(store.database)
    const { requests } = createStores(database)
    for (let count = 0; count < 50; count += 1) await requests.insert({ ...request, requestId: randomUUID() })
    statements.splice(0)
    const body = { fingerprint: 'none', since: new Date(0), but: randomUUID() }
    await requests.sentSince({ tenantId, requesterId: kim, ...body })
    const scannedBy = () => Promise.all(statements.map(async (one) => (await explain(store.database, one)).scanned))
    expect(await scannedBy()).toEqual([[]])
    await store.database.query('DROP INDEX requests_by_body')
    expect(await scannedBy()).toEqual([['requests']])
  })
})
