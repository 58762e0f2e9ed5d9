import { randomUUID } from 'node:crypto'
import { beforeEach, describe, expect, it } from 'vitest'
import { createOutbox } from '../../src/bot/notifications/outbox.ts'
import type { CardJson } from '../../src/cards/index.ts'
import type { JobPayload, Person, Request, SendResult } from '../../src/core/index.ts'
import { requestOf, siteRoot, stageOf, stepsUntil } from '../support/card-requests.ts'
import { textOf } from '../support/cards.ts'
import { dana, kim, priya, tenantId, withCore } from '../support/core.ts'

describe('a person whose chat becomes known', () => {
  const core = withCore()
  let person: Person
  let number = 8000
  const sent: CardJson[] = []
  /** How the chat answers; undefined: it accepts each card. */
  let answer: SendResult | undefined
  const outbox = createOutbox(
    {
      async send(_, card) {
        sent.push(card)
        return answer ?? { state: 'sent', activityId: `card-${sent.length}` }
      },
      update: async () => 'updated',
    },
    { now: () => new Date(), siteRoot, outlookRoot: 'https://outlook.office.com/' },
  )

  beforeEach(async () => {
    sent.splice(0)
    person = { ...dana, id: randomUUID() }
    const chat = { conversationId: `chat-${person.id}`, reference: {}, locale: 'en-GB', timeZone: 'UTC' }
    await core.ports.conversations.put({ tenantId, personId: person.id, ...chat })
  })
  const stored = async (more: Partial<Request>): Promise<Request> => {
    number += 1
    const request = { ...requestOf({ requestId: randomUUID(), tenantId, alias: `c${number}` }), ...more } as Request
    const stored = await core.ports.requests.insert(request)
    if (!stored) throw new Error('a request of a new id was there already')
    return stored
  }
  const waiting = async (count: number) => {
    for (let index = 0; index < count; index += 1)
      await stored({ requester: kim, approvals: [stageOf(1, [person])] } as Partial<Request>)
  }
  const catchUp = () => core.provisioning.system.catchUp({ tenantId, id: person.id })
  const ordered = async <N extends 'notify' | 'tell'>(name: N) => {
    const { rows } = await core.database.query<{ payload: JobPayload<N> }>(
      `SELECT payload FROM ordered_jobs WHERE name = $1 AND payload ->> 'personId' = $2`,
      [name, person.id],
    )
    return rows.map(({ payload }) => payload)
  }

  it('gets a card for each of a few waiting decisions', async () => {
    await waiting(10)
    await catchUp()
    expect((await ordered('notify')).map(({ card }) => card)).toEqual(Array.from({ length: 10 }, () => 'approval:1'))
    expect(await ordered('tell')).toEqual([])
  })

  it('gets one list of all waiting decisions if there are many, once', async () => {
    await waiting(130)
    await catchUp()
    expect(await ordered('notify')).toEqual([])
    await catchUp()
    const [order, ...more] = await ordered('tell')
    if (!order) throw new Error('no list was ordered')
    expect(more).toEqual([])
    for (const attempt of [1, 1]) await core.provisioning.system.deliverCard(outbox, order, attempt)
    for (const one of await ordered('notify')) await core.provisioning.system.deliverCard(outbox, one, 1)
    expect(sent).toHaveLength(1)
    expect(textOf(sent[0] ?? {})).toMatch(/1–6 of 1\d\d/)
  })

  it('gets one list if two jobs order it at the same time', async () => {
    await waiting(12)
    await Promise.all([catchUp(), catchUp()])
    expect(await ordered('tell')).toHaveLength(1)
    expect(await ordered('notify')).toEqual([])
  })

  it('needs a few calls of the store for many waiting decisions', async () => {
    await waiting(130)
    let calls = 0
    const sentCards = new Proxy(core.ports.sentCards, {
      get(store, name, receiver) {
        calls += 1
        return Reflect.get(store, name, receiver)
      },
    })
    await core.with({ sentCards }).system.catchUp({ tenantId, id: person.id })
    expect(await ordered('tell')).toHaveLength(1)
    expect(calls).toBeLessThan(10)
  })

  it('gets the list again after the chat refused it at the same moment', async () => {
    await waiting(12)
    const now = new Date()
    const { system } = core.with({ clock: { now: () => now } })
    await system.catchUp({ tenantId, id: person.id })
    const [refused] = await ordered('tell')
    if (!refused) throw new Error('no list was ordered')
    answer = { state: 'undeliverable', why: 'ForbiddenOperationException', closed: false }
    await system.deliverCard(outbox, refused, 1)
    answer = undefined
    sent.splice(0)
    await system.catchUp({ tenantId, id: person.id })
    expect(await ordered('tell')).toHaveLength(2)
    for (const order of await ordered('tell')) await system.deliverCard(outbox, order, 1)
    expect(sent).toHaveLength(1)
  })

  it('gets the ends of own requests, but no card about a request that they cancelled themselves', async () => {
    const ended = (more: object) =>
      stored({ requester: person, finishedAt: new Date().toISOString(), ...more } as Partial<Request>)
    const rejected = await ended({ status: 'rejected' })
    await ended({ status: 'cancelled', cancelledBy: person })
    const byAdmin = await ended({ status: 'cancelled', cancelledBy: priya })
    await catchUp()
    expect((await ordered('notify')).map(({ requestId, card }) => [requestId, card])).toEqual(
      expect.arrayContaining([
        [rejected.requestId, 'outcome:rejected'],
        [byAdmin.requestId, 'outcome:cancelled'],
      ]),
    )
    expect(await ordered('notify')).toHaveLength(2)
  })

  it('gets all links of the last days', async () => {
    const at = new Date().toISOString()
    for (let index = 0; index < 25; index += 1) {
      const url = `${siteRoot}c${index}`
      await stored({
        ...{ requester: person, status: 'succeeded', steps: stepsUntil(99), finishedAt: at },
        followUp: { state: 'announced', by: 'webhook', url, at },
      } as Partial<Request>)
    }
    await catchUp()
    expect(await ordered('notify')).toHaveLength(25)
  })
})
