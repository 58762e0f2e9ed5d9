import { randomUUID } from 'node:crypto'
import { afterEach, describe, expect, it } from 'vitest'
import { cards } from '../../src/cards/index.ts'
import { startBot, withBotWorld } from '../support/bot-world.ts'
import { actionsOf, textOf } from '../support/cards.ts'
import { contosoTenant, people } from '../support/teams-user.ts'

describe('two stages that ask the same person, in chat', () => {
  const world = withBotWorld()
  const twice = randomUUID()
  afterEach(() => expect(world.logged.splice(0)).toEqual([]))
  const actorOf = (who: keyof typeof people) =>
    world.provisioning.actor({ tenantId: contosoTenant, id: people[who].id })

  /** A request that asks Dana first, and then Dana or Omar. */
  async function asked(displayName: string): Promise<{ requestId: string; reference: string }> {
    const admin = await actorOf('sam')
    const known = await world.provisioning.listTemplates(admin)
    const [dana, omar] = [{ user: people.dana.id }, { user: people.omar.id }]
    const stages = [{ approvers: [dana] }, { approvers: [dana, omar] }]
    if (!known.some(({ id }) => id === twice)) {
      const body = { id: twice, version: 1, kind: 'teamSite', name: 'Asked twice', approval: { stages } }
      await world.provisioning.putTemplate(admin, { id: twice, body, expected: 0 })
    }
    const { requestId, number } = await world.provisioning.submitSite(await actorOf('kim'), {
      body: {
        templateId: twice,
        displayName,
      },
    })
    return { requestId, reference: `REQ-${number}` }
  }
  const approvals = async (requestId: string) =>
    (await world.stores.requests.find(requestId))?.approvals.map(({ decisions }) => decisions.length)

  it('a second click on the card of the first decides nothing of the second, and tells how the first ended', async () => {
    const { types, clicks } = startBot(world)
    const { requestId, reference } = await asked('Clicked twice')
    const card = await types('dana', `status ${reference}`)
    const after = await clicks('dana', card, 'Approve', { comment: 'Fine' })
    expect(textOf(after)).toContain('Approved by you')
    for (const title of ['Approve', 'Reject', 'Refresh']) {
      const again = await clicks('dana', card, title, { comment: title === 'Approve' ? '' : 'No.' })
      expect(textOf(again)).toContain('Approved by you')
      expect(actionsOf(again)).toEqual([])
    }
    expect(await clicks('dana', card, 'Reject')).toEqual(after)
    expect(await approvals(requestId)).toEqual([1, 0])
  })

  it('the second is decided on its own card, and each card keeps what was decided by it', async () => {
    const { types, clicks } = startBot(world)
    const { requestId, reference } = await asked('Decided twice')
    await clicks('dana', await types('dana', `status ${reference}`), 'Approve', { comment: 'The first' })
    const second = await types('dana', `status ${reference}`)
    expect(textOf(second)).toContain('Approval 2 of 2')
    const rejected = await clicks('dana', second, 'Reject', { comment: 'The second' })
    expect(textOf(rejected)).toContain('Rejected by you')
    expect(await approvals(requestId)).toEqual([1, 1])
    const request = await world.stores.requests.find(requestId)
    if (!request) throw new Error('there is no such request')
    const viewer = { ...{ id: people.dana.id, locale: 'en', timeZone: 'UTC', now: new Date() }, ...roots }
    const [ofFirst, ofSecond] = [1, 2].map((stage) => textOf(cards.approvalNow(request, viewer, stage)))
    expect(ofFirst).toMatch(/Approved by you[\s\S]*The first/)
    expect(ofSecond).toMatch(/Rejected by you[\s\S]*The second/)
  })

  it('a card from before stages stood on its buttons still decides', async () => {
    const { sends } = startBot(world)
    const { requestId } = await asked('From before')
    expect(textOf(await sends('dana', 'approval.approve', { requestId, comment: '' }))).toContain('Approved by you')
    expect(await approvals(requestId)).toEqual([1, 0])
  })
})

const roots = { siteRoot: 'https://contoso.example/sites/', outlookRoot: 'https://outlook.office.com/' }
