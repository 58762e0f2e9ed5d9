import { randomUUID } from 'node:crypto'
import { beforeEach, describe, expect, it } from 'vitest'
import { createOutbox } from '../../src/bot/notifications/outbox.ts'
import type { CardJson } from '../../src/cards/index.ts'
import {
  batchJobs,
  type NoticeOrder,
  notifyOrder,
  type Person,
  ProvisioningError,
  type Request,
  type SendResult,
} from '../../src/core/index.ts'
import { viewerOf } from '../support/card-requests.ts'
import { textOf } from '../support/cards.ts'
import { actorOf, approversGroup, dana, kim, omar, tenantId, withCore } from '../support/core.ts'
import { cards } from '../support/english-cards.ts'

const { signal } = new AbortController()

describe('the cards of a batch', () => {
  const core = withCore()
  const deliveries: { how: 'send' | 'update'; to: string; card: CardJson }[] = []
  let send: () => Promise<SendResult>
  let update: 'updated' | 'gone' = 'updated'
  /** Runs before the next update reaches its chat. */
  let meanwhile: (() => Promise<void>) | undefined
  const outbox = createOutbox(
    {
      send({ personId }, card) {
        deliveries.push({ how: 'send', to: personId, card })
        return send()
      },
      async update({ personId }, _, card) {
        const run = meanwhile
        meanwhile = undefined
        await run?.()
        deliveries.push({ how: 'update', to: personId, card })
        return update
      },
    },
    {
      now: () => new Date(),
      siteRoot: 'https://contoso.sharepoint.com/sites/',
      outlookRoot: 'https://outlook.office.com/',
    },
  )
  const system = () => core.provisioning.system
  const meets = ({ id: personId }: Person) =>
    core.ports.conversations.put({
      ...{ tenantId, personId, conversationId: `chat-${personId}`, reference: {} },
      ...{ locale: 'en-GB', timeZone: 'UTC' },
    })
  beforeEach(async () => {
    for (const person of [kim, dana, omar]) await meets(person)
    deliveries.splice(0)
    update = 'updated'
    send = async () => ({ state: 'sent', activityId: randomUUID() })
  })

  /** Submits a batch of sites, and returns its id. */
  const submitted = async (count: number, approval: object) => {
    const { id: templateId } = await core.template({ approval })
    const rows = Array.from({ length: count }, (_, place) => ({
      key: `${place}`,
      body: { displayName: `Site ${randomUUID()}`, templateId },
    }))
    const batchId = randomUUID()
    await core.provisioning.beginBatch(actorOf(kim), { batchId, resource: 'site', rows })
    for (let turn = 0; turn * 20 < count; turn += 1) {
      const attempt = { lastAttempt: false, signal, report: () => undefined }
      await system().runBatch({ v: 1, batchId, turn }, attempt)
    }
    return batchId
  }
  /** Runs the job of a batch and the cards that it orders, as the queue does. */
  const refresh = async (batchId: string) => {
    await system().refreshBatch(outbox, { tenantId, batchId })
    const { rows } = await core.database.query<{ payload: NoticeOrder }>(
      `DELETE FROM ordered_jobs WHERE name = 'tell' AND payload->>'notice' LIKE '%' || $1 || '%' RETURNING payload`,
      [batchId],
    )
    for (const { payload } of rows) {
      const { personId, notice } = payload
      await system().deliverCard(outbox, { tenantId, personId, notice }, 1)
    }
  }
  const requests = (batchId: string) => core.ports.requests.list({ tenantId, batchId, limit: 200, oldestFirst: true })
  const to = (person: Person) => deliveries.splice(0).filter((one) => one.to === person.id)
  const one = { stages: [{ approvers: [{ user: dana.id }] }] }

  it('are sent once, and updated only if their contents changed', async () => {
    const batchId = await submitted(3, one)
    await refresh(batchId)
    expect(deliveries.map(({ how, to }) => [how, to]).toSorted()).toEqual(
      [
        ['send', dana.id],
        ['send', kim.id],
      ].toSorted(),
    )
    deliveries.splice(0)
    await refresh(batchId)
    expect(deliveries).toEqual([])
    const [first] = await requests(batchId)
    await core.provisioning.approve(actorOf(dana), { requestId: String(first?.requestId) })
    await refresh(batchId)
    expect(to(dana).map(({ how, card }) => [how, textOf(card).includes('2 waiting')])).toEqual([['update', true]])
  })

  it('are checked once more, because a slow transaction may commit after the first update', async () => {
    const batchId = await submitted(1, one)
    await refresh(batchId)
    await system().refreshBatch(outbox, { tenantId, batchId, isCheck: true })
    const { rows } = await core.database.query<{ late: boolean }>(
      `SELECT start_after > now() + interval '4 seconds' AS late FROM ordered_jobs
       WHERE name = 'refresh-batch' AND payload->>'batchId' = $1 AND payload->>'isCheck' = 'true'`,
      [batchId],
    )
    expect(rows).toEqual([{ late: true }])
  })

  it('replace the cards of each request, for approvers and for the requester', async () => {
    const batchId = await submitted(2, one)
    for (const { requestId } of await requests(batchId)) {
      await core.provisioning.reject(actorOf(dana), { requestId, comment: 'No.' })
      expect(await core.orderedJobs(requestId)).not.toContain('notify')
    }
    await refresh(batchId)
    expect(
      to(kim)
        .map(({ card }) => textOf(card))
        .join(),
    ).toMatch(/Your batch has ended[\s\S]*2 rejected/)
  })

  it('show only the summary of a batch that ended before its progress was sent', async () => {
    const batchId = await submitted(1, one)
    const [first] = await requests(batchId)
    await core.provisioning.reject(actorOf(dana), { requestId: String(first?.requestId), comment: 'No.' })
    const order = { tenantId, personId: kim.id, notice: `batch:${batchId}` } as const
    await system().deliverCard(outbox, order, 1)
    expect(to(kim)).toEqual([])
    await refresh(batchId)
    expect(to(kim).map(({ how, card }) => [how, textOf(card).includes('Your batch has ended')])).toEqual([
      ['send', true],
    ])
  })

  it('ask again with a new card when more rows reach an approver who had decided all of them', async () => {
    const two = { stages: [{ approvers: [{ user: dana.id }] }, { approvers: [{ user: omar.id }] }] }
    const batchId = await submitted(2, two)
    const [first, second] = (await requests(batchId)).map(({ requestId }) => requestId)
    await core.provisioning.approve(actorOf(dana), { requestId: String(first) })
    await refresh(batchId)
    expect(to(omar)).toMatchObject([{ how: 'send' }])
    await core.provisioning.approve(actorOf(omar), { requestId: String(first) })
    await refresh(batchId)
    expect(to(omar)).toMatchObject([{ how: 'update' }])
    await core.provisioning.approve(actorOf(dana), { requestId: String(second) })
    await refresh(batchId)
    expect(to(omar).map(({ how, card }) => [how, textOf(card).includes('1 waiting')])).toEqual([['send', true]])
  })

  it('show nothing to an approver who has left the group', async () => {
    const batchId = await submitted(2, { stages: [{ approvers: [{ group: approversGroup }] }] })
    await refresh(batchId)
    deliveries.splice(0)
    core.world.groups.set(approversGroup, [omar, kim])
    const [first] = await requests(batchId)
    await core.provisioning.approve(actorOf(omar), { requestId: String(first?.requestId) })
    await refresh(batchId)
    core.world.groups.set(approversGroup, [dana, omar, kim])
    const [card] = to(dana)
    expect(textOf(card?.card ?? {})).not.toMatch(/Site [0-9a-f]{8}/)
  })

  it('show only the rows for which the approver still has the right', async () => {
    const batchId = await submitted(2, { stages: [{ approvers: [{ group: approversGroup }] }] })
    const [first] = await requests(batchId)
    // An admin has named Dana for one row: her right to decide it does not depend on the group.
    await core.database.query(`UPDATE requests SET body = body #- '{approvals,0,membership}' WHERE request_id = $1`, [
      first?.requestId,
    ])
    core.world.groups.set(approversGroup, [omar, kim])
    await refresh(batchId)
    core.world.groups.set(approversGroup, [dana, omar, kim])
    expect(to(dana).map(({ card }) => /(\d+) waiting/.exec(textOf(card))?.[1])).toEqual(['1'])
  })

  it('record an approver whose chat accepts no card, for each request', async () => {
    const batchId = await submitted(2, one)
    send = async () => ({ state: 'undeliverable', why: 'ConversationBlockedByUser', closed: true })
    await refresh(batchId)
    const ids = (await requests(batchId)).map(({ requestId }) => requestId)
    const stages = (await requests(batchId)).map(({ approvals }) => approvals[0])
    expect(stages.map((stage) => stage?.unreachable?.map(({ person }) => person.id))).toEqual([[dana.id], [dana.id]])
    const { rows } = await core.database.query(
      `SELECT payload->>'card' AS card FROM ordered_jobs WHERE name = 'notify-admins' AND payload->>'requestId' = ANY($1)`,
      [ids],
    )
    // The admins get one card, not one for each row.
    expect(rows).toEqual([{ card: 'status' }])
    // A second refusal changes nothing, and reads no history of 200 rows.
    const { audit } = core.ports
    let reads = 0
    const timeline: typeof audit.timeline = (...query) => {
      reads += 1
      return audit.timeline(...query)
    }
    const notice = `batch-ask:${batchId}:1:0` as const
    const again = core.with({ audit: { ...audit, timeline } })
    await again.system.deliverCard(outbox, { tenantId, personId: dana.id, notice }, 1)
    expect(reads).toBe(0)
  })

  it('show a taken address to the approver and the requester, who gets a card about it', async () => {
    const batchId = await submitted(2, one)
    await refresh(batchId)
    const [first] = await requests(batchId)
    const [requestId, alias] = [String(first?.requestId), first && 'alias' in first ? first.alias : '']
    deliveries.splice(0)
    core.world.taken.add(alias)
    const refused = await core.provisioning
      .approve(actorOf(dana), { requestId })
      .catch((error: unknown) => (error instanceof ProvisioningError ? error.code : error))
    core.world.taken.delete(alias)
    expect(refused).toBe('name-taken')
    const { rows } = await core.database.query<{ card: string; to: string }>(
      `SELECT payload->>'card' AS card, payload->>'personId' AS to FROM ordered_jobs
       WHERE name = 'notify' AND payload->>'requestId' = $1`,
      [requestId],
    )
    expect(rows).toEqual([{ card: expect.stringMatching(/^address:/), to: kim.id }])
    await refresh(batchId)
    const shown = deliveries.map(({ how, to, card }) => [how, to, textOf(card).includes(`address is taken: ${alias}`)])
    expect(shown.toSorted()).toEqual(
      [
        ['update', dana.id, true],
        ['update', kim.id, true],
      ].toSorted(),
    )
  })

  it('remind an approver once on a day about the rows of each day', async () => {
    const batchId = await submitted(3, one)
    const [first, second, third] = await requests(batchId)
    const reminderOf = (request: Request | undefined, at: string) => {
      if (!request) throw new Error('the batch has too few rows')
      const order = notifyOrder(request.requestId, dana.id, 'reminder:1:1')
      return batchJobs(request, [order], new Date(at)).find(({ name }) => name === 'tell')?.id
    }
    const monday = reminderOf(first, '2026-11-23T09:00:00Z')
    expect(reminderOf(second, '2026-11-23T15:00:00Z')).toBe(monday)
    expect(reminderOf(third, '2026-11-24T09:00:00Z')).not.toBe(monday)
  })

  it('warn the requester once about all rows of a stage that expire on a day', async () => {
    const batchId = await submitted(3, one)
    const warning = (requestId: string) => notifyOrder(requestId, kim.id, 'warning:1')
    const now = new Date()
    const orders = (await requests(batchId)).map((request) => batchJobs(request, [warning(request.requestId)], now))
    expect(new Set(orders.map(([first]) => first?.id)).size).toBe(1)
  })

  it('reach a requester whose chat becomes known later', async () => {
    const batchId = await submitted(2, one)
    send = async () => ({ state: 'undeliverable', why: 'ConversationBlockedByUser', closed: true })
    await refresh(batchId)
    await meets(kim)
    send = async () => ({ state: 'sent', activityId: randomUUID() })
    deliveries.splice(0)
    const orders = `DELETE FROM ordered_jobs WHERE name = 'refresh-batch' AND payload->>'batchId' = $1`
    await core.database.query(orders, [batchId])
    await system().catchUp({ tenantId, id: kim.id })
    expect((await core.database.query(orders, [batchId])).rowCount).toBe(1)
    await refresh(batchId)
    expect(to(kim).map(({ how, card }) => [how, textOf(card).includes('2 waiting for approval')])).toEqual([
      ['send', true],
    ])
    for (const { requestId } of await requests(batchId))
      await core.provisioning.reject(actorOf(dana), { requestId, comment: 'No.' })
    await refresh(batchId)
    await refresh(batchId)
    expect(to(kim).filter(({ how }) => how === 'send')).toHaveLength(1)
  })

  it('ask an approver again whose chat refused the card once', async () => {
    const batchId = await submitted(2, one)
    send = async () => ({ state: 'undeliverable', why: 'BotNotInConversationRoster', closed: false })
    await refresh(batchId)
    deliveries.splice(0)
    send = async () => ({ state: 'sent', activityId: randomUUID() })
    await refresh(batchId)
    expect(to(dana)).toMatchObject([{ how: 'send' }])
  })

  it('are ordered again when the job that sent one has ended after a lost answer', async () => {
    const batchId = await submitted(1, one)
    send = async () => ({ state: 'unknown' })
    await expect(refresh(batchId)).rejects.toThrow('was lost')
    const { rows } = await core.database.query<{ key: string }>(
      `UPDATE notices SET updated_at = now() - interval '10 minutes' WHERE batch_id = $1 AND state = 'sending'
       RETURNING key`,
      [batchId],
    )
    send = async () => ({ state: 'sent', activityId: randomUUID() })
    deliveries.splice(0)
    await refresh(batchId)
    await refresh(batchId)
    expect(rows).toHaveLength(1)
    expect(deliveries.map(({ to }) => to).toSorted()).toEqual([dana.id, kim.id].toSorted())
  })

  it('ask again with a new card when the former card no longer exists', async () => {
    const batchId = await submitted(2, one)
    await refresh(batchId)
    deliveries.splice(0)
    const [first] = await requests(batchId)
    await core.provisioning.approve(actorOf(dana), { requestId: String(first?.requestId) })
    update = 'gone'
    await refresh(batchId)
    deliveries.splice(0)
    update = 'updated'
    await refresh(batchId)
    expect(to(dana).map(({ how, card }) => [how, textOf(card).includes('1 waiting')])).toEqual([['send', true]])
  })

  it('show the newest state after two jobs have updated them in the wrong order', async () => {
    const batchId = await submitted(3, one)
    await refresh(batchId)
    deliveries.splice(0)
    const [first, second] = (await requests(batchId)).map(({ requestId }) => ({ requestId }))
    await core.provisioning.approve(actorOf(dana), first ?? { requestId: '' })
    meanwhile = async () => {
      await core.provisioning.approve(actorOf(dana), second ?? { requestId: '' })
      await system().refreshBatch(outbox, { tenantId, batchId })
    }
    await refresh(batchId)
    for (const person of [dana, kim]) {
      const last = deliveries.findLast((one) => one.to === person.id)
      expect(textOf(last?.card ?? {})).toMatch(/\b1 waiting/)
    }
  })

  it('read the rows at most twice in a job, however many people get a card', async () => {
    const batchId = await submitted(2, { stages: [{ approvers: [dana, omar].map(({ id }) => ({ user: id })) }] })
    await refresh(batchId)
    const [first] = await requests(batchId)
    await core.provisioning.approve(actorOf(dana), { requestId: String(first?.requestId) })
    let reads = 0
    const { requests: store } = core.ports
    const counted = core.with({
      requests: {
        ...store,
        list: (query) => {
          reads += 1
          return store.list(query)
        },
      },
    })
    deliveries.splice(0)
    await counted.system.refreshBatch(outbox, { tenantId, batchId })
    expect(deliveries).toHaveLength(3)
    expect(reads).toBe(2)
  })

  it('show the progress of requests that an earlier version stored without their batch, and the summary', async () => {
    const batchId = await submitted(2, one)
    const rows = await requests(batchId)
    await core.database.query(`UPDATE requests SET body = body - 'batch' WHERE body->'batch'->>'batchId' = $1`, [
      batchId,
    ])
    await core.database.query(`DELETE FROM ordered_jobs WHERE payload::text LIKE '%' || $1 || '%'`, [batchId])
    await refresh(batchId)
    expect(deliveries.map(({ to, card }) => [to, textOf(card).includes('2 waiting for approval')])).toEqual([
      [kim.id, true],
    ])
    const { rows: later } = await core.database.query<{ later: boolean }>(
      `SELECT start_after > now() AS later FROM ordered_jobs
       WHERE name = 'refresh-batch' AND payload->>'batchId' = $1 AND payload->>'isCheck' IS NULL`,
      [batchId],
    )
    expect(later).toEqual([{ later: true }])
    for (const { requestId } of rows) await core.provisioning.reject(actorOf(dana), { requestId, comment: 'No.' })
    await refresh(batchId)
    expect(textOf(to(kim).findLast(({ how }) => how === 'send')?.card ?? {})).toMatch(/Your batch has ended/)
  })

  it('stay small enough for Teams with 200 rows, all ticked', async () => {
    const batchId = await submitted(200, one)
    const question = await core.provisioning.readBatchQuestion(actorOf(dana), { batchId, stage: 1 })
    // Numbers with gaps, because other requests were sent in between.
    const waiting = (question?.waiting ?? []).map((request) => ({ ...request, number: 1_000_000 + request.number * 2 }))
    expect(waiting).toHaveLength(200)
    const ticked = new Set(waiting.map(({ number }) => `${number}.1`))
    for (const from of [0, 100, 199]) {
      const card = cards.decideSeveral({ question, waiting, from, ticked, comment: 'x'.repeat(500) }, viewerOf(dana))
      expect(JSON.stringify(card).length * 2).toBeLessThan(25_000)
    }
  })
})
