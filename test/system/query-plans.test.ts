import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, it } from 'vitest'
import { mostCounted, openStates } from '../../src/core/index.ts'
import { jobRegistry } from '../../src/jobs/queue/define-job.ts'
import { createQueue } from '../../src/jobs/queue/queue.ts'
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

/** Requests as the bench fills them in, and thousands of rows in each table beside them that only grows. */
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
  `INSERT INTO name_counters SELECT '${tenantId}', 'scope ' || n, n FROM generate_series(1, ${stored}) AS n`,
  `INSERT INTO chat_pace SELECT 'chat ' || n, '{}', now() - n * interval '1 second'
   FROM generate_series(1, ${stored}) AS n`,
]

const request = requestOf({ requester: { id: kim, displayName: 'Kim Lee', userPrincipalName: 'kim@contoso.example' } })
const sample = (status: typeof request.status, kind: 'site' | 'room' = 'site') => ({
  request: { ...request, ...(kind === 'room' && { kind: 'communicationSite' as const }), status, steps: stepsUntil(2) },
  timeline: [{ action: 'submitted' }, { action: status }],
})
const told = { followUp: { state: 'announced' as const } }
const made = (kind?: 'room') => {
  const one = sample('succeeded', kind)
  return { ...one, request: { ...one.request, ...told } }
}

describe.each(engines)('however many requests there are, %s', (engine) => {
  const store = withDatabase(engine)
  let stores: Stores
  let statements: Statement[]
  beforeAll(async () => {
    const samples = { pending: sample('pendingApproval'), rejected: sample('rejected'), failed: sample('failed') }
    const finished = { room: made('room'), workingGroup: made(), projectSite: made() }
    await fillHistory(store.database, { ...samples, ...finished }, stored)
    for (const sql of others) await store.database.query(sql)
    await store.database.query('ANALYZE')
    const recorded = recording(store.database)
    stores = createStores(recorded.database)
    statements = recorded.statements
  }, 120_000)

  /** How each statement is done that this work runs. */
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
    ...{ tenantId, queuedBefore: long, provisioningBefore: long, askedBefore: long, madeBefore: long },
    ...{ underWay: [], limit: 100 },
  }
  const ofTemplate = { tenantId, templateId: randomUUID(), but: [randomUUID()], most: 100 }
  const card = { requestId: randomUUID(), personId: kim, key: 'status', conversationId: 'chat' } as const

  it.each<[string, () => Promise<unknown>]>([
    ['one request', () => stores.requests.find(randomUUID())],
    ['one request by its number', () => stores.requests.findByNumber(tenantId, newest - 1000)],
    ['its timeline', () => stores.audit.timeline(randomUUID())],
    ['own requests', list({ requesterId: kim })],
    ['own requests, a page far behind', list({ requesterId: kim, before: behind })],
    ['own requests, the page before one far behind', list({ requesterId: kim, after: behind, oldestFirst: true })],
    ['how many of them are older', count({ requesterId: kim, before: newest, limit: mostCounted })],
    ['how many of them are newer', count({ requesterId: kim, after: behind, limit: mostCounted })],
    ['how many wait for a person', count({ approverId: dana, status: 'pendingApproval', limit: mostCounted })],
    ['own requests in one state', list({ requesterId: kim, status: 'rejected' })],
    ['all requests', list({})],
    ['all requests, a page far behind', list({ before: newest - stored + 50 })],
    ['all in one state', list({ status: 'failed' })],
    ['all in a state that none is in', list({ status: 'expired' })],
    ['all of one kind', list({ kind: 'communicationSite' })],
    ['all of a kind that nobody asked for', list({ kind: 'equipmentMailbox' })],
    ['all of one kind in one state', list({ kind: 'communicationSite', status: 'rejected' })],
    ['the oldest that have failed', list({ status: ['failed'], oldestFirst: true })],
    ['the oldest under way', list({ status: ['queued', 'provisioning'], oldestFirst: true })],
    ['what nobody was told of', list({ status: 'succeeded', unannounced: true, oldestFirst: true })],
    ['what waits for a person', list({ approverId: dana, status: 'pendingApproval' })],
    ['what waits for a person who is not asked', list({ approverId: kim, status: 'pendingApproval' })],
    ['how many a person has open', () => stores.requests.countOpen(tenantId, kim)],
    [
      'how much was made of a template that few asked for',
      () => stores.requests.countOfTemplate({ ...ofTemplate, states: [...openStates, 'succeeded'] }),
    ],
    [
      'how many of it a person has open',
      () => stores.requests.countOfTemplate({ ...ofTemplate, requesterId: kim, states: openStates }),
    ],
    ['the last number of a name', () => stores.nameCounters.last(tenantId, 'scope 7')],
    ['what was asked for in a time', () => stores.stats.submitted(tenantId, anHour)],
    ['how much was asked for in a time', () => stores.stats.countSubmitted(tenantId, anHour)],
    ['what was decided and made in a time', () => stores.stats.measure(tenantId, anHour)],
    ['who decided in a time', () => stores.stats.approvers(tenantId, anHour, 20)],
    ['what failed in a time', () => stores.stats.failures(tenantId, anHour)],
    ['how many are open', () => stores.requests.countByState(tenantId, openStates)],
    ['what is overdue', () => stores.requests.overdue(overdue)],
    ['what waits and is not looked after', () => stores.requests.waitingBut(tenantId, [], limit)],
    ['who decides for whom', () => stores.delegations.reaching(tenantId, [kim, dana], new Date().toISOString())],
    ['for whom somebody decides', () => stores.delegations.toPerson(tenantId, kim, new Date().toISOString())],
    ['who holds a name', () => stores.reservations.holder(tenantId, 'Name 7')],
    ['keeping and releasing a name', () => stores.reservations.release(randomUUID())],
    ['the cards of a request', () => stores.sentCards.ofRequest(randomUUID())],
    ['one card', () => stores.sentCards.find(card.requestId, card.personId, card.key)],
    ['a draft', () => stores.drafts.find(randomUUID())],
    ['what a person has begun', () => stores.drafts.listBegun(tenantId, kim, 50)],
    ['deliveries of the log', () => stores.deliveries.list({ tenantId, limit })],
    ['how many deliveries ended of late', () => stores.deliveries.tally(tenantId, new Date())],
    ['how many deliveries have failed', () => stores.deliveries.countFailed(tenantId, null, limit)],
    ['the latest of a receiver', () => stores.deliveries.list({ tenantId, templateId: randomUUID(), limit })],
    ['deliveries of one request', () => stores.deliveries.list({ tenantId, requestId: randomUUID(), limit })],
    ['a chat', () => stores.conversations.ofPerson(tenantId, kim)],
    ['housekeeping with nothing to forget', () => forgetOld(stores, new Date())],
  ])('%s is found by an index, without reading much else', async (_, work) => {
    for (const { scanned, rowsRead } of await plansOf(work)) {
      // Templates, processes and bot state are as many as there are templates and chats.
      expect(
        scanned.filter((table) => !['templates', 'processes', 'bot_state', 'conversations'].includes(table)),
      ).toEqual([])
      expect(rowsRead).toBeLessThan(300)
    }
  })

  it('what is due in the queue is found without reading what is done', async () => {
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
    await queue.stop(1)
    const { scanned, rowsRead } = await explain(store.database, look)
    expect(scanned).toEqual([])
    expect(rowsRead).toBeLessThan(100)
  })
})
