import { describe, expect, it } from 'vitest'
import { dayAfter, mailKey, siteKey } from '../../src/core/index.ts'
import { createStores } from '../../src/store/index.ts'
import { actorOf, asMailbox, asSite, dana, kim, omar, tenantId, tenantWith, withCore } from '../support/core.ts'
import { named, refusal, shownFaults } from '../support/refusal.ts'

const asKim = actorOf(kim)
const asDana = actorOf(dana)
const first = '2027-03-01'
const days = 90

describe('an address that belonged to somebody else', () => {
  const core = withCore()
  const at = (day: string) => ({ clock: { now: () => new Date(`${day}T09:00:00Z`) } })
  /** Returns the core on a day, a number of days after the first. */
  const on = (later: number, parts: Parameters<typeof core.with>[0] = {}) =>
    core.with({ ...at(dayAfter(first, later)), ...parts }, { formerAddressDays: days })
  const recordAddresses = (later: number) => on(later).system.noteAddresses(new AbortController().signal)
  const run = { lastAttempt: true, signal: new AbortController().signal }
  const mailbox = async (name: string, template: object = {}) => {
    const { id: templateId } = await core.template({ kind: 'sharedMailbox', ...template })
    return { templateId, displayName: 'Desk', name }
  }
  const site = async (alias: string, template: object = {}) => {
    const { id: templateId } = await core.template(template)
    return { templateId, displayName: 'Site', alias }
  }

  it('is not free after a person has left, until the day in the answer', async () => {
    core.world.inUse = [{ key: mailKey('Quinn@contoso.example'), holder: omar.id }]
    await recordAddresses(0)
    core.world.inUse = []
    await recordAddresses(1)
    const body = await mailbox('quinn')
    const { faults } = await refusal(() => on(days - 1).submitMailbox(asKim, { body }))
    expect(shownFaults(faults)).toEqual([
      {
        pointer: '/name',
        code: 'former-address',
        detail: `The address quinn@contoso.example belonged to another person or resource. The address is free from ${dayAfter(first, days)}. Try quinn-2.`,
        suggestion: 'quinn-2',
      },
    ])
    const alias = { ...(await mailbox('help')), alias: 'quinn@contoso.example' }
    expect(named((await refusal(() => on(days - 1).submitMailbox(asKim, { body: alias }))).faults)).toEqual([
      '/alias former-address',
    ])
    // A site's group would get the same address.
    const group = await site('quinn')
    expect(named((await refusal(() => on(days - 1).submitSite(asKim, { body: group }))).faults)).toEqual([
      '/alias former-address',
    ])
    expect((await on(days).submitMailbox(asKim, { body })).status).toBe('queued')
  })

  it('is refused in another domain, because the account would get it as its sign-in name', async () => {
    core.world.inUse = [{ key: mailKey('opal@contoso.example'), holder: omar.id }]
    await recordAddresses(0)
    core.world.inUse = []
    const body = { ...(await mailbox('opal')), domain: 'contoso-labs.example' }
    expect(named((await refusal(() => on(1).submitMailbox(asKim, { body }))).faults)).toEqual(['/name former-address'])
    expect((await on(days).submitMailbox(asKim, { body })).status).toBe('queued')
  })

  it('is free at any time for its former holder, and for others with a template that allows it', async () => {
    core.world.inUse = ['rene', 'remy'].map((name) => ({ key: mailKey(`${name}@contoso.example`), holder: kim.id }))
    await recordAddresses(2)
    core.world.inUse = []
    const body = await mailbox('rene')
    expect(named((await refusal(() => on(3).submitMailbox(asDana, { body }))).faults)).toEqual(['/name former-address'])
    const allowed = await mailbox('remy', { naming: { allowFormerAddresses: true } })
    expect((await on(3).submitMailbox(asDana, { body: allowed })).status).toBe('queued')
    expect((await on(3).submitMailbox(asKim, { body })).status).toBe('queued')
  })

  it('is skipped for a derived name and never suggested', async () => {
    core.world.inUse = ['sol', 'sol-2'].map((alias) => ({ key: siteKey(alias), holder: 'site' }))
    await recordAddresses(4)
    core.world.inUse = []
    const { id: templateId } = await core.template()
    expect(asSite(await on(5).submitSite(asKim, { body: { templateId, displayName: 'Sol' } })).alias).toBe('sol-3')
  })

  it('is free for the requester of a deleted resource, and for nobody else', async () => {
    const { requestId } = await on(6).submitMailbox(asKim, { body: await mailbox('taurus') })
    await on(6, { tenant: tenantWith() }).system.provision(requestId, run)
    const body = await mailbox('taurus')
    const refused = await refusal(() => on(7).submitMailbox(asDana, { body }))
    expect(shownFaults(refused.faults)).toMatchObject([
      { code: 'former-address', detail: expect.stringContaining(`free from ${dayAfter(first, 6 + days)}`) },
    ])
    const again = await on(8).submitMailbox(asKim, { body })
    expect(asMailbox(again).address).toBe('taurus@contoso.example')
  })

  it('becomes free by the last day of the resource’s existence, not by the day of the request', async () => {
    const { requestId } = await on(0).submitSite(asKim, { body: await site('ursa') })
    await on(0, { tenant: tenantWith() }).system.provision(requestId, run)
    core.world.inUse = [{ key: siteKey('ursa'), holder: 'site' }]
    await recordAddresses(days)
    core.world.inUse = []
    const body = await site('ursa')
    expect(named((await refusal(() => on(days + 1).submitSite(asDana, { body }))).faults)).toEqual([
      '/alias former-address',
    ])
    expect((await on(days + 1).submitSite(asKim, { body })).status).toBe('queued')
  })

  it('is not free for the 30 days in which Microsoft 365 can restore it, even with the setting off', async () => {
    core.world.taken.add('vega@contoso.example')
    core.world.deleted.set('vega@contoso.example', new Date(`${first}T08:00:00Z`))
    const body = await mailbox('vega')
    const off = core.with(at(first), { formerAddressDays: 0 })
    expect(shownFaults((await refusal(() => off.submitMailbox(asKim, { body }))).faults)).toMatchObject([
      { code: 'former-address', detail: expect.stringContaining(`free from ${dayAfter(first, 30)}`) },
    ])
    expect(shownFaults((await refusal(() => on(0).submitMailbox(asKim, { body }))).faults)).toMatchObject([
      { code: 'former-address', detail: expect.stringContaining(`free from ${dayAfter(first, days)}`) },
    ])
  })

  it('fails a request that waited until the holder had left', async () => {
    const stored = await on(9).submitSite(asDana, { body: await site('wega') })
    core.world.inUse = [{ key: siteKey('wega'), holder: 'another site' }]
    await recordAddresses(10)
    core.world.inUse = []
    await on(11, { tenant: tenantWith() }).system.provision(stored.requestId, run)
    const { status, problem } = await core.provisioning.readRequest(asDana, { requestId: stored.requestId })
    expect([status, problem?.code]).toEqual(['failed', 'former-address'])
  })
})

