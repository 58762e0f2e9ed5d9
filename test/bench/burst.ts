import { setTimeout } from 'node:timers/promises'
import { ownLimits } from '../../src/bot/channel/chat-pace.ts'
import { openDatabase } from '../../src/store/index.ts'
import { type Connector, type ConnectorCall, startConnector } from '../support/connector.ts'
import { people } from '../support/teams-user.ts'
import { turn } from './chat.ts'
import { type Place, variablesOf } from './places.ts'
import { startService, startTenant, tokenOf } from './service.ts'

/** Waits for one approver, so that all requests can start at the same moment. */
const project = {
  templateId: '4f6b1f0a-6f0e-4d0e-9a55-0d6f3a1f7c11',
  metadata: { costCentre: '4711', audience: 'internal' },
}
/** Longer than the windows of a chat that matter here, in milliseconds. */
const usualSilence = 31_000
/** The share of requests whose status card is in the chat: 12 of 30. */
const shareInChat = 0.4

export interface BurstTimes {
  /** Milliseconds from the end of each request until the connector has its link. */
  readonly links: readonly number[]
  /** Milliseconds until each of as many messages may be sent, by the limits of a chat alone. */
  readonly floor: readonly number[]
  /** The cards with links, and all other messages to the chat. */
  readonly cards: number
  readonly others: number
}

/**
 * Measures the links of one person whose requests are all approved at the same moment. Of 30 requests, 12 have their status
 * card in the chat, so updates of these cards and links share the limits of one chat.
 */
export async function measureBurst(place: Place, count: number, silence = usualSilence): Promise<BurstTimes> {
  const connector = await startConnector()
  const tenant = await startTenant(place.dataDir)
  const service = await startService(place.dataDir, { ...variablesOf(place), ...tenant.urls })
  try {
    const [kim, dana] = await Promise.all(
      [people.kim, people.dana].map(({ id }) => tokenOf({ simulatorUrl: tenant.url }, id)),
    )
    const ids: string[] = []
    for (let index = 0; index < count; index += 1) {
      const body = { ...project, displayName: `Burst ${index}` }
      const { requestId } = await call(service.url, kim, 'collab/v1/spo/', body)
      ids.push(String(requestId))
      if (index >= Math.max(1, count * shareInChat)) continue
      const { reference } = await call(service.url, kim, `requests/v1/${requestId}`)
      await turn(service.url, { serviceUrl: connector.url, text: `status ${reference}` })
    }
    await setTimeout(silence)
    // More decisions at once would wait for the connections of the store.
    const approves = ids.values()
    const approver = async () => {
      for (const id of approves) await call(service.url, dana, `requests/v1/${id}/approve`, {})
    }
    await Promise.all(Array.from({ length: 10 }, approver))
    await allAnnounced(service.url, kim, ids, { connector, silence })
  } finally {
    await service.stop()
    await tenant.kill()
    await connector.close()
  }
  const ends = await endsOf(place)
  return { ...linksOf(connector, ends), floor: floorOf(count) }
}

/** Returns the link and the end of each request, in milliseconds. */
async function endsOf(place: Place): Promise<{ url: string; at: number }[]> {
  const database = await openDatabase(place)
  const { rows } = await database.query<{ body: { followUp: { at: string; url: string } } }>(
    'SELECT body FROM requests',
  )
  await database.close()
  return rows.map(({ body: { followUp } }) => ({ url: followUp.url, at: Date.parse(followUp.at) }))
}

/** Whether a call sends a new card that announces resources. */
const isAnnouncement = ({ method, activity }: ConnectorCall): boolean =>
  method === 'POST' && /(is|are) ready\.$/.test(String(activity['summary']))

function linksOf({ calls }: Connector, ends: readonly { url: string; at: number }[]) {
  const sent = calls.map((call) => ({ call, text: JSON.stringify(call.activity) }))
  const cards = new Set<ConnectorCall>()
  const links = ends.map(({ url, at }) => {
    const found = sent.filter(({ call, text }) => isAnnouncement(call) && text.includes(`"${url}"`))
    const [first] = found
    if (!first || found.length > 1) throw new Error(`${url} is on ${found.length} cards`)
    cards.add(first.call)
    return first.call.at - at
  })
  return { links, cards: cards.size, others: calls.length - cards.size }
}

/** Returns when each of `count` messages may be sent if all are due at 0 and the chat has no other message. */
export function floorOf(count: number): number[] {
  const times: number[] = []
  for (let index = 0; index < count; index += 1) {
    const blocked = ownLimits.map((limit) => {
      const before = times[index - limit.count]
      return before === undefined ? 0 : before + limit.milliseconds
    })
    times.push(Math.max(times.at(-1) ?? 0, ...blocked))
  }
  return times
}

async function call(
  url: string,
  token: string | undefined,
  path: string,
  body?: object,
): Promise<Record<string, unknown>> {
  const answer = await fetch(`${url}/${path}`, {
    method: body ? 'POST' : 'GET',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
    ...(body && { body: JSON.stringify(body) }),
  })
  const text = await answer.text()
  if (!answer.ok) throw new Error(`${path} was answered ${answer.status}: ${text}`)
  return JSON.parse(text) as Record<string, unknown>
}

/** Waits until each request has ended and the chat has been silent for a while. */
async function allAnnounced(
  url: string,
  token: string | undefined,
  ids: readonly string[],
  { connector, silence }: { connector: Connector; silence: number },
): Promise<void> {
  for (const id of ids) {
    while (!JSON.stringify(await call(url, token, `requests/v1/${id}/timeline`)).includes('"announced"'))
      await setTimeout(250)
  }
  const begin = Date.now()
  while (Date.now() - Math.max(begin, connector.calls.at(-1)?.at ?? 0) < silence) await setTimeout(250)
}
