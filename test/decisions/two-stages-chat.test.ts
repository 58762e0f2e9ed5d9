import { randomUUID } from 'node:crypto'
import { afterEach, describe, expect, it } from 'vitest'
import { startBot, withBotWorld } from '../support/bot-world.ts'
import { actionsOf, textOf } from '../support/cards.ts'
import { cards } from '../support/english-cards.ts'
import { contosoTenant, people } from '../support/teams-user.ts'

describe('two stages with the same approver in chat', () => {
  const world = withBotWorld()
  const twice = randomUUID()
  afterEach(() => expect(world.logged.splice(0)).toEqual([]))
  const actorOf = (who: keyof typeof people) =>
    world.provisioning.actor({ tenantId: contosoTenant, id: people[who].id })

  /** A request whose first approver is Dana, and whose second stage is Dana or Omar. */
  async function submitSite(displayName: string): Promise<{ requestId: string; reference: string }> {
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

  it('do not mix: a second click on the first card shows the first decision and does not decide the second stage', async () => {
    const { types, clicks } = startBot(world)
    const { requestId, reference } = await submitSite('Clicked twice')
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

  it('have a card each, which keeps its own decision', async () => {
    const { types, clicks } = startBot(world)
    const { requestId, reference } = await submitSite('Decided twice')
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
    expect(ofFirst).toMatch(/Approved by you[\s\S]*You then rejected the request[\s\S]*The first/)
    expect(ofSecond).toMatch(/Rejected by you[\s\S]*The second/)
  })

  it('show after the first approval that another one follows, and how the request ended', async () => {
    const { types, clicks } = startBot(world)
    const { requestId, reference } = await submitSite('Half approved')
    const card = await types('dana', `status ${reference}`)
    const first = textOf(await clicks('dana', card, 'Approve'))
    expect(first).toContain('Approved stage 1 of 2')
    expect(first).toContain('You also decide approval 2 of 2, on another card. Nothing is created before that.')
    expect(first).not.toContain('half-approved')
    expect(textOf(await clicks('dana', card, 'Refresh'))).toBe(first)
    await world.provisioning.reject(await actorOf('omar'), { requestId, comment: 'No.' })
    const rejected = textOf(await clicks('dana', card, 'Refresh'))
    expect(rejected).toMatch(/^.\nRejected\n[\s\S]*Approved by you[\s\S]*Omar Haddad then rejected the request/)
    expect(rejected).not.toContain('half-approved')

    const other = await submitSite('Whole approved')
    const kept = await types('dana', `status ${other.reference}`)
    await clicks('dana', kept, 'Approve')
    await world.provisioning.approve(await actorOf('omar'), { requestId: other.requestId })
    expect(textOf(await clicks('dana', kept, 'Refresh'))).toContain('Both stages are approved.')

    const third = await submitSite('Cancelled halfway')
    const last = await types('dana', `status ${third.reference}`)
    await clicks('dana', last, 'Approve')
    await world.provisioning.cancelRequest(await actorOf('kim'), { requestId: third.requestId })
    expect(textOf(await clicks('dana', last, 'Refresh'))).toMatch(/^.\nCancelled\n[\s\S]*cancelled the request/)
  })

  it('are not both decided by a command that is typed twice: the second one shows the card', async () => {
    const { types, clicks } = startBot(world)
    const { requestId, reference } = await submitSite('Typed twice')
    expect(textOf(await types('dana', `approve ${reference}`))).toContain('Approved stage 1 of 2')
    const second = await types('dana', `approve ${reference} so`)
    expect(textOf(second)).toContain('You approved an earlier stage. To decide this one, use the buttons.')
    expect(await approvals(requestId)).toEqual([1, 0])
    await clicks('dana', second, 'Approve')
    expect(await approvals(requestId)).toEqual([1, 1])
  })

  it('accept a card of an earlier version, whose buttons have no stage', async () => {
    const { sends } = startBot(world)
    const { requestId } = await submitSite('From before')
    expect(textOf(await sends('dana', 'approval.approve', { requestId, comment: '' }))).toContain('Approved by you')
    expect(await approvals(requestId)).toEqual([1, 0])
  })
})

const roots = { siteRoot: 'https://contoso.example/sites/', outlookRoot: 'https://outlook.office.com/' }
