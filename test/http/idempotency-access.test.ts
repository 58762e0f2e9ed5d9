import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Core } from '../../src/core/index.ts'
import { createStores } from '../../src/store/index.ts'
import { approversGroup, dana, kim, omar, priya, withCore } from '../support/core.ts'
import { engines } from '../support/database.ts'
import { appClientId, startIssuer, startRest, tenantId } from '../support/rest.ts'

const adminsGroup = '33333333-cccc-4ccc-8ccc-000000000001'
const noLimits = { writesPerMinute: 0, writeBurst: 0, readsPerMinute: 0, tenantWritesPerMinute: 0 }

describe.each(engines)('an Idempotency-Key after changes of the caller’s rights, %s', (engine) => {
  const core = withCore(engine)
  const closes: (() => unknown)[] = []
  const atEnd = (close: () => unknown) => void closes.push(close)
  let issuer: Awaited<ReturnType<typeof startIssuer>>
  let provisioning: Core
  let rest: Awaited<ReturnType<typeof startRest>>
  let templateId = ''

  beforeAll(async () => {
    issuer = await startIssuer(atEnd)
    provisioning = core.with({}, { tenantId, admins: [adminsGroup], openRequestsPerPerson: 0 })
    rest = await serve()
    templateId = (await put({ id: randomUUID(), kind: 'teamSite', name: 'Working group' })).id
  })
  afterAll(async () => {
    for (const close of closes.reverse()) await close()
  })
  beforeEach(async () => {
    core.world.up = true
    core.world.guests.clear()
    core.world.groups.set(adminsGroup, [priya])
    core.world.groups.set(approversGroup, [dana, omar])
    for (const one of [kim, dana, omar, priya]) core.world.people.set(one.id, one)
    await core.database.query('DELETE FROM idempotency_keys')
  })

  const serve = (more: object = {}) =>
    startRest(issuer, { core: provisioning, idempotency: createStores(core.database).idempotency, ...more }, atEnd)
  async function put(more: object) {
    const template = await core.template(more)
    await core.database.query('UPDATE templates SET tenant_id = $1 WHERE template_id = $2', [tenantId, template.id])
    return template
  }
  const rows = async () => (await core.rows())['idempotency_keys']
  async function call(
    who: { readonly id: string },
    path: string,
    { key, body, over = rest }: { key: string; body?: unknown; over?: typeof rest },
  ) {
    const headers = { 'idempotency-key': key, authorization: `Bearer ${await issuer.token({ oid: who.id })}` }
    return over.call('POST', path, { body, headers })
  }
  const site = (more: object = {}) => ({ displayName: `Site ${randomUUID().slice(0, 8)}`, templateId, ...more })
  const sites = '/collab/v1/spo/'

  describe('a refused call', () => {
    const refusals: [what: string, status: number, act: () => Promise<{ status: number }>][] = [
      ['a field that is not valid', 422, () => call(kim, sites, { key: 'k', body: site({ displayName: '' }) })],
      ['an unknown field', 422, () => call(kim, sites, { key: 'k', body: site({ colour: 'red' }) })],
      ['an unknown request', 404, () => call(kim, `/requests/v1/${randomUUID()}/cancel`, { key: 'k' })],
      ['an address without an id', 404, () => call(kim, '/requests/v1/1042/cancel', { key: 'k' })],
      ['a call of an admin by somebody else', 403, () => call(kim, `/requests/v1/${randomUUID()}/retry`, { key: 'k' })],
      [
        'a caller who is a guest',
        403,
        () => {
          core.world.guests.add(kim.id)
          return call(kim, sites, { key: 'k', body: site() })
        },
      ],
      [
        'a directory that does not answer before anything is done',
        503,
        () => {
          core.world.up = false
          return call(kim, sites, { key: 'k', body: site() })
        },
      ],
      [
        'a name that is taken',
        409,
        async () => {
          const body = site({ alias: 'taken-here' })
          expect((await call(dana, sites, { key: 'other', body })).status).toBe(202)
          await core.database.query(`DELETE FROM idempotency_keys WHERE key = 'other'`)
          return call(kim, sites, { key: 'k', body })
        },
      ],
      [
        'more calls than the limit',
        429,
        async () => {
          const limited = await serve({ limits: { ...noLimits, writesPerMinute: 1, writeBurst: 1 } })
          expect((await call(kim, sites, { key: 'first', body: site(), over: limited })).status).toBe(202)
          await core.database.query(`DELETE FROM idempotency_keys WHERE key = 'first'`)
          return call(kim, sites, { key: 'k', body: site(), over: limited })
        },
      ],
    ]

    it.each(refusals)('does not store its key: %s', async (_, status, act) => {
      expect((await act()).status).toBe(status)
      expect(await rows()).toBe(0)
    })

    it('is checked again when it is repeated, and its key can be used with another body', async () => {
      const body = site()
      core.world.guests.add(kim.id)
      expect((await call(kim, sites, { key: 'k', body })).status).toBe(403)
      core.world.guests.clear()
      const accepted = await call(kim, sites, { key: 'k', body: site() })
      expect(accepted.status).toBe(202)
      expect((await call(kim, sites, { key: 'k', body })).body.code).toBe('idempotency-key-reused')
    })
  })

  describe('a stored answer', () => {
    const submitted = async (approval: object | null = null) => {
      const template = await put({ id: randomUUID(), ...(approval && { approval }) })
      const answer = await call(kim, sites, { key: randomUUID(), body: site({ templateId: template.id }) })
      expect(answer.status).toBe(202)
      return answer.body.requestId as string
    }
    const byApprovers = { stages: [{ approvers: [{ group: approversGroup }] }] }
    const fail = (requestId: string) =>
      core.database.query(
        `UPDATE requests SET status = 'failed', body = body || '{"status": "failed", "problem": {"code": "quota", "detail": "Full."}}'
         WHERE request_id = $1`,
        [requestId],
      )
    /** Makes the call, repeats it without a change, and repeats it after `change`. */
    async function repeated(change: () => unknown, act: () => ReturnType<typeof call>) {
      const first = await act()
      expect([200, 202, 204], first.text).toContain(first.status)
      const again = await act()
      expect([again.text, again.headers.get('idempotency-replayed')]).toEqual([first.text, 'true'])
      await change()
      const now = await act()
      expect(now.headers.get('idempotency-replayed')).toBeNull()
      return [now.status, now.body.code]
    }
    const loseAdmin = () => core.world.groups.set(adminsGroup, [])

    it.each([
      ['a guest', () => core.world.guests.add(kim.id), 403],
      ['blocked', () => core.world.people.set(kim.id, { ...kim, isBlocked: true }), 403],
      ['deleted', () => core.world.people.delete(kim.id), 403],
      ['unknown, because the directory does not answer', () => Object.assign(core.world, { up: false }), 503],
    ])('is not returned to a caller who is now %s', async (_, change, status) => {
      const body = site()
      const [answered] = await repeated(change, () => call(kim, sites, { key: 'k', body }))
      expect(answered).toBe(status)
      expect(await rows()).toBe(1)
    })

    it('is returned again when the caller has access again', async () => {
      const body = site()
      const first = await call(kim, sites, { key: 'k', body })
      core.world.guests.add(kim.id)
      expect((await call(kim, sites, { key: 'k', body })).status).toBe(403)
      core.world.guests.clear()
      expect((await call(kim, sites, { key: 'k', body })).text).toBe(first.text)
    })

    it('is not returned to an application that is no longer listed', async () => {
      const mailbox = await put({ id: randomUUID(), kind: 'sharedMailbox', name: 'Mailbox' })
      const body = { name: 'reception', displayName: 'Reception', templateId: mailbox.id }
      const app = {
        aud: 'api://contoso/mail',
        azp: appClientId,
        idtyp: 'app',
        scp: undefined,
        roles: ['App.ReadWrite.All'],
      }
      const authorization = `Bearer ${await issuer.token(app)}`
      const headers = { 'idempotency-key': 'k', authorization }
      const act = (over: typeof rest) => over.call('POST', '/mail/v1/mailboxes/', { body, headers })
      const first = await act(rest)
      expect((await act(rest)).text).toBe(first.text)
      const unlisted = await serve({ tokens: { ...issuer.options, mailAppClients: [] } })
      const now = await act(unlisted)
      expect([now.status, now.body.code]).toEqual([403, 'insufficient-scope'])
    })

    it('of a retry is not returned to a former admin', async () => {
      const requestId = await submitted()
      await fail(requestId)
      const act = () => call(priya, `/requests/v1/${requestId}/retry`, { key: 'k' })
      expect(await repeated(loseAdmin, act)).toEqual([403, 'forbidden'])
    })

    it('of a cancellation is not returned to a former admin', async () => {
      const requestId = await submitted(byApprovers)
      const act = () => call(priya, `/requests/v1/${requestId}/cancel`, { key: 'k' })
      expect(await repeated(loseAdmin, act)).toEqual([404, 'not-found'])
    })

    it('is not created again for a former admin if the answer was lost', async () => {
      const requestId = await submitted(byApprovers)
      const act = () => call(priya, `/requests/v1/${requestId}/cancel`, { key: 'k' })
      const lose = async () => {
        await core.database.query(`UPDATE idempotency_keys SET answer = NULL, lease_until = NULL WHERE key = 'k'`)
        loseAdmin()
      }
      expect(await repeated(lose, act)).toEqual([404, 'not-found'])
    })

    it('of a reassignment is not returned to a former admin', async () => {
      const requestId = await submitted({ stages: [{ approvers: [{ user: dana.id }] }] })
      const body = { to: omar.id, from: dana.id }
      const act = () => call(priya, `/requests/v1/${requestId}/reassign`, { key: 'k', body })
      expect(await repeated(loseAdmin, act)).toEqual([404, 'not-found'])
    })

    it('of a cancelled batch is not returned to a former admin', async () => {
      const batch = await call(kim, '/requests/v1/batch', {
        key: 'batch',
        body: { resource: 'site', rows: [{ key: '1', body: site() }] },
      })
      const act = () => call(priya, `/batches/v1/${batch.body.batchId}/cancel`, { key: 'k' })
      expect(await repeated(loseAdmin, act)).toEqual([404, 'not-found'])
    })

    it('of a decision is returned to its approver', async () => {
      const requestId = await submitted(byApprovers)
      const act = () => call(dana, `/requests/v1/${requestId}/approve`, { key: 'k' })
      const first = await act()
      expect(first.status).toBe(200)
      const again = await act()
      expect([again.text, again.headers.get('idempotency-replayed')]).toEqual([first.text, 'true'])
    })
  })

  it('follows the same rules in any order of calls, refusals and changes of rights', async () => {
    const keys = ['a', 'b']
    const bodies = [site(), site(), site({ displayName: '' })]
    const step = fc.oneof(
      { weight: 4, arbitrary: fc.record({ key: fc.constantFrom(...keys), body: fc.nat(bodies.length - 1) }) },
      { weight: 1, arbitrary: fc.constantFrom('guest' as const, 'employee' as const) },
    )
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
        await core.database.query('DELETE FROM idempotency_keys')
        core.world.guests.clear()
        const accepted = new Map<string, { body: number; text: string }>()
        for (const one of steps) {
          if (one === 'guest') core.world.guests.add(kim.id)
          else if (one === 'employee') core.world.guests.clear()
          else {
            const answer = await call(kim, sites, { key: one.key, body: bodies[one.body] })
            const known = accepted.get(one.key)
            if (known && known.body !== one.body) expect(answer.body.code).toBe('idempotency-key-reused')
            else if (core.world.guests.has(kim.id)) expect(answer.body.code).toBe('forbidden')
            else if (known) expect(answer.text).toBe(known.text)
            else if (one.body === 2) expect(answer.body.code).toBe('validation-failed')
            else accepted.set(one.key, { body: one.body, text: answer.text })
          }
          expect(await rows()).toBe(accepted.size)
        }
      }),
      { seed: 18, numRuns: engine === 'embedded' ? 15 : 30 },
    )
  })
})
