import { describe, expect, it } from 'vitest'
import type { Request } from '../../src/core/index.ts'
import { actorOf, asMailbox, kim, withCore } from '../support/core.ts'
import { engines } from '../support/database.ts'
import { detailOf, named, refusal } from '../support/refusal.ts'

const asKim = actorOf(kim)
const fifty = Array.from({ length: 50 }, (_, index) => index)
const isRequest = (one: PromiseSettledResult<Request>): one is PromiseFulfilledResult<Request> =>
  one.status === 'fulfilled'

describe('the name of a mailbox', () => {
  const core = withCore()
  const ask = async (more: { name: string } & Record<string, unknown>, template: object = {}) => {
    const { id: templateId } = await core.template({ kind: 'sharedMailbox', ...template })
    return { displayName: 'Any', templateId, ...more }
  }
  const submit = async (body: unknown) => asMailbox(await core.provisioning.submitMailbox(asKim, { body }))
  const refused = (body: unknown) => refusal(() => core.provisioning.submitMailbox(asKim, { body }))

  it('is refused with a free suggestion if taken in the tenant, and the suggestion is accepted unchanged', async () => {
    const naming = { prefix: 'room-', suffix: '' }
    core.world.taken.add('room-spree@contoso.example').add('room-spree-2')
    const body = await ask({ name: 'spree' }, { kind: 'roomMailbox', naming })
    const { code, faults } = await refused(body)
    expect([code, ...named(faults), faults[0]?.suggestion]).toEqual(['name-taken', '/name name-taken', 'room-spree-3'])
    expect(detailOf(faults[0])).toBe('The address room-spree@contoso.example is taken. Try room-spree-3.')
    expect((await submit({ ...body, name: faults[0]?.suggestion })).address).toBe('room-spree-3@contoso.example')
  })

  it('is taken in all domains if another request holds it, because names in Exchange are unique', async () => {
    await submit(await ask({ name: 'held' }))
    for (const domain of ['contoso.example', 'contoso-labs.example', 'Contoso-Labs.example']) {
      const { code, faults } = await refused(await ask({ name: 'HELD', domain }))
      expect([code, faults[0]?.suggestion]).toEqual(['name-taken', 'held-2'])
    }
    expect((await submit(await ask({ name: 'held-2' }))).address).toBe('held-2@contoso.example')
  })

  it('can equal another request’s additional address in another domain, but not in the same one', async () => {
    await submit(await ask({ name: 'further', alias: 'desk@contoso-labs.example' }))
    const { faults } = await refused(await ask({ name: 'desk', domain: 'contoso-labs.example' }))
    expect(named(faults)).toEqual(['/name name-taken'])
    expect((await submit(await ask({ name: 'desk' }))).address).toBe('desk@contoso.example')
  })

  it('is free again after its request is cancelled, with all addresses', async () => {
    const body = await ask({ name: 'fleeting', alias: 'fleeting-too' })
    const { requestId } = await submit(body)
    await core.provisioning.cancelRequest(asKim, { requestId })
    expect((await submit(body)).aliasAddress).toBe('fleeting-too@contoso.example')
  })

  it('cannot equal the address of a site, as in Microsoft 365', async () => {
    const { id: templateId } = await core.template()
    await core.provisioning.submitSite(asKim, { body: { displayName: 'Plaza', alias: 'plaza', templateId } })
    expect((await refused(await ask({ name: 'plaza' }))).faults[0]?.suggestion).toBe('plaza-2')
  })
})

describe('the alias of a mailbox', () => {
  const core = withCore()
  const ask = async (more: { name: string } & Record<string, unknown>) => {
    const { id: templateId } = await core.template({ kind: 'sharedMailbox' })
    return { displayName: 'Any', templateId, ...more }
  }
  const submit = async (body: unknown) => asMailbox(await core.provisioning.submitMailbox(asKim, { body }))
  const refused = (body: unknown) => refusal(() => core.provisioning.submitMailbox(asKim, { body }))

  it('is refused with a free suggestion if taken, and the suggestion is accepted unchanged', async () => {
    core.world.taken.add('sales@contoso.example').add('sales-2@contoso.example')
    for (const alias of ['sales', 'Sales@Contoso.example']) {
      const { code, faults } = await refused(await ask({ name: `${alias.length}-desk`, alias }))
      expect([code, ...named(faults)]).toEqual(['name-taken', '/alias name-taken'])
      expect(faults[0]?.suggestion).toBe('sales-3@contoso.example')
    }
    const made = await submit(await ask({ name: 'desk', alias: 'sales-3@contoso.example' }))
    expect(made.aliasAddress).toBe('sales-3@contoso.example')
  })

  it('cannot be the address or the alias of another request', async () => {
    await submit(await ask({ name: 'primary', alias: 'secondary' }))
    for (const alias of ['primary@contoso.example', 'secondary@contoso.example']) {
      const { code, faults } = await refused(await ask({ name: `of-${alias.slice(0, 4)}`, alias }))
      expect([code, ...named(faults)]).toEqual(['name-taken', '/alias name-taken'])
    }
    expect(named((await refused(await ask({ name: 'secondary' }))).faults)).toEqual(['/name name-taken'])
  })

  it('is reported together with the name if both are taken', async () => {
    core.world.taken.add('both@contoso.example').add('too@contoso.example')
    const { code, faults } = await refused(await ask({ name: 'both', alias: 'too' }))
    expect([code, ...named(faults).sort()]).toEqual(['name-taken', '/alias name-taken', '/name name-taken'])
    expect(faults.map(({ suggestion }) => suggestion)).toEqual(['both-2', 'too-2@contoso.example'])
  })
})

describe.each(engines)('many mailbox requests at once, %s', (engine) => {
  const core = withCore(engine)

  it('with one name: one succeeds, the others are refused and leave nothing behind', async () => {
    const { id: templateId } = await core.template({ kind: 'sharedMailbox' })
    const before = await core.rows()
    const body = { name: 'popular', displayName: 'Popular', templateId }
    const results = await Promise.allSettled(fifty.map(() => core.provisioning.submitMailbox(asKim, { body })))
    expect(results.filter(isRequest)).toHaveLength(1)
    for (const one of results) {
      if (isRequest(one)) continue
      const { code, faults } = await refusal(() => Promise.reject(one.reason))
      expect([code, ...named(faults)]).toEqual(['name-taken', '/name name-taken'])
    }
    const after = await core.rows()
    const more = Object.keys(after).map((table) => [table, (after[table] ?? 0) - (before[table] ?? 0)] as const)
    // The reservations are its address, and its name for all domains.
    expect(Object.fromEntries(more.filter(([, count]) => count !== 0))).toEqual({
      ...{ requests: 1, reservations: 2, audit_log: 1, audit_heads: 1, ordered_jobs: 2, counters: 1 },
    })
  })

  it('with swapped addresses: each address has one holder', async () => {
    const { id: templateId } = await core.template({ kind: 'sharedMailbox' })
    const body = (name: string, alias: string) => ({
      name,
      alias: `${alias}@contoso.example`,
      displayName: name,
      templateId,
    })
    const tries = fifty
      .slice(0, 20)
      .flatMap((index) => [body(`a${index}`, `b${index}`), body(`b${index}`, `a${index}`)])
    const results = await Promise.allSettled(tries.map((one) => core.provisioning.submitMailbox(asKim, { body: one })))
    const made = results.filter(isRequest).map(({ value }) => asMailbox(value))
    expect(made).toHaveLength(20)
    const addresses = made.flatMap(({ address, aliasAddress }) => [address, aliasAddress])
    expect(new Set(addresses).size).toBe(40)
  })
})
