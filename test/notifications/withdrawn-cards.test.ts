import { randomUUID } from 'node:crypto'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createOutbox } from '../../src/bot/notifications/outbox.ts'
import type { CardJson } from '../../src/cards/index.ts'
import { asWritten, type CardKey, type Person, type Request } from '../../src/core/index.ts'
import { requestOf, siteRoot, stageOf } from '../support/card-requests.ts'
import { actionsOf, textOf } from '../support/cards.ts'
import { actorOf, approversGroup, dana, kim, omar, priya, tenantId, withCore } from '../support/core.ts'
import { templates, withService } from '../support/service.ts'
import { people } from '../support/teams-user.ts'
import { until } from '../support/until.ts'

const noAdmin = 'You are no longer an admin. This card is empty.'
const noApprover = 'You are no longer an approver of this request. This card is empty.'

describe('the card of a person who has lost the right that it needs', () => {
  const core = withCore()
  const sentCards: { how: string; to: string; card: CardJson }[] = []
  const outbox = createOutbox(
    {
      send: async ({ personId }, card) => {
        sentCards.push({ how: 'send', to: personId, card })
        return { state: 'sent', activityId: randomUUID() }
      },
      update: async ({ personId }, _, card) => {
        sentCards.push({ how: 'update', to: personId, card })
        return 'updated'
      },
    },
    { now: () => new Date(), siteRoot, outlookRoot: 'https://outlook.office.com/' },
  )
  beforeAll(async () => {
    const chat = { reference: {}, locale: 'en-GB', timeZone: 'UTC' }
    for (const { id } of [kim, dana, omar, priya])
      await core.ports.conversations.put({ tenantId, personId: id, conversationId: `chat-${id}`, ...chat })
  })
  beforeEach(() => void sentCards.splice(0))
  /** The core with these admins. */
  const ruledBy = (...admins: Person[]) => core.with({}, { admins: admins.map(({ id }) => id) }).system
  const stored = async (more: Partial<Request> = {}): Promise<Request> => {
    const known = requestOf({ requestId: randomUUID(), tenantId, alias: randomUUID(), approvals: [stageOf(1, [dana])] })
    const request = { ...known, ...more } as Request
    return core.ports.requests.insert(request)
  }
  const shows = ({ requestId }: Request, { id }: Person, key: CardKey) => {
    const card = { requestId, personId: id, key, conversationId: `chat-${id}`, activityId: `${key}-${id}` }
    return core.ports.sentCards.put({ ...card, state: 'sent' })
  }
  const order = ({ requestId, version }: Request) => ({ requestId, version, cards: 'all' }) as const
  const read = () => sentCards.splice(0).map(({ to, card }) => [to, textOf(card).includes('no longer')])
  const neutral = (card: CardJson, sentence: string, { number, details }: Request) => {
    expect(textOf(card)).toContain(sentence)
    expect(actionsOf(card)).toEqual([])
    for (const datum of [`REQ-${number}`, details.displayName, kim.displayName])
      expect(JSON.stringify(card)).not.toContain(datum)
  }

  it.each(['status', 'stuck:pendingApproval:x', 'outcome:failed:x'] as const)(
    'is replaced once for a former admin, and then gets no updates: %s',
    async (key) => {
      const request = await stored()
      await shows(request, omar, key)
      await shows(request, kim, 'status')
      await ruledBy(omar).refreshCards(outbox, order(request))
      expect(read()).toEqual(expect.arrayContaining([[omar.id, false]]))
      const after = ruledBy(priya)
      await after.refreshCards(outbox, order(request))
      const ofOmar = sentCards.filter(({ to }) => to === omar.id)
      expect(ofOmar).toHaveLength(1)
      neutral(ofOmar[0]?.card ?? {}, noAdmin, request)
      expect(read()).toEqual([[omar.id, true]])
      await after.refreshCards(outbox, order(request))
      expect(read()).toEqual([])
      expect(await core.ports.sentCards.find(request.requestId, omar.id, key)).toMatchObject({ state: 'withdrawn' })
    },
  )

  it('is sent again to a person who has the right again', async () => {
    const request = await stored()
    await shows(request, omar, 'status')
    const card = { requestId: request.requestId, personId: omar.id, card: 'status' } as const
    await ruledBy(priya).refreshCards(outbox, order(request))
    sentCards.splice(0)
    await ruledBy(priya).deliverCard(outbox, card, 1)
    expect(sentCards).toEqual([])
    await ruledBy(omar).deliverCard(outbox, card, 1)
    expect(sentCards.map(({ how, to }) => [how, to])).toEqual([['send', omar.id]])
    await core.provisioning.cancelRequest(actorOf(kim), { requestId: request.requestId })
    await ruledBy(omar).refreshCards(outbox, order({ ...request, version: 2 }))
    expect(sentCards.map(({ how }) => how)).toEqual(['send', 'update'])
  })

  it('is withdrawn if it is about a webhook, and gets no other updates', async () => {
    const request = await stored()
    await shows(request, omar, 'webhook:failing:x')
    await ruledBy(omar).refreshCards(outbox, order(request))
    expect(sentCards).toEqual([])
    await ruledBy(priya).refreshCards(outbox, order(request))
    expect(read()).toEqual([[omar.id, true]])
  })

  it('stays for a delegate who has left the approvers’ group', async () => {
    const membership = { groups: [approversGroup], people: [omar.id, dana.id] }
    const standIns = [
      {
        person: omar,
        insteadOf: [dana.id],
        why: 'delegated',
        as: 'delegate',
        by: dana,
        since: new Date().toISOString(),
      },
    ]
    const stage = stageOf(1, [dana, omar], { membership, standIns } as Parameters<typeof stageOf>[2])
    const request = await stored({ approvals: [stage] })
    await shows(request, omar, 'approval:1')
    const members = core.world.groups.get(approversGroup) ?? []
    core.world.groups.set(approversGroup, [])
    try {
      await core.provisioning.system.refreshCards(outbox, order(request))
      expect(read()).toEqual([[omar.id, false]])
    } finally {
      core.world.groups.set(approversGroup, members)
    }
  })

  it('is not sent if it is still in the queue', async () => {
    const request = await stored({ status: 'failed' })
    const waits = { requestId: request.requestId, personId: omar.id, card: 'outcome:failed:' } as const
    const { queuedAt } = request
    const card = `outcome:failed:${queuedAt ?? ''}` as const
    await ruledBy(priya).deliverCard(outbox, { ...waits, card }, 1)
    expect(sentCards).toEqual([])
    await ruledBy(omar).deliverCard(outbox, { ...waits, card }, 1)
    expect(sentCards).toHaveLength(1)
  })

  it('is replaced for a former member of the approvers’ group, not for a person named by the policy', async () => {
    const membership = { groups: [approversGroup], people: [omar.id] }
    const request = await stored({ approvals: [stageOf(1, [dana, omar], { membership })] })
    for (const one of [dana, omar]) await shows(request, one, 'approval:1')
    const members = core.world.groups.get(approversGroup) ?? []
    const { system } = core.provisioning
    await system.refreshCards(outbox, order(request))
    expect(read().map(([, isWithdrawn]) => isWithdrawn)).toEqual([false, false])
    core.world.groups.set(approversGroup, [])
    try {
      const reminder = { requestId: request.requestId, personId: omar.id, card: 'reminder:1:1' } as const
      await system.deliverCard(outbox, reminder, 1)
      expect(sentCards).toEqual([])
      await system.refreshCards(outbox, order(request))
      neutral(sentCards.find(({ to }) => to === omar.id)?.card ?? {}, noApprover, request)
      expect(read()).toEqual([[omar.id, true]])
      await system.refreshCards(outbox, order(request))
      expect(read()).toEqual([])
    } finally {
      core.world.groups.set(approversGroup, members)
    }
  })

  it('still shows the outcome to an approver who left the group after their decision', async () => {
    const membership = { groups: [approversGroup], people: [omar.id] }
    const request = await stored({ approvals: [stageOf(1, [dana, omar], { membership })] })
    await shows(request, omar, 'approval:1')
    await core.provisioning.approve(actorOf(omar), { requestId: request.requestId })
    const members = core.world.groups.get(approversGroup) ?? []
    core.world.groups.set(approversGroup, [])
    await core.provisioning.system.refreshCards(outbox, order({ ...request, version: 2 }))
    core.world.groups.set(approversGroup, members)
    expect(read()).toEqual([[omar.id, false]])
  })

  it('gets no update while the directory does not answer, and other cards do', async () => {
    const request = await stored()
    await shows(request, omar, 'status')
    await shows(request, kim, 'status')
    core.world.up = false
    await expect(ruledBy(priya).refreshCards(outbox, order(request))).rejects.toMatchObject({ code: 'unavailable' })
    core.world.up = true
    expect(read()).toEqual([[kim.id, false]])
    await ruledBy(priya).refreshCards(outbox, order(request))
    expect(read()).toContainEqual([omar.id, true])
  })

  it('is not sent to a former admin about the health, even if it was ordered before', async () => {
    const since = '2026-11-01T10:00:00.000Z'
    await core.ports.healthWatch.put(tenantId, {
      ...{ state: 'red', since, turning: null },
      red: { since, parts: [{ name: 'graph', state: 'red', says: 'fails', problem: asWritten('As told.') }] },
    })
    const health = { tenantId, personId: omar.id, notice: `health:red:${since}` } as const
    await ruledBy(priya).deliverCard(outbox, health, 1)
    expect(sentCards).toEqual([])
    await ruledBy(omar).deliverCard(outbox, health, 1)
    expect(sentCards).toHaveLength(1)
  })
})

