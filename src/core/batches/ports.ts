import type { WebhookPorts } from '../webhooks/index.ts'
import type { BatchStore } from './batch.ts'

/** The ports that this room and the rooms above it need. */
export interface BatchPorts extends WebhookPorts {
  readonly batches: BatchStore
}
