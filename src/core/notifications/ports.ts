import { z } from 'zod'
import { healthPart, type OperationPorts } from '../operations/index.ts'
import type { NoticeStore } from '../requests/index.ts'

const watchOfParts = z.object({
  state: z.enum(['well', 'red']),
  /** Since when: the first check that found it. */
  since: z.iso.datetime(),
  /** When a check found a change that is not confirmed yet; null: the last check found no change. */
  turning: z.iso.datetime().nullable(),
  /** The last red time: its beginning, which names the cards about it, and the red parts. Leaves out parts of another version. */
  red: z
    .object({
      since: z.iso.datetime(),
      parts: z.array(z.unknown()).transform((parts) => parts.flatMap((part) => healthPart.safeParse(part).data ?? [])),
    })
    .nullable(),
})
export type WatchOfParts = z.output<typeof watchOfParts>

/**
 * The result of all checks so far. While it is red, admins have been notified. `credentials`: that of the certificate and the
 * bot's secret, whose expiry is red for days: together with other parts it would hide their trouble, or be hidden by it.
 */
export const healthWatch = watchOfParts.extend({ credentials: watchOfParts.optional() })
export type HealthWatch = z.output<typeof healthWatch>

/** The result of the checks, shared by all processes. */
export interface HealthWatchStore {
  find(tenantId: string): Promise<HealthWatch | undefined>
  /** Reads the result and locks it until the transaction ends. */
  lock(tenantId: string): Promise<HealthWatch | undefined>
  put(tenantId: string, watch: HealthWatch): Promise<void>
}

/** The ports that this room and the rooms above it need. */
export interface NotificationPorts extends OperationPorts {
  readonly notices: NoticeStore
  readonly healthWatch: HealthWatchStore
}
