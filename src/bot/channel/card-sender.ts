import { setTimeout } from 'node:timers/promises'
import type { Activity, ConversationReference, TurnContext } from 'botbuilder'
import type { CardJson } from '../../cards/index.ts'
import {
  because,
  type CardOutcome,
  type CardPlace,
  type ChatRefusal,
  type Conversation,
  ProvisioningError,
  PutOff,
  type SendResult,
  type Telemetry,
  TenantError,
  type UpdateResult,
} from '../../core/index.ts'
import { type GuardedAdapter, type Leaving, leaving } from './adapter.ts'
import { longestCall, type Message, type PacedChats } from './chat-pace.ts'
import { type Connector, isConnector } from './connectors.ts'
import { messageOf } from './respond.ts'
import type { Log } from './turn.ts'

export interface CardSenderOptions {
  readonly adapter: GuardedAdapter
  /** Whether loopback addresses are allowed in addition to Microsoft's. Only local mode allows them. */
  readonly allowLoopback: boolean
  /** Returns the connector's address for a chat in which the person has not written yet. */
  readonly serviceUrl: () => Promise<string>
  /** Throws inside a database transaction. */
  readonly assertOutside: (what: string) => void
  readonly chats: PacedChats
  readonly telemetry?: Telemetry | undefined
  readonly log: Log
}

/**
 * The connector's statuses after which the same card may be sent again (Teams, "rate limiting"). 401 is one of them,
 * because an admin can replace an expired secret.
 */
const retryableStatuses = new Set([401, 412, 429, 502, 503, 504])
/** The largest share that is added to a `Retry-After`, so that not all cards are sent again at once. */
const jitter = 0.2
/** The pause of a chat after a 429 without `Retry-After`, in milliseconds. */
const defaultPause = 2000

/** Writes cards into chats outside of a turn. */
export function createCardSender(options: CardSenderOptions) {
  const { adapter, allowLoopback, serviceUrl, assertOutside, chats, telemetry, log } = options
  const inChat = async (
    conversation: Conversation,
    message: Message,
    logic: (context: TurnContext) => Promise<void>,
  ): Promise<void> => {
    assertOutside('a card')
    const known = conversation.reference ?? firstReference(conversation, adapter.appId, await serviceUrl())
    const reference = checked(known, allowLoopback, adapter.connector)
    await chats.write(
      conversation.conversationId,
      message,
      () => within(longestCall, inContext(reference, logic)),
      holdOf,
    )
  }
  // The adapter's onTurnError would swallow the error of a card, so it is caught here and thrown after the turn.
  const inContext = async (
    reference: Partial<ConversationReference>,
    logic: (context: TurnContext) => Promise<void>,
  ): Promise<void> => {
    let failure: { error: unknown } | undefined
    await adapter.continueConversationAsync(adapter.appId, reference, async (context) => {
      await logic(context).catch((error: unknown) => {
        failure = { error }
      })
    })
    if (failure) throw failure.error
  }
  const logged = (refusal: ChatRefusal, error: unknown, { personId }: Conversation): ChatRefusal => {
    const { why, closed } = refusal
    log.warn({ status: statusOf(error), why, closed, personId }, 'a chat does not accept our cards')
    return refusal
  }
  const sender = {
    /**
     * Sends a card. Throws a retryable error if the card certainly did not arrive, and `PutOff` if the limits of the
     * chat do not allow a card now. `what` identifies the card among those that wait for the same chat.
     */
    async send(
      conversation: Conversation,
      card: CardJson,
      what: string,
      place: CardPlace = { rank: 'new' },
    ): Promise<SendResult> {
      let activityId: string | undefined
      const call: Leaving = { left: false, givenUp: false }
      try {
        await leaving.run(call, () =>
          inChat(conversation, { what, ...place }, async (context) => {
            activityId = (await context.sendActivity(messageOf(card)))?.id
          }),
        )
      } catch (error) {
        if (isOurs(error)) throw error
        const refusal = refusalOfChat(error)
        if (refusal) return logged(refusal, error, conversation)
        if (!call.left || statusOf(error) !== undefined || neverLeft(error)) throw retryable(error)
        log.warn({ err: error, personId: conversation.personId }, 'a card may or may not have arrived')
        return { state: 'unknown' }
      }
      return activityId ? { state: 'sent', activityId } : { state: 'unknown' }
    },

    /** Updates a card in a chat. Throws as `send` does. Safe to repeat. `isShort`: the card shrinks to one line. */
    async update(
      conversation: Conversation,
      activityId: string,
      card: CardJson,
      what: string,
      isShort = false,
    ): Promise<UpdateResult> {
      try {
        await inChat(conversation, { what, rank: 'update', isShort }, async (context) => {
          const activity: Partial<Activity> = { ...messageOf(card), id: activityId }
          await context.updateActivity(activity)
        })
        return 'updated'
      } catch (error) {
        if (isOurs(error)) throw error
        const refusal = refusalOfChat(error)
        if (refusal) return logged(refusal, error, conversation)
        if (statusOf(error) === 404) return 'gone'
        throw retryable(error)
      }
    },
  }
  const counted = async <R extends SendResult | UpdateResult>(
    how: 'send' | 'update',
    writing: Promise<R>,
  ): Promise<R> => {
    const count = (outcome: CardOutcome) => telemetry?.cardWritten({ how, outcome })
    try {
      const result = await writing
      count(outcomeOf(result))
      return result
    } catch (error) {
      count(error instanceof PutOff ? 'put-off' : 'failed')
      throw error
    }
  }
  return {
    send: (...about: Parameters<typeof sender.send>) => counted('send', sender.send(...about)),
    update: (...about: Parameters<typeof sender.update>) => counted('update', sender.update(...about)),
  }
}

