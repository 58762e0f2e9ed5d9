import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'

/** An activity as a chat shows it now. */
export interface ShownActivity {
  readonly id: string
  readonly conversationId: string
  readonly text: string | undefined
  readonly card: Card | undefined
  /** How often it was updated after it was sent. */
  readonly updates: number
  /** The activity that it answers; undefined for what comes of the bot's own accord. */
  readonly replyToId: string | undefined
}
export type Card = Record<string, unknown>

/** What the connector does instead of what is usual. */
export interface Misbehaviour {
  /**
   * A status to answer without doing anything; `lose` neither does anything nor answers; `drop` does nothing and drops the
   * line; `reset` does it and drops the line; `hold` does it and never answers.
   */
  readonly how: number | 'lose' | 'drop' | 'reset' | 'hold'
  /** The connector's word for it, beside a status; `Fault` unless given. */
  readonly code?: string
  /** What else a status is answered with. */
  readonly headers?: Readonly<Record<string, string>>
}
/** What the connector is told to do with the next matching call. */
export interface ConnectorFault extends Misbehaviour {
  readonly method: 'POST' | 'PUT'
  count: number
  readonly when?: (activity: Record<string, unknown>) => boolean
}

/** One call as it arrived, whatever became of it. */
export interface ConnectorCall {
  readonly method: 'POST' | 'PUT'
  readonly conversationId: string
  readonly activity: Readonly<Record<string, unknown>>
  readonly traceparent: string | undefined
  /** By the connector's clock, in milliseconds. */
  readonly at: number
  readonly misbehaviour: Misbehaviour | undefined
}

/**
 * A Bot connector for tests: it takes what the bot sends to chats, keeps each activity as it stands now, and can fail.
 * Anything it does not know is answered 500 and remembered, so that a test can demand that there was nothing.
 */
export async function startConnector(port = 0, now: () => number = Date.now) {
  const activities = new Map<string, ShownActivity>()
  const sent: ShownActivity[] = []
  const unexpected: string[] = []
  const faults: ConnectorFault[] = []
  const calls: ConnectorCall[] = []
  let unsteady: () => Misbehaviour | undefined = () => undefined
  let count = 0

  const server = createServer((request, response) => {
    handle(request, response).catch((error: unknown) => {
      unexpected.push(String(error))
      response.destroy()
    })
  })

  // No chained calls on the response: restify, in the same process, makes writeHead return nothing.
  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const match = /^\/v3\/conversations\/([^/]+)\/activities(?:\/([^/]+))?$/.exec(request.url ?? '')
    const { method } = request
    if (!match || (method !== 'POST' && method !== 'PUT')) {
      unexpected.push(`${method} ${request.url}`)
      response.writeHead(500)
      response.end()
      return
    }
    const activity = (await json(request)) as Record<string, unknown>
    const conversationId = decodeURIComponent(match[1] ?? '')
    const told = faults.find((one) => one.method === method && one.count > 0 && (one.when?.(activity) ?? true))
    if (told) told.count -= 1
    const fault = told ?? unsteady()
    const { traceparent } = request.headers
    calls.push({
      method,
      conversationId,
      activity,
      traceparent: traceparent?.toString(),
      at: now(),
      misbehaviour: fault,
    })
    if (typeof fault?.how === 'number') {
      response.writeHead(fault.how, { 'content-type': 'application/json', ...fault.headers })
      response.end(JSON.stringify({ error: { code: fault.code ?? 'Fault', message: 'as told' } }))
      return
    }
    if (fault?.how === 'lose') return
    if (fault?.how === 'drop') {
      response.destroy()
      return
    }
    count += 1
    const id = method === 'PUT' ? decodeURIComponent(match[2] ?? '') : `activity-${count}-${conversationId}`
    const known = activities.get(id)
    const shown: ShownActivity = {
      id,
      conversationId,
      text: activity['text'] as string | undefined,
      card: cardOf(activity),
      updates: method === 'PUT' ? (known?.updates ?? 0) + 1 : 0,
      replyToId: method === 'PUT' ? known?.replyToId : match[2] && decodeURIComponent(match[2]),
    }
    activities.set(id, shown)
    if (method === 'POST') sent.push(shown)
    if (fault?.how === 'hold') return
    if (fault?.how === 'reset') {
      response.destroy()
      return
    }
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ id }))
  }

  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    url,
    /** Every activity that was sent, as it was when it was sent, in order. */
    sent,
    unexpected,
    /** Every call that arrived, in order. */
    calls,
    /** From now on each call that nothing else is told of asks what to do. */
    misbehave(choose: () => Misbehaviour | undefined): void {
      unsteady = choose
    },
    /** The fault is over when its count is 0: the connector has met it then. */
    fail(fault: ConnectorFault): ConnectorFault {
      faults.push(fault)
      return fault
    },
    /** From now on everything works. */
    healthy(): void {
      faults.splice(0)
      unsteady = () => undefined
    },
    /** A chat as it looks now. */
    chat: (conversationId: string): ShownActivity[] =>
      [...activities.values()].filter((one) => one.conversationId === conversationId),
    /** A card that a person's client shows without the connector having seen it: the one that a test clicks on. */
    activity: (id: string): ShownActivity | undefined => activities.get(id),
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
export type Connector = Awaited<ReturnType<typeof startConnector>>

function cardOf(activity: Record<string, unknown>): Card | undefined {
  const attachments = activity['attachments']
  if (!Array.isArray(attachments)) return undefined
  const [first] = attachments as { contentType?: string; content?: Card }[]
  return first?.contentType === 'application/vnd.microsoft.card.adaptive' ? first.content : undefined
}
