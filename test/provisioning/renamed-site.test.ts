import { beforeAll, describe, expect, it } from 'vitest'
import { reduced, viewOf, webhookBody, webhookOf } from '../../src/core/index.ts'
import { viewerOf } from '../support/card-world.ts'
import { textOf } from '../support/cards.ts'
import { actorOf, asSite, dana, kim, priya, tenantId, withCore } from '../support/core.ts'
import { cards } from '../support/english-cards.ts'
import { named, refusal } from '../support/refusal.ts'
import { withTenant } from '../support/simulated-tenant.ts'

describe('a site that the tenant’s naming policy renamed', () => {
  const core = withCore()
  const contoso = withTenant({ siteReadySeconds: 0 })
  beforeAll(async () => {
    await contoso.modes({ groupPrefix: 'GRP ' })
  })
  const asKim = actorOf(kim)
  const created = async (displayName: string) => {
    const { id: templateId } = await core.template({ kind: 'teamSite' })
    const { requestId } = await core.provisioning.submitSite(asKim, { body: { displayName, templateId } })
    const run = { lastAttempt: false, signal: AbortSignal.timeout(30_000) }
    await core.with({ tenant: contoso.tenant }).system.provision(requestId, run)
    await core.with({ tenant: contoso.tenant }).system.completeByWebhook(requestId, '')
    return asSite(await core.provisioning.readRequest(asKim, { requestId }))
  }

  it('has its new names in the REST answer, on its cards, in its explanation and in the audit', async () => {
    const request = await created('Harbour')
    const createdAs = { displayName: 'GRP Harbour', alias: 'GRPharbour', mail: 'GRPharbour@contoso.example' }
    const url = `${contoso.simulator.url}/sites/GRPharbour`
    expect(viewOf(request)).toMatchObject({
      ...{ status: 'succeeded', createdAs, resource: { url } },
      details: { displayName: 'Harbour', alias: 'harbour' },
    })
    expect(webhookBody.parse(webhookOf(request)).data).toMatchObject({ displayName: 'Harbour', createdAs, url })
    const sentence =
      'Your organisation’s naming policy changed the name and the address. The name is GRP Harbour, and the address is GRPharbour@contoso.example. The request was for Harbour.'
    const viewer = viewerOf(kim, { siteRoot: `${contoso.simulator.url}/sites/` })
    for (const card of [cards.ready(request, viewer), cards.requestStatus(request, viewer)]) {
      expect(textOf(card)).toContain(sentence)
      expect(textOf(card)).toContain('/sites/GRPharbour')
    }
    const { requestId } = request
    const why = await core.provisioning.readExplanation(asKim, { requestId })
    expect(why).toContainEqual(expect.objectContaining({ code: 'name-changed' }))
    const timeline = await core.provisioning.readTimeline(actorOf(priya, true), { requestId })
    expect(timeline.find(({ action }) => action === 'renamed')?.data).toEqual(createdAs)
    expect(textOf(cards.requestStatus(request, viewer, { entries: timeline, isOpen: true }))).toContain(
      'Your organisation’s naming policy changed the name to GRP Harbour',
    )
  })

  it('is the last holder of its new address, but not of the requested address', async () => {
    const { requestId } = await created('Quay')
    const { requests } = core.ports
    const other = '7d1c2b3a-4e5f-4a6b-8c7d-9e0f1a2b3c99'
    expect((await requests.lastCreated(tenantId, { alias: 'GRPquay' }, other))?.requestId).toBe(requestId)
    expect((await requests.lastCreated(tenantId, { alias: 'grpquay' }, other))?.requestId).toBe(requestId)
    expect(await requests.lastCreated(tenantId, { alias: 'quay' }, other)).toBeUndefined()
  })

  it('keeps its new address from others, and not the requested one, after its details were removed', async () => {
    const { requestId } = await created('Mole')
    /** The core so many days later. */
    const at = (days: number) => {
      const clock = { now: () => new Date(Date.now() + days * 86_400_000) }
      return core.with({ clock }, { retentionDays: 30, formerAddressDays: 90 })
    }
    // The first run only announces the removal.
    for (const days of [40, 44]) await at(days).system.reduceOld(new AbortController().signal)
    const left = asSite(await core.provisioning.readRequest(asKim, { requestId }))
    expect(left.reducedAt).toBeDefined()
    const { id: templateId } = await core.template({ kind: 'teamSite' })
    const bodyOf = (alias: string) => ({ displayName: 'Other', templateId, alias })
    const { faults } = await refusal(() => at(45).submitSite(actorOf(dana), { body: bodyOf('grpmole') }))
    expect(named(faults)).toEqual(['/alias former-address'])
    expect((await at(45).submitSite(actorOf(dana), { body: bodyOf('mole') })).status).toBe('queued')
    expect(left.progress.createdAs).toMatchObject({ displayName: 'GRPmole', alias: 'GRPmole' })
  })

  it('shows nothing about names after its details were removed', async () => {
    const left = reduced(await created('Pier'), new Date().toISOString())
    expect(JSON.stringify(viewOf(left))).not.toContain('Pier')
    expect(textOf(cards.requestStatus(left, viewerOf(kim)))).not.toContain('naming policy')
  })
})
