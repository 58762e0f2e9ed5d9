import type { Activity, ConversationReference, TurnContext } from 'botbuilder'
import type { CardJson } from '../cards/index.ts'
import { type Conversation, type SendResult, TenantError } from '../core/index.ts'
import type { GuardedAdapter } from './adapter.ts'
import { messageOf } from './respond.ts'
import { isConnector } from './service-url.ts'
import type { Log } from './turn.ts'

export interface CardSenderOptions {
  readonly adapter: GuardedAdapter
  /** Only loopback addresses beside Microsoft's own are written to, and only in local mode. */
  readonly allowLoopback: boolean
  /** Throws inside a database transaction. */
  readonly assertOutside: (what: string) => void
  readonly log: Log
}

/**
 * Answers of the connector after which the same card may be sent again (Teams, "rate limiting"); 401 too, since a secret
 * that has run out is mended by an admin.
 */
const tryAgain = new Set([401, 412, 429, 502, 503, 504])
/** The chat does not take our messages, and will not soon: blocked, uninstalled, gone. */
const closed = new Set([403, 404])

/** Writes into chats that nobody is just talking in. */
export function createCardSender({ adapter, allowLoopback, assertOutside, log }: CardSenderOptions) {
  const inChat = async (conversation: Conversation, logic: (context: TurnContext) => Promise<void>): Promise<void> => {
    assertOutside('a card')
    const reference = referenceOf(conversation, allowLoopback)
    // What fails inside a turn goes to the adapter's onTurnError and is swallowed there; what becomes of a card must not.
    let failure: { error: unknown } | undefined
    await adapter.continueConversationAsync(adapter.appId, reference, async (context) => {
      await logic(context).catch((error: unknown) => {
        failure = { error }
      })
    })
    if (failure) throw failure.error
  }
  return {
    /** Sends a card. Throws what makes sense to try again, when it surely did not arrive. */
    async send(conversation: Conversation, card: CardJson): Promise<SendResult> {
      let activityId: string | undefined
      try {
        await inChat(conversation, async (context) => {
          activityId = (await context.sendActivity(messageOf(card)))?.id
        })
      } catch (error) {
        const outcome = outcomeOf(error)
        if (outcome.state === 'undeliverable')
          log.warn({ status: statusOf(error), personId: conversation.personId }, 'a chat does not take our cards')
        return outcome
      }
      return activityId ? { state: 'sent', activityId } : { state: 'unknown' }
    },

    /** Brings a card that is in a chat to another state. */
    async update(conversation: Conversation, activityId: string, card: CardJson): Promise<'updated' | 'gone'> {
      try {
        await inChat(conversation, async (context) => {
          const activity: Partial<Activity> = { ...messageOf(card), id: activityId }
          await context.updateActivity(activity)
        })
        return 'updated'
      } catch (error) {
        if (closed.has(statusOf(error) ?? 0)) return 'gone'
        throw retryable(error)
      }
    },
  }
}

/** The stored reference, if it leads to the connector: a changed one must not make us write elsewhere. */
function referenceOf({ reference }: Conversation, allowLoopback: boolean): Partial<ConversationReference> {
  const known = reference as Partial<ConversationReference>
  if (isConnector(known.serviceUrl, allowLoopback)) return known
  throw new TenantError('foreign-service-url', `The chat's address ${known.serviceUrl} is not the Bot connector's.`, {
    retryable: false,
  })
}

/** Whether a failed sending may have arrived: only an answer, or no connection at all, says that it did not. */
function outcomeOf(error: unknown): SendResult {
  if (error instanceof TenantError) throw error
  const status = statusOf(error)
  if (status !== undefined && closed.has(status)) return { state: 'undeliverable' }
  if (status !== undefined || neverLeft(error)) throw retryable(error)
  return { state: 'unknown' }
}

function retryable(error: unknown): TenantError {
  if (error instanceof TenantError) return error
  const status = statusOf(error)
  return new TenantError('chat-unavailable', 'The chat does not take cards just now.', {
    retryable: status === undefined || tryAgain.has(status) || status >= 500,
    retryAfterSeconds: retryAfterOf(error),
    cause: error,
  })
}

/** What the connector asked for in `Retry-After`, in seconds (RFC 9110). */
function retryAfterOf(error: unknown): number | undefined {
  const response: unknown = error instanceof Error && 'response' in error ? error.response : undefined
  const headers =
    typeof response === 'object' && response !== null && 'headers' in response ? response.headers : undefined
  const get = typeof headers === 'object' && headers !== null && 'get' in headers ? headers.get : undefined
  const seconds = typeof get === 'function' ? Number(Reflect.apply(get, headers, ['retry-after'])) : Number.NaN
  return Number.isFinite(seconds) && seconds > 0 ? Math.min(seconds, 3600) : undefined
}

function statusOf(error: unknown): number | undefined {
  const status: unknown = error instanceof Error && 'statusCode' in error ? error.statusCode : undefined
  return typeof status === 'number' ? status : undefined
}

const neverLeft = (error: unknown): boolean =>
  error instanceof Error &&
  ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH'].includes('code' in error ? String(error.code) : '')
export type CardSender = ReturnType<typeof createCardSender>
