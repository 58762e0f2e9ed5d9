import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { GuardedAdapter } from '../../src/bot/channel/adapter.ts'
import { createCardSender } from '../../src/bot/channel/card-sender.ts'
import { createPacedChats, ownLimits, teamsLimits } from '../../src/bot/channel/chat-pace.ts'
import { createOutbox } from '../../src/bot/notifications/outbox.ts'
import type { NoticeOrder, Outbox, Person, Request } from '../../src/core/index.ts'
import { mulberry32 } from '../../src/simulator/control/faults.ts'
import { chatPaceInMemory } from '../../src/store/notifications/chats.ts'
import { workOff } from '../support/card-jobs.ts'
import { requestOf, siteRoot, stepsUntil } from '../support/card-requests.ts'
import { type Connector, type ConnectorCall, type Misbehaviour, startConnector } from '../support/connector.ts'
import { tenantId, withCore } from '../support/core.ts'
import { maxIn } from '../support/traffic.ts'

const seed = Number(process.env['STORM_SEED'] ?? Math.floor(Math.random() * 1_000_000))
/** Number of follow-up cards in each storm. */
const count = Number(process.env['STORM_CARDS'] ?? 60)
const manners = { retries: 16, retryDelaySeconds: 2, workers: 4 }
const retryAfterSeconds = 9