describe('a former admin in chat', () => {
  const service = withService()
  const waits = async (displayName: string) => {
    const metadata = { costCentre: '4711', audience: 'internal' }
    const body = { templateId: templates.projectSite, displayName, metadata }
    const { body: accepted } = await service.rest('kim', 'POST', '/collab/v1/spo/', body)
    const { body: request } = await service.rest('kim', 'GET', `/requests/v1/${String(accepted['requestId'])}`)
    return { requestId: String(request['requestId']), reference: String(request['reference']) }
  }
  const now = (id: string) => service.sam.chat().find((one) => one.id === id)
  const reads = (id: string) => textOf(now(id)?.card ?? {})

  it('gets a neutral card at the next change or click, and no updates afterwards', async () => {
    await service.kim.installs()
    const [one, two, three] = [await waits('Atlas'), await waits('Boreas'), await waits('Castor')]
    const [changed, clicked, list] = [
      await service.sam.says(`status ${one.reference}`),
      await service.sam.says(`status ${two.reference}`),
      await service.sam.says('admin queue'),
    ]
    const confirmation = await service.sam.says(`admin cancel ${three.reference}`)
    await service.restart({ ADMINS: people.dana.id })

    await service.rest('dana', 'POST', `/requests/v1/${one.requestId}/approve`, {})
    await until(() => reads(changed.id).includes(noAdmin) || undefined, 'the neutral card')
    await until(async () => {
      const { body } = await service.rest('kim', 'GET', `/requests/v1/${one.requestId}`)
      return body['status'] === 'succeeded' || undefined
    }, 'the site')
    await service.kim.sees(/Your site is ready/)
    expect(reads(changed.id)).toContain(noAdmin)
    expect(actionsOf(now(changed.id)?.card ?? {})).toEqual([])

    const answer = await service.sam.clicks(clicked, 'Refresh')
    expect(textOf(answer.card ?? {})).toContain(noAdmin)
    expect(actionsOf(answer.card ?? {})).toEqual([])
    await until(() => reads(clicked.id).includes(noAdmin) || undefined, 'the neutral card')
    await service.rest('dana', 'POST', `/requests/v1/${two.requestId}/reject`, { comment: 'Not now.' })
    await service.kim.sees(/Not now/)
    expect(reads(clicked.id)).not.toContain('Boreas')

    for (const [verb, data, on] of [
      ['admin.queue', { from: 6 }, list],
      ['admin.cancel', { requestId: three.requestId, comment: 'Mine.' }, confirmation],
    ] as const) {
      const refused = await service.sam.invokes(on.id, verb, data)
      expect(textOf(refused.card ?? {})).toContain(noAdmin)
      expect(actionsOf(refused.card ?? {})).toEqual([])
    }
    const { body } = await service.rest('kim', 'GET', `/requests/v1/${three.requestId}`)
    expect(body['status']).toBe('pendingApproval')
  })
})
