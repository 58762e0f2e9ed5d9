/**
 * The bot on Teams. `channel/` receives and sends activities: guard, adapter, listener, turns, and the pace of each
 * chat. Each room contains the card actions and commands of its capability.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { type ConversationReference, ConversationState, type Storage, type StoreItems } from 'botbuilder'
import type { BotStateStore, ChatPaceStore, Outbox, Telemetry } from '../core/index.ts'
import { type Credentials, GuardedAdapter } from './channel/adapter.ts'
import { Bot } from './channel/bot.ts'
import { createCardSender } from './channel/card-sender.ts'
import { createPacedChats } from './channel/chat-pace.ts'
import type { Connector } from './channel/connectors.ts'
import { type Admission, type ConnectorKeys, createGuard } from './channel/guard.ts'
import type { BotServices, Log } from './channel/turn.ts'
import { isLogged } from './channel/turn-metrics.ts'
import { createOutbox } from './notifications/index.ts'

export { type Connector, connectors } from './channel/connectors.ts'
export type { BotServices } from './channel/turn.ts'
export { commands } from './registry.ts'

interface BotOptions {
  readonly services: BotServices
  readonly state: BotStateStore
  /** Undefined only in local mode, where the bot listens on loopback and requires no token. */
  readonly credentials: Credentials | undefined
  readonly tenantId: string
  /** The Bot connector's signing keys. */
  readonly keys: ConnectorKeys
}

/** Composes the bot. Its outbox is created earlier, because jobs need it. */
export function createBot({ services, state, credentials, tenantId, keys }: BotOptions, adapter: GuardedAdapter) {
  const guard = createGuard({ appId: credentials?.appId, tenantId, keys, connector: adapter.connector })
  const bot = new Bot(services, new ConversationState(storageOf(state)))
  adapter.onTurnError = async (context, error) => {
    if (!isLogged(error)) services.log.error({ err: error }, 'a turn failed outside of its error handling')
    if (context.activity.type === 'invoke')
      await context.sendActivity({ type: 'invokeResponse', value: { status: 500 } })
  }
  const admitted = new WeakMap<IncomingMessage, Admission>()
  const admit = async (request: IncomingMessage): Promise<Admission> => {
    const admission = await guard.admit(request.headersDistinct['authorization'] ?? [])
    admitted.set(request, admission)
    return admission
  }
  const refuse = (response: ServerResponse, { status, message, reason }: Extract<Admission, { ok: false }>): void => {
    services.log.warn({ reason }, 'an activity was refused')
    answer(response, status, { error: { code: String(status), message } }, headersOfRefusal[status])
  }
  return {
    /** Checks the token of a `POST /api/messages` before its body is read. False: refused and answered. */
    async admit(request: IncomingMessage, response: ServerResponse): Promise<boolean> {
      const admission = await admit(request)
      if (!admission.ok) refuse(response, admission)
      return admission.ok
    },
    /**
     * Handles a `POST /api/messages` with its parsed body. A refused activity (400, 401, 403, 503) never reaches the
     * bot.
     */
    async messages(request: IncomingMessage & { body?: unknown }, response: ServerResponse): Promise<void> {
      const verdict = guard.judge(admitted.get(request) ?? (await admit(request)), request.body)
      if (!verdict.ok) return refuse(response, verdict)
      const result = await adapter.hear(verdict.activity, verdict.claims, (context) => bot.run(context))
      // The SDK answers 501 to an invoke with an unknown name, which is the caller's mistake.
      return answer(response, result?.status === 501 ? 400 : (result?.status ?? 200), result?.body)
    },
  }
}

/** Creates the adapter, and the outbox that uses it. */
export function createChannel(options: {
  credentials: Credentials | undefined
  /** The Bot connector of the organisation's cloud. Default: public. */
  connector?: Connector
  assertOutside: (what: string) => void
  /** Returns the reference of the latest chat. Its connector serves the whole tenant. */
  lastReference: () => Promise<unknown>
  /** The connector's address until the bot knows a chat. */
  connectorUrl: string
  chatPace: ChatPaceStore
  now: () => Date
  siteRoot: string
  otherSiteOrigins?: readonly string[]
  outlookRoot: string
  telemetry?: Telemetry
  log: Log
}): { adapter: GuardedAdapter; outbox: Outbox } {
  const { credentials, assertOutside, chatPace, telemetry, log } = options
  const adapter = new GuardedAdapter(credentials, options.connector)
  const chats = createPacedChats(chatPace, log)
  const allowLoopback = credentials === undefined
  const serviceUrl = async () => {
    const latest = (await options.lastReference()) as Partial<ConversationReference> | undefined
    return latest?.serviceUrl ?? options.connectorUrl
  }
  const sender = createCardSender({ adapter, allowLoopback, serviceUrl, assertOutside, chats, telemetry, log })
  return { adapter, outbox: createOutbox(sender, options) }
}

/** The headers of a refusal: the required token (RFC 9110 §11.6.1), or the seconds until a retry. */
const headersOfRefusal: Readonly<Record<number, Record<string, string>>> = {
  401: { 'www-authenticate': 'Bearer realm="quartermaster"' },
  503: { 'retry-after': '10' },
}

function answer(response: ServerResponse, status: number, body: unknown, headers: Record<string, string> = {}): void {
  const type = body === undefined ? {} : { 'content-type': 'application/json; charset=utf-8' }
  response.writeHead(status, { ...type, ...headers })
  response.end(body === undefined ? undefined : JSON.stringify(body))
}

function storageOf(state: BotStateStore): Storage {
  return {
    read: async (keys: string[]) => state.read(keys) as Promise<StoreItems>,
    write: (changes: StoreItems) => state.write(changes),
    delete: (keys: string[]) => state.delete(keys),
  }
}