describe(`follow-up cards to a connector that fails half of its calls (STORM_SEED=${seed})`, () => {
  const core = withCore()
  const clock = { now: Date.UTC(2026, 10, 20, 12) }
  const random = mulberry32(seed)
  const silent = { info: () => undefined, warn: () => undefined, error: () => undefined }
  let connector: Connector
  let number = 5000

  beforeAll(async () => {
    // Each call takes some time, so that concurrent calls overlap.
    connector = await startConnector(() => {
      clock.now += 7
      return clock.now
    })
  })
  afterAll(() => connector.close())

  const outbox = () => {
    const chats = createPacedChats(
      chatPaceInMemory(() => clock.now),
      silent,
    )
    const adapter = new GuardedAdapter(undefined)
    const sender = createCardSender({
      ...{ adapter, allowLoopback: true, assertOutside: core.database.assertOutside, chats, log: silent },
      serviceUrl: async () => connector.url,
    })
    return createOutbox(sender, {
      now: () => new Date(clock.now),
      siteRoot,
      outlookRoot: 'https://outlook.office.com/',
    })
  }
  async function meet(place: number): Promise<Person> {
    const id = randomUUID()
    const reference = {
      ...{ channelId: 'msteams', serviceUrl: connector.url, conversation: { id: `chat-${id}`, tenantId } },
      ...{ bot: { id: '28:bot', name: 'Quartermaster' }, user: { id: `29:${id}`, name: `Person ${place}` } },
    }
    const chat = { conversationId: `chat-${id}`, reference, locale: 'en-GB', timeZone: 'UTC' }
    await core.ports.conversations.put({ tenantId, personId: id, ...chat })
    return { id, displayName: `Person ${place}`, userPrincipalName: `person${place}@contoso.example` }
  }
  /** Creates a request that has just been announced, with its status card in the requester's chat. */
  async function announced(requester: Person): Promise<Request> {
    number += 1
    const request = requestOf({
      ...{ requestId: randomUUID(), tenantId, alias: `s${number}`, requester, status: 'succeeded' },
      ...{ steps: stepsUntil(99), finishedAt: new Date(clock.now).toISOString() },
      followUp: {
        state: 'announced',
        by: 'webhook',
        url: `${siteRoot}s${number}`,
        at: new Date(clock.now).toISOString(),
      },
      resource: { url: `${siteRoot}s${number}`, siteId: 'site', groupId: 'group', securityGroupId: 'security' },
    })
    const stored = await core.ports.requests.insert(request)
    if (!stored) throw new Error('a request of a new id was there already')
    const { requestId } = stored
    const chat = { personId: requester.id, conversationId: `chat-${requester.id}` }
    const activityId = `status-${number}`
    await core.ports.sentCards.put({ requestId, ...chat, key: 'status', activityId, state: 'sent' })
    return stored
  }
  const now = () => core.with({ clock: { now: () => new Date(clock.now) } })
  /** Returns the jobs of cards with several links. */
  async function bundles(box: Outbox) {
    const { rows } = await core.database.query<{ payload: NoticeOrder }>(
      `DELETE FROM ordered_jobs WHERE name = 'tell' RETURNING payload`,
    )
    return rows.map(
      ({ payload }) =>
        (attempt: number) =>
          now().system.deliverCard(box, payload, attempt),
    )
  }
  /** Half of all calls fail. A connection breaks either before or after the card was accepted. */
  function misbehave(): Misbehaviour | undefined {
    if (random() < 0.5) return undefined
    const how = ([412, 429, 429, 502, 504, 'drop', 'reset'] as const)[Math.floor(random() * 7)]
    if (how !== 429) return how === undefined ? undefined : { how }
    return random() < 0.5 ? { how } : { how, headers: { 'retry-after': String(retryAfterSeconds) } }
  }
  const arrived = ({ misbehaviour }: ConnectorCall) => misbehaviour === undefined || misbehaviour.how === 'reset'

  it.each([
    ['one chat', 1],
    ['many chats', 60],
  ])(`%s: each card arrives once, never above the limits, and not before Retry-After`, async (_, chats) => {
    const people = await Promise.all(Array.from({ length: chats }, (_, place) => meet(place)))
    const requests: Request[] = []
    for (let index = 0; index < count; index += 1) {
      const person = people[index % chats]
      if (person) requests.push(await announced(person))
    }
    connector.calls.splice(0)
    connector.misbehave(misbehave)
    const box = outbox()
    const rounds: number[] = []
    const deliver =
      ({ requestId, requester }: Request) =>
      (attempt: number) =>
        now().system.deliverCard(box, { requestId, personId: requester.id, card: 'outcome:succeeded' }, attempt)
    const work = (jobs: Parameters<typeof workOff>[1]) =>
      workOff(clock, jobs, manners, random, () => rounds.push(connector.calls.length))
    const alone = await work(requests.map(deliver))
    const bundled = await work(await bundles(box))
    const [givenUp, putOff] = [[...alone.givenUp, ...bundled.givenUp], alone.putOff + bundled.putOff]
    connector.healthy()

    expect(givenUp).toEqual([])
    for (const request of requests) {
      const reference = `REQ-${request.number}`
      const tried = connector.calls.filter(({ activity }) => JSON.stringify(activity).includes(reference))
      const about = tried.filter(arrived)
      // After two lost answers a card counts as sent, also if neither call arrived.
      const isSilent = tried.filter(({ misbehaviour }) => misbehaviour?.how === 'drop').length >= 2
      const sent = about.filter(({ method }) => method === 'POST')
      const isLost = sent.some(({ misbehaviour }) => misbehaviour !== undefined)
      const row = await core.ports.sentCards.find(request.requestId, request.requester.id, 'outcome:succeeded')
      // A status card can show the end instead of a second card. A card with many links cannot, so it is sent again once.
      const most = row?.state === 'bundled' && isLost ? 2 : 1
      expect(about.length, `${reference} was told`).toBeGreaterThan(isSilent ? -1 : 0)
      expect(sent.length, `${reference} is one card`).toBeLessThanOrEqual(most)
      expect(row?.state, reference).toMatch(/^(sent|unknown|bundled)$/)
    }
    for (const { id } of people) {
      const calls = connector.calls.filter(({ conversationId }) => conversationId === `chat-${id}`)
      for (const { milliseconds, count: most } of [...ownLimits, ...teamsLimits])
        expect(
          maxIn(
            calls.map(({ at }) => at),
            milliseconds,
          ),
        ).toBeLessThanOrEqual(most)
    }
    expect(tooEarly(connector.calls, rounds)).toEqual([])
    expect(putOff).toBeLessThan(count * 40)
    expect(connector.unexpected).toEqual([])
  })
})

/** Returns calls to a chat during its Retry-After, except calls that had already started: those of the same round. */
function tooEarly(calls: readonly ConnectorCall[], rounds: readonly number[]): ConnectorCall[] {
  const waits = calls.flatMap((call, index) => {
    if (call.misbehaviour?.headers?.['retry-after'] === undefined) return []
    const after = rounds.find((end) => end > index) ?? calls.length
    return [{ chat: call.conversationId, after, until: call.at + retryAfterSeconds * 1000 }]
  })
  return calls.filter((call, index) =>
    waits.some(({ chat, after, until }) => chat === call.conversationId && index >= after && call.at < until),
  )
}