describe('the store of addresses in use', () => {
  const core = withCore()
  const key = Buffer.alloc(32, 7)
  const held = [{ key: mailKey('kim@contoso.example'), holder: kim.id }]
  const stored = async () => JSON.stringify((await core.database.query('SELECT * FROM former_addresses')).rows)

  it('contains no address and no id, and is unreadable with another key', async () => {
    const { addresses } = createStores(core.database, key)
    await addresses.note(tenantId, first, held)
    expect(await stored()).not.toMatch(new RegExp(`kim|contoso|${kim.id}`))
    const keys = [mailKey('KIM@contoso.example')]
    const found = await addresses.find(tenantId, keys)
    expect(found.map(({ lastDay, isHolder }) => [lastDay, isHolder(kim.id), isHolder(dana.id)])).toEqual([
      [first, true, false],
    ])
    expect(await createStores(core.database, Buffer.alloc(32, 8)).addresses.find(tenantId, keys)).toEqual([])
  })

  it('keeps the last day and the last holder until the end of the period', async () => {
    const { addresses } = createStores(core.database, key)
    await addresses.note(tenantId, dayAfter(first, 1), [{ key: mailKey('kim@contoso.example'), holder: dana.id }])
    const find = async () =>
      (await addresses.find(tenantId, [mailKey('kim@contoso.example')])).map(({ lastDay, isHolder }) => [
        lastDay,
        isHolder(dana.id),
      ])
    expect(await find()).toEqual([[dayAfter(first, 1), true]])
    await addresses.finish(tenantId, dayAfter(first, 2), first)
    expect(await find()).toHaveLength(1)
    await addresses.finish(tenantId, dayAfter(first, 3), dayAfter(first, 1))
    expect(await find()).toEqual([])
  })

  it('is updated once a day, and again after a stopped round', async () => {
    let rounds = 0
    const { directory } = core.ports
    const parts = {
      clock: { now: () => new Date(`${first}T09:00:00Z`) },
      directory: {
        ...directory,
        addressesInUse: async function* () {
          rounds += 1
          yield held
          yield []
        },
      },
    }
    const { system } = core.with(parts, { formerAddressDays: days })
    await system.noteAddresses(AbortSignal.abort())
    await system.noteAddresses(new AbortController().signal)
    await system.noteAddresses(new AbortController().signal)
    expect(rounds).toBe(2)
  })
})