function outcomeOf(result: SendResult | UpdateResult): CardOutcome {
  if (result === 'updated') return 'written'
  if (result === 'gone') return 'gone'
  if (result.state === 'undeliverable') return 'refused'
  return result.state === 'sent' ? 'written' : 'unknown'
}

/** Whether the error is ours and not the connector's: the store is unavailable, or the chat's limit is reached. */
const isOurs = (error: unknown): boolean =>
  error instanceof TenantError || error instanceof PutOff || error instanceof ProvisioningError

/** Runs a call with a time-out. After the time-out the call may have arrived, unless it was not sent yet. */
async function within<T>(milliseconds: number, call: Promise<T>): Promise<T> {
  const late = new AbortController()
  const timeUp = setTimeout(milliseconds, undefined, { ref: false, signal: late.signal }).then(() => {
    const own = leaving.getStore()
    if (own && !own.left) own.givenUp = true
    throw new Error('the connector did not answer in time')
  })
  timeUp.catch(() => undefined)
  return Promise.race([call, timeUp]).finally(() => late.abort())
}

/**
 * Returns the reference of a chat that Microsoft Graph named. Graph's id is the connector's conversation id (Microsoft
 * Teams, "Send personal welcome message").
 */
function firstReference(
  { tenantId, personId, conversationId: id }: Conversation,
  appId: string,
  serviceUrl: string,
): Pick<ConversationReference, 'channelId' | 'serviceUrl' | 'bot' | 'user' | 'conversation'> {
  const conversation = { id, tenantId, conversationType: 'personal', isGroup: false, name: '' }
  const user = { id: personId, aadObjectId: personId, name: '' }
  return { channelId: 'msteams', serviceUrl, bot: { id: `28:${appId}`, name: '' }, user, conversation }
}

/**
 * Returns the reference if its address is the connector's. Throws for any other address, which would receive our cards.
 */
function checked(reference: unknown, allowLoopback: boolean, connector: Connector): Partial<ConversationReference> {
  const known = reference as Partial<ConversationReference>
  if (isConnector(known.serviceUrl, allowLoopback, connector)) return known
  throw new TenantError('foreign-service-url', because('chatForeign', { address: String(known.serviceUrl) }), {
    retryable: false,
  })
}

