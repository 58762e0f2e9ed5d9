import type { ApprovalPorts } from '../approvals/index.ts'
import type { ConversationStore, SentCards } from './chats.ts'
import type { DeliveryStore } from './events.ts'
import type { RequestStore } from './store.ts'

/** The ports that this room and the rooms above it need. */
export interface RequestPorts extends ApprovalPorts {
  readonly requests: RequestStore
  readonly deliveries: DeliveryStore
  readonly sentCards: SentCards
  readonly conversations: ConversationStore
}
