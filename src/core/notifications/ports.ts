import type { OperationPorts } from '../operations/index.ts'
import type { ChatRefusal } from '../requests/index.ts'
import type { NoticeKey } from '../shared/index.ts'
import type { HealthWatchStore } from './health-watch.ts'

/** What became of a card: `unknown` = sent, and the answer lost. */
export type SendResult =
  | { readonly state: 'sent'; readonly activityId: string }
  | { readonly state: 'unknown' }
  | ChatRefusal
/** What became of a card's new state. `gone`: there is no such card any more. */
export type UpdateResult = 'updated' | 'gone' | ChatRefusal

/** Which card about no one request, for whom. */
export interface NoticeOrder {
  readonly tenantId: string
  readonly personId: string
  readonly notice: NoticeKey
}
export interface SentNotice {
  /** `sending` without an end, and `unknown`: whether it arrived is not known. */
  readonly state: 'sending' | 'sent' | 'unknown'
  readonly updatedAt: Date
}
/** Which of them are on their way, or were sent. */
export interface NoticeStore {
  find(order: NoticeOrder): Promise<SentNotice | undefined>
  /** Writes one that is about to be sent; false when it is known already, so that of two at work one sends. */
  claim(order: NoticeOrder): Promise<boolean>
  put(order: NoticeOrder, state: SentNotice['state']): Promise<void>
  remove(order: NoticeOrder): Promise<void>
  forgetOld(at: Date): Promise<void>
}

/** The ports that this room and the rooms above it need. */
export interface NotificationPorts extends OperationPorts {
  readonly notices: NoticeStore
  readonly healthWatch: HealthWatchStore
}
