import type { ChatRefusal } from '../../core/index.ts'

/** Refusals of the bot or of this one card. A retry does not help, but the chat may accept the next card. */
const notOfTheChat = new Set(['InvalidBotApiHost', 'ForbiddenOperationException'])
/** Refusals of the chat: it accepts no card of ours until the person returns. */
const ofTheChat = new Set([
  'BotNotInConversationRoster',
  'ConversationBlockedByUser',
  'BotDisabledByAdmin',
  'MessageWritesBlocked',
  'ConversationNotFound',
])

/**
 * Whether the connector's answer says that a chat does not accept our cards (learn.microsoft.com, "Status codes from
 * bot conversational APIs"): 403 when the bot was blocked, taken out or disabled by an admin
 * (`ConversationBlockedByUser`, `BotNotInConversationRoster`, `BotDisabledByAdmin`, `MessageWritesBlocked`), 404
 * `ConversationNotFound`. Undefined for any other answer, and for one that is not the connector's: a proxy may answer
 * 403 to everything for a while.
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

/** The connector's error code, `error.code` of its answer; only a text that looks like a code is kept. */
function codeOf(error: unknown): string | undefined {
  const code: unknown = error instanceof Error && 'code' in error ? error.code : undefined
  return typeof code === 'string' && /^[A-Za-z]{1,60}$/.test(code) ? code : undefined
}