/**
 * The pause of a chat after a failure, in milliseconds. Only a 429 concerns the chat; other failures concern one call.
 */
function holdOf(error: unknown): number {
  if (statusOf(error) !== 429) return 0
  const seconds = retryAfterOf(error)
  return seconds === undefined ? defaultPause * (1 + Math.random()) : seconds * 1000
}

function retryable(error: unknown): TenantError {
  const status = statusOf(error)
  return new TenantError('chat-unavailable', because('chatRefusesCards'), {
    // A 403 or 404 without a code comes from a proxy and is temporary.
    retryable:
      status === undefined || retryableStatuses.has(status) || status === 403 || status === 404 || status >= 500,
    retryAfterSeconds: retryAfterOf(error),
    cause: error,
  })
}

/** Returns the connector's `Retry-After` with jitter, in seconds. The header has seconds or a date (RFC 9110). */
function retryAfterOf(error: unknown): number | undefined {
  const response: unknown = error instanceof Error && 'response' in error ? error.response : undefined
  const headers =
    typeof response === 'object' && response !== null && 'headers' in response ? response.headers : undefined
  const get = typeof headers === 'object' && headers !== null && 'get' in headers ? headers.get : undefined
  const text: unknown = typeof get === 'function' ? Reflect.apply(get, headers, ['retry-after']) : undefined
  if (typeof text !== 'string' || text === '') return undefined
  const seconds = /^\d+$/.test(text) ? Number(text) : (Date.parse(text) - Date.now()) / 1000
  return seconds > 0 ? Math.min(seconds, 3600) * (1 + jitter * Math.random()) : undefined
}

const neverLeft = (error: unknown): boolean =>
  error instanceof Error &&
  ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH'].includes('code' in error ? String(error.code) : '')
export type CardSender = ReturnType<typeof createCardSender>

/** Refusals of the bot or of one card. A retry does not help, but the chat may accept the next card. */
const notOfTheChat = new Set(['InvalidBotApiHost', 'ForbiddenOperationException'])
/** Refusals of the chat: it accepts none of our cards until the person returns. */
const ofTheChat = new Set([
  'BotNotInConversationRoster',
  'ConversationBlockedByUser',
  'BotDisabledByAdmin',
  'MessageWritesBlocked',
  'ConversationNotFound',
])

/**
 * Returns the connector's refusal if a chat does not accept our cards (learn.microsoft.com, "Status codes from
 * bot conversational APIs"): 403 when the bot was blocked, removed or disabled by an admin
 * (`ConversationBlockedByUser`, `BotNotInConversationRoster`, `BotDisabledByAdmin`, `MessageWritesBlocked`), 404
 * `ConversationNotFound`. Undefined for any other answer: a proxy may answer 403 to every call for a while.
 */
export function refusalOfChat(error: unknown): ChatRefusal | undefined {
  const status = statusOf(error)
  const code = codeOf(error)
  if ((status !== 403 && status !== 404) || code === undefined) return undefined
  if (ofTheChat.has(code)) return { state: 'undeliverable', why: code, closed: true }
  return notOfTheChat.has(code) ? { state: 'undeliverable', why: code, closed: false } : undefined
}

/** The status of the connector's answer; undefined without an answer. */
export function statusOf(error: unknown): number | undefined {
  const status: unknown = error instanceof Error && 'statusCode' in error ? error.statusCode : undefined
  return typeof status === 'number' ? status : undefined
}

/** The connector's error code, `error.code` of its answer, if the text has the form of a code. */
function codeOf(error: unknown): string | undefined {
  const code: unknown = error instanceof Error && 'code' in error ? error.code : undefined
  return typeof code === 'string' && /^[A-Za-z]{1,60}$/.test(code) ? code : undefined
}
