/**
 * What is known about chats and cards: conversations, sent cards, the pace of a chat, notices and daily summaries.
 */
export { chatPaceInMemory, createChatPace, createConversationStore, createSentCards } from './chats.ts'
export { createDigestStore } from './digests.ts'
export { createHealthWatchStore } from './health-watch.ts'
export { createNoticeStore } from './notices.ts'
