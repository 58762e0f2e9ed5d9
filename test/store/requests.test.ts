import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, it } from 'vitest'
import {
  AlreadySubmitted,
  provisioningRequest,
  type Request,
  type RequestForSite,
  type RequestState,
  requestStates,
} from '../../src/core/index.ts'
import { createStores, type Stores } from '../../src/store/index.ts'
import { requestOf } from '../support/card-requests.ts'
import { at, dana, kim, omar, priya, stageOf } from '../support/card-world.ts'
import { engines, withDatabase } from '../support/database.ts'

const fifty = Array.from({ length: 50 }, (_, index) => index)
const byNumber = (one: number, other: number): number => one - other

describe.each(engines)('stored requests, %s', (engine) => {
  const store = withDatabase(engine)
  let stores: Stores
  beforeAll(() => {
    stores = createStores(store.database)
  })

  const insert = async (more: Partial<RequestForSite> = {}): Promise<Request> => {
    const request = provisioningRequest.parse(requestOf({ requestId: randomUUID(), ...more }))
    const stored = await stores.requests.insert(request)
    if (!stored) throw new Error('the request was there already')
    return stored
  }

  it('are found unchanged by id and by number, and not by another tenant', async () => {
    const request = await insert()
    const { requestId, tenantId, number } = request
    expect(await stores.requests.find(requestId)).toEqual(request)
    expect(await stores.requests.findByNumber(tenantId, number)).toEqual(request)
    expect(await stores.requests.findByNumber(randomUUID(), number)).toBeUndefined()
    expect(await stores.requests.find(randomUUID())).toBeUndefined()
  })

  it('with the same id are stored once', async () => {
    const request = await insert()
    await expect(stores.requests.insert({ ...request, reason: 'Again' })).rejects.toBeInstanceOf(AlreadySubmitted)
    expect(await stores.requests.find(request.requestId)).toEqual(request)
  })

  it('change by one version at a time, and refuse a change of an older version', async () => {
    const request = await insert()
    const next: Request = { ...request, status: 'cancelled', version: 2 }
    await stores.requests.update(next)
    expect(await stores.requests.find(request.requestId)).toEqual(next)
    await expect(stores.requests.update({ ...request, version: 2 })).rejects.toThrow(/was changed concurrently/)
    await expect(stores.requests.update({ ...request, version: 4 })).rejects.toThrow(/was changed concurrently/)
    expect(await stores.requests.find(request.requestId)).toEqual(next)
  })

  it('are changed one after the other under a lock, so no change is lost', async () => {
    const { requestId } = await insert({ reason: '' })
    const add = (index: number) =>
      store.database.transaction(async () => {
        const now = await stores.requests.lock(requestId)
        if (!now) throw new Error('gone')
        await stores.requests.update({ ...now, reason: `${now.reason}${index},`, version: now.version + 1 })
      })
    await Promise.all(fifty.map(add))
    const after = await stores.requests.find(requestId)
    expect(after?.version).toBe(51)
    expect(after?.reason.split(',').filter(Boolean).map(Number).sort(byNumber)).toEqual(fifty)
  })

  it('get 50 different numbers when 50 are stored at the same time, from 1001 for each tenant', async () => {
    const tenants = [randomUUID(), randomUUID()]
    for (const tenant of tenants) {
      const made = await Promise.all(fifty.map(() => insert({ tenantId: tenant })))
      const numbers = made.map(({ number }) => number)
      expect(numbers.sort(byNumber)).toEqual(fifty.map((index) => 1001 + index))
    }
  })

  it('do not use up a number when their transaction fails', async () => {
    const tenant = randomUUID()
    const failure = store.database.transaction(async () => {
      await insert({ tenantId: tenant })
      throw new Error('changed my mind')
    })
    await expect(failure).rejects.toThrow('changed my mind')
    expect((await insert({ tenantId: tenant })).number).toBe(1001)
  })

  it('are listed newest first, by every filter, page after page', async () => {
    const tenantId = randomUUID()
    const states: RequestState[] = ['queued', 'succeeded', 'pendingApproval']
    const all: Request[] = []
    for (const index of fifty.slice(0, 12)) {
      const requester = index % 2 === 0 ? kim : omar
      const kind = index % 4 === 0 ? 'communicationSite' : 'teamSite'
      all.unshift(await insert({ tenantId, requester, kind, status: states[index % 3] ?? 'queued' }))
    }
    const ids = (requests: readonly Request[]) => requests.map(({ requestId }) => requestId)
    const list = async (query: object) => ids(await stores.requests.list({ tenantId, limit: 100, ...query }))
    const expected = (keep: (request: Request) => boolean) => ids(all.filter(keep))
    expect(await list({})).toEqual(ids(all))
    expect(await list({ requesterId: kim.id })).toEqual(expected(({ requester }) => requester.id === kim.id))
    expect(await list({ status: 'succeeded' })).toEqual(expected(({ status }) => status === 'succeeded'))
    expect(await list({ kind: 'teamSite', requesterId: omar.id, status: 'queued' })).toEqual(
      expected((one) => one.kind === 'teamSite' && one.requester.id === omar.id && one.status === 'queued'),
    )
    const pages: string[][] = []
    for (let before: number | undefined; ; ) {
      const page = await stores.requests.list({ tenantId, limit: 5, ...(before !== undefined && { before }) })
      if (page.length === 0) break
      pages.push(ids(page))
      before = page.at(-1)?.number
    }
    expect(pages.map(({ length }) => length)).toEqual([5, 5, 2])
    expect(pages.flat()).toEqual(ids(all))
  })

  it('wait for the undecided approvers of the open stage while they are pending', async () => {
    const tenantId = randomUUID()
    const decisions = [{ by: dana, decision: 'approved' as const, at: at('09:31') }]
    const approvals = [stageOf(1, [dana, omar], { rule: 'all', decisions }), stageOf(2, [priya])]
    const request = await insert({ tenantId, approvals })
    const waits = async (id: string) =>
      (await stores.requests.list({ tenantId, approverId: id, limit: 9 })).map(({ requestId }) => requestId)
    expect(await waits(omar.id)).toEqual([request.requestId])
    expect(await waits(dana.id)).toEqual([])
    expect(await waits(priya.id)).toEqual([])
    await stores.requests.update({ ...request, status: 'cancelled', version: 2 })
    expect(await waits(omar.id)).toEqual([])
  })

  it('are listed by one state or several, optionally the oldest first', async () => {
    const tenantId = randomUUID()
    const states: RequestState[] = ['queued', 'succeeded', 'failed', 'provisioning', 'queued']
    const all: Request[] = []
    for (const status of states) all.push(await insert({ tenantId, status }))
    const list = async (query: object) =>
      (await stores.requests.list({ tenantId, limit: 100, ...query })).map(({ number }) => number)
    const expected = (...wanted: RequestState[]) =>
      all.filter(({ status }) => wanted.includes(status)).map(({ number }) => number)
    expect(await list({ status: ['queued', 'failed'], oldestFirst: true })).toEqual(expected('queued', 'failed'))
    expect(await list({ status: ['queued', 'failed'] })).toEqual(expected('queued', 'failed').reverse())
    expect(await list({ status: [] })).toEqual([])
    expect(await list({ oldestFirst: true, limit: 2 })).toEqual(expected(...states).slice(0, 2))
    expect(await stores.requests.countByState(tenantId, requestStates)).toEqual({
      queued: 2,
      succeeded: 1,
      failed: 1,
      provisioning: 1,
    })
    expect(await stores.requests.countByState(tenantId, ['failed', 'expired'])).toEqual({ failed: 1 })
    expect(await stores.requests.countByState(randomUUID(), requestStates)).toEqual({})
  })

  it('are listed after success until they are announced, by a separate index', async () => {
    const tenantId = randomUUID()
    const made = (followUp: Request['followUp']['state'], status: RequestState = 'succeeded') =>
      insert({ tenantId, status, followUp: { state: followUp } })
    const waiting = await made('waiting')
    await made('announced')
    const late = await made('late')
    await made('waiting', 'provisioning')
    const query = { tenantId, status: 'succeeded', unannounced: true, limit: 9, oldestFirst: true } as const
    expect(await stores.requests.list(query)).toEqual([waiting, late])
    await stores.requests.update({ ...waiting, followUp: { state: 'announced', by: 'state' }, version: 2 })
    expect(await stores.requests.list(query)).toEqual([late])
    const { rows } = await store.database.query<{ indexdef: string }>(
      `SELECT indexdef FROM pg_indexes WHERE schemaname = current_schema() AND indexname = 'requests_unannounced'`,
    )
    expect(rows[0]?.indexdef).toContain("'announced'")
  })

  it('count against the limit of open requests until they have ended or failed', async () => {
    const tenantId = randomUUID()
    const states: RequestState[] = ['pendingApproval', 'queued', 'provisioning', 'failed', 'succeeded', 'expired']
    for (const status of states) await insert({ tenantId, status })
    expect(await stores.requests.countOpen(tenantId, kim.id)).toBe(3)
    expect(await stores.requests.countOpen(tenantId, omar.id)).toBe(0)
  })

  it('count as one open request if they are rows of the same batch and wait for approval', async () => {
    const tenantId = randomUUID()
    const [one, other] = [randomUUID(), randomUUID()]
    for (const batchId of [one, one, other]) await insert({ tenantId, batch: { batchId, row: '1' } })
    await insert({ tenantId, batch: { batchId: one, row: '2' }, status: 'queued' })
    await insert({ tenantId })
    expect(await stores.requests.countOpen(tenantId, kim.id)).toBe(4)
    expect(await stores.requests.countOpen(tenantId, kim.id, one)).toBe(3)
  })
})
