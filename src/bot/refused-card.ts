import type { ChatRefusal } from '../core/index.ts'

/**
 * Refusals that speak of us or of this one card, and not of the chat: nothing is gained by trying again, and the chat may
 * take the next card.
 */
const notOfTheChat = new Set(['InvalidBotApiHost', 'ForbiddenOperationException'])
/** Refusals that speak of the chat: it takes no card of ours until the person comes back. */
const ofTheChat = new Set([
  'BotNotInConversationRoster',
  'ConversationBlockedByUser',
  'BotDisabledByAdmin',
  'MessageWritesBlocked',
  'ConversationNotFound',
])

/**
 * Whether the connector's answer says that a chat does not take our cards (learn.microsoft.com, "Status codes from bot
 * conversational APIs"): 403 when the bot was blocked, taken out or disabled by an admin (`ConversationBlockedByUser`,
 * `BotNotInConversationRoster`, `BotDisabledByAdmin`, `MessageWritesBlocked`), 404 `ConversationNotFound`. Undefined = it
 * says something else, or it is no word of the connector's: something on the way may answer 403 to everything for a while.
 */
export function refusalOfChat(error: unknown): ChatRefusal | undefined {
  const status = statusOf(error)
  const code = codeOf(error)
  if ((status !== 403 && status !== 404) || code === undefined) return undefined
  if (ofTheChat.has(code)) return { state: 'undeliverable', why: code, closed: true }
  return notOfTheChat.has(code) ? { state: 'undeliverable', why: code, closed: false } : undefined
}

/** The status that the connector answered with; undefined when there was no answer. */
export function statusOf(error: unknown): number | undefined {
  const status: unknown = error instanceof Error && 'statusCode' in error ? error.statusCode : undefined
  return typeof status === 'number' ? status : undefined
}

/** The connector's word for what is wrong, `error.code` of its answer; only what looks like a word is kept. */
function codeOf(error: unknown): string | undefined {
  const code: unknown = error instanceof Error && 'code' in error ? error.code : undefined
  return typeof code === 'string' && /^[A-Za-z]{1,60}$/.test(code) ? code : undefined
}
