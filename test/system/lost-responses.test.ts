import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import type { IdempotencyStore, Person, RequestForSite } from '../../src/core/index.ts'
import { createIdempotencyKeys } from '../../src/store/shared/idempotency-keys.ts'
import { requestOf } from '../support/card-requests.ts'
import { asSite, dana, kim, omar, priya, tenantId, withCore } from '../support/core.ts'
import { startIssuer, startRest } from '../support/rest.ts'

describe('a decision with a lost answer', () => {
  const core = withCore()
  let number = 7000

  async function stored(more: Partial<RequestForSite>): Promise<string> {
    number += 1
    const [requestId, now] = [randomUUID(), new Date().toISOString()]
    const names = { requestId, number, alias: `lost-${number}` }
    await core.ports.requests.insert(asSite(requestOf({ tenantId, updatedAt: now, ...names, ...more })))
    return requestId
  }

  /** Starts a process with the store. With `dies` the process executes its work and then writes no answer. */
  async function started({ dies = false } = {}) {
    const issuer = await startIssuer()
    const keys = createIdempotencyKeys(core.database)
    const dead = () => Promise.reject(new Error('this process is dead'))
    const idempotency: IdempotencyStore = dies ? { ...keys, complete: dead, release: dead } : keys
    const tokens = { ...issuer.options, tenantId }
    const rest = await startRest(issuer, { core: core.provisioning, idempotency, tokens })
    return async (
      who: Person,
      verb: string,
      requestId: string,
      { key = '', comment = 'Because.', stage }: { key?: string; comment?: string; stage?: number } = {},
    ) => {
      const bodies = { reassign: { to: priya.id, comment }, nudge: {}, address: { address: 'another-one' } }
      const body = bodies[verb as keyof typeof bodies] ?? { comment, stage }
      const authorization = `Bearer ${await issuer.token({ oid: who.id, tid: tenantId })}`
      const headers = { authorization, ...(key && { 'idempotency-key': key }) }
      return rest.call('POST', `/requests/v1/${requestId}/${verb}`, { body, headers })
    }
  }

  const open = (rule: 'any' | 'all' = 'any', stages = 1): Partial<RequestForSite> => ({
    status: 'pendingApproval',
    approvals: Array.from({ length: stages }, (_, index) => {
      return { stage: index + 1, rule, approvers: [dana, omar], decisions: [] }
    }),
  })
  const failed: Partial<RequestForSite> = {
    status: 'failed',
    approvals: [],
    steps: [{ name: 'create-site', status: 'failed', attempts: 1 }],
  }
  const addressConflict = { taken: 'taken', suggestion: 'taken-2', at: new Date().toISOString() }
  const cases: [string, Person, string, Partial<RequestForSite>][] = [
    ['approve', dana, 'queued', open()],
    ['approve', dana, 'pendingApproval', open('all')],
    ['approve', dana, 'pendingApproval', open('any', 2)],
    ['reject', dana, 'rejected', open()],
    ['cancel', kim, 'cancelled', open()],
    ['retry', priya, 'queued', failed],
    ['reassign', dana, 'pendingApproval', open()],
    ['nudge', kim, 'pendingApproval', open()],
    ['address', kim, 'pendingApproval', { ...open(), alias: 'taken', addressConflict }],
  ]
  it.each(cases)(
    '%s by %o: a repeat with the same key receives the request (%s), and nothing happens twice',
    async (...one) => {
      const [verb, who, status, more] = one
      const requestId = await stored(more)
      const key = randomUUID()
      const first = await (await started({ dies: true }))(who, verb, requestId, { key })
      const entries = await core.ports.audit.timeline(requestId)
      const call = await started()
      const again = await call(who, verb, requestId, { key })
      expect([again.status, again.body]).toEqual([200, first.body])
      expect(again.body.status).toBe(status)
      expect(again.headers.get('idempotency-replayed')).toBeNull()
      expect((await call(who, verb, requestId, { key })).headers.get('idempotency-replayed')).toBe('true')
      expect(await core.ports.audit.timeline(requestId)).toEqual(entries)
    },
  )

  it('returns the current request, whatever has happened to it', async () => {
    const requestId = await stored(failed)
    const key = randomUUID()
    await (await started({ dies: true }))(priya, 'retry', requestId, { key })
    const now = await core.ports.requests.find(requestId)
    if (now) await core.ports.requests.update({ ...now, status: 'failed', version: now.version + 1 })
    const again = await (await started())(priya, 'retry', requestId, { key })
    expect([again.status, again.body.status]).toEqual([200, 'failed'])
  })

  it('without its key has no effect on the next stage, if it names its stage and the person is asked there as well', async () => {
    const requestId = await stored(open('any', 2))
    await (await started({ dies: true }))(dana, 'approve', requestId, { key: randomUUID(), stage: 1 })
    const call = await started()
    for (const verb of ['approve', 'reject']) {
      const again = await call(dana, verb, requestId, { stage: 1 })
      expect([again.status, again.body.code]).toEqual([409, 'already-decided'])
    }
    expect((await core.ports.requests.find(requestId))?.approvals.map(({ decisions }) => decisions.length)).toEqual([
      1, 0,
    ])
    expect((await call(dana, 'approve', requestId, { stage: 2 })).body.status).toBe('queued')
  })

  it('is final: with another key, without a key, by another person or with another verb, a repeat comes too late', async () => {
    const requestId = await stored(open())
    const key = randomUUID()
    await (await started({ dies: true }))(dana, 'approve', requestId, { key })
    const call = await started()
    const late = [
      await call(dana, 'approve', requestId, { key: randomUUID() }),
      await call(dana, 'approve', requestId),
      await call(omar, 'approve', requestId, { key }),
      await call(dana, 'reject', requestId, { key }),
    ]
    expect(late.map(({ status, body }) => [status, body.code])).toEqual(late.map(() => [409, 'already-decided']))
    const other = await call(dana, 'approve', requestId, { key, comment: 'Otherwise.' })
    expect([other.status, other.body.code]).toEqual([422, 'idempotency-key-reused'])
  })
})
