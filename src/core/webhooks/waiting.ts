import type { Delivery } from '../requests/index.ts'
import { jobId } from '../shared/index.ts'
import type { WebhookPorts } from './endpoint.ts'

/** The most deliveries that are brought forward at once, so that a click and a success end soon. */
const mostBroughtForward = 200

/** Whether the next attempt of a delivery is still to come. */
export const isWaiting = ({ status, nextAttemptAt }: Delivery, now: Date): boolean =>
  status === 'pending' && typeof nextAttemptAt === 'string' && Date.parse(nextAttemptAt) > now.getTime()

type WaitingPorts = Pick<WebhookPorts, 'deliveries' | 'work' | 'jobs' | 'clock'>

/**
 * Makes the next attempt of a delivery due now. The job of the later time finds that the attempt was made, and does nothing.
 * Returns whether the delivery waited. Runs in the caller's transaction.
 */
export async function bringForward({ deliveries, jobs, clock }: WaitingPorts, deliveryId: string): Promise<boolean> {
  const found = await deliveries.lock(deliveryId)
  const now = clock.now()
  if (!found || !isWaiting(found, now)) return false
  const at = now.toISOString()
  await deliveries.update({ ...found, nextAttemptAt: at, updatedAt: at })
  const { attempts, nextAttemptAt } = found
  const id = jobId('deliver', deliveryId, attempts, 'now', nextAttemptAt ?? '')
  await jobs.enqueue([{ name: 'deliver-webhook', payload: { v: 1, deliveryId, attempt: attempts }, id }])
  return true
}

/**
 * Sends the waiting deliveries of a receiver now, the oldest first, {@link mostBroughtForward} at most. Each is a transaction of
 * its own, so that no attempt waits for another. Returns how many were brought forward.
 */
export async function bringAllForward(
  ports: WaitingPorts,
  { tenantId, templateId }: { readonly tenantId: string; readonly templateId: string | null },
): Promise<number> {
  const pending = await ports.deliveries.list({
    ...{ tenantId, templateId, status: 'pending', oldestFirst: true, limit: mostBroughtForward },
  })
  let sent = 0
  for (const one of pending) {
    if (!isWaiting(one, ports.clock.now())) continue
    if (await ports.work.transaction(() => bringForward(ports, one.deliveryId))) sent += 1
  }
  return sent
}
