import type { OperationPorts } from '../operations/index.ts'
import type { ChatRefusal, NoticeStore } from '../requests/index.ts'
import type { HealthWatchStore } from './health-watch.ts'

/** What became of a card: `unknown` = sent, and the answer lost. */
export type SendResult =
  | { readonly state: 'sent'; readonly activityId: string }
  | { readonly state: 'unknown' }
  | ChatRefusal
/** What became of a card's new state. `gone`: there is no such card any more. */
export type UpdateResult = 'updated' | 'gone' | ChatRefusal

/** The ports that this room and the rooms above it need. */
export interface NotificationPorts extends OperationPorts {
  readonly notices: NoticeStore
  readonly healthWatch: HealthWatchStore
}
