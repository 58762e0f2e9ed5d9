import type { IncomingMessage, ServerResponse } from 'node:http'
import { json } from 'node:stream/consumers'
import { send, sendJson, startServer } from './http-server.ts'

/** An activity in its current form in a chat. */
export interface ShownActivity {
  readonly id: string
  readonly conversationId: string
  readonly text: string | undefined
  readonly card: Card | undefined
  /** Number of updates since it was sent. */
  readonly updates: number
  /** The activity that it answers; undefined for a proactive activity. */
  readonly replyToId: string | undefined
}
export type Card = Record<string, unknown>

/** An unusual behaviour of the connector. */
export interface Misbehaviour {
  /**
   * A status to answer without any effect. `lose`: no effect and no answer. `drop`: no effect, and the connection is
   * cut. `reset`: the effect, then the connection is cut. `hold`: the effect, but no answer. `late`: the effect, and
   * the answer after `until`.
   */
  readonly how: number | 'lose' | 'drop' | 'reset' | 'hold' | 'late'
  /** For `late`: settles when the answer is due. */
  readonly until?: (activity: Record<string, unknown>) => Promise<void>
  /** The connector's error code for a status; default `Fault`. */
  readonly code?: string
  /** Further headers of an answer with a status. */
  readonly headers?: Readonly<Record<string, string>>
}
/** The behaviour for the next matching calls. */
export interface ConnectorFault extends Misbehaviour {
  readonly method: 'POST' | 'PUT'
  count: number
  readonly when?: (activity: Record<string, unknown>) => boolean
}

/** One call as it arrived, whatever its result. */
export interface ConnectorCall {
  readonly method: 'POST' | 'PUT'
  readonly conversationId: string
  readonly activity: Readonly<Record<string, unknown>>
  readonly traceparent: string | undefined
  /** Time by the connector's clock, in milliseconds. */
  readonly at: number
  readonly misbehaviour: Misbehaviour | undefined
}

/**
 * Starts a Bot connector for tests: it accepts the bot's messages, stores each activity in its current form, and can
 * fail. It answers unknown calls with 500 and records them, so that a test can check that there were none.
 */
export async function startConnector(now: () => number = Date.now) {
  const activities = new Map<string, ShownActivity>()
  const sent: ShownActivity[] = []
  const unexpected: string[] = []
  const faults: ConnectorFault[] = []
  const calls: ConnectorCall[] = []
  let unsteady: () => Misbehaviour | undefined = () => undefined
  let count = 0

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const match = /^\/v3\/conversations\/([^/]+)\/activities(?:\/([^/]+))?$/.exec(request.url ?? '')
    const { method } = request
    if (!match || (method !== 'POST' && method !== 'PUT')) {
      unexpected.push(`${method} ${request.url}`)
      return send(response, 500)
    }
    const activity = (await json(request)) as Record<string, unknown>
    const conversationId = decodeURIComponent(match[1] ?? '')
    const matching = faults.find((one) => one.method === method && one.count > 0 && (one.when?.(activity) ?? true))
    if (matching) matching.count -= 1
    const fault = matching ?? unsteady()
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
    if (fault?.how === 'late') await fault.until?.(activity)
    if (fault?.how === 'reset') {
      response.destroy()
      return
    }
    sendJson(response, 200, { id })
  }

  const { url, close } = await startServer((request, response) => {
    handle(request, response).catch((error: unknown) => {
      unexpected.push(String(error))
      response.destroy()
    })
  })
  return {
    url,
    /** Every sent activity in its original form, in order. */
    sent,
    unexpected,
    /** Every call that arrived, in order. */
    calls,
    /** Chooses the behaviour for each later call without another fault. */
    misbehave(choose: () => Misbehaviour | undefined): void {
      unsteady = choose
    },
    /** Adds a fault. The fault has ended when its count is 0. */
    fail(fault: ConnectorFault): ConnectorFault {
      faults.push(fault)
      return fault
    },
    /** Removes all faults. */
    healthy(): void {
      faults.splice(0)
      unsteady = () => undefined
    },
    /** Returns the current activities of a chat. */
    chat: (conversationId: string): ShownActivity[] =>
      [...activities.values()].filter((one) => one.conversationId === conversationId),
    /** Adds a card that a client shows without the connector's knowledge, for a click by a test. */
    activity: (id: string): ShownActivity | undefined => activities.get(id),
    close,
  }
}
export type Connector = Awaited<ReturnType<typeof startConnector>>

function cardOf(activity: Record<string, unknown>): Card | undefined {
  const attachments = activity['attachments']
  if (!Array.isArray(attachments)) return undefined
  const [first] = attachments as { contentType?: string; content?: Card }[]
  return first?.contentType === 'application/vnd.microsoft.card.adaptive' ? first.content : undefined
}
