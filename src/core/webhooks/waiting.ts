import type { Delivery } from '../requests/index.ts'
import { jobId } from '../shared/index.ts'
import type { WebhookEndpoint, WebhookPorts } from './endpoint.ts'

/** The maximum number of deliveries that one call brings forward. The others follow when these arrive. */
const maxAtOnce = 200
/** How many more deliveries each arrived one brings forward: a faster receiver gets more. */
const followers = 2
/** The least time between a failed attempt and the next one after a success of the receiver, in milliseconds. */
const restAfterFailure = 10_000

/** Whether the next attempt of a delivery is in the future. */
export const isWaiting = ({ status, nextAttemptAt }: Delivery, now: Date): boolean =>
  status === 'pending' && typeof nextAttemptAt === 'string' && Date.parse(nextAttemptAt) > now.getTime()

/** Whether the job of a due delivery sleeps, because its receiver requested a pause. */
export const isAsleep = (
  one: Delivery,
  receiver: Pick<WebhookEndpoint, 'waitsUntil'> | undefined,
  now: Date,
): boolean =>
  one.status === 'pending' &&
  one.nextAttemptAt !== null &&
  !isWaiting(one, now) &&
  Date.parse(receiver?.waitsUntil ?? '') > now.getTime()

type WaitingPorts = Pick<WebhookPorts, 'deliveries' | 'work' | 'jobs' | 'clock'>

/** `rest`: the least time after the last attempt, in milliseconds. `receiver`: its status before its pause ended. */
interface Forward {
  readonly rest?: number
  readonly receiver?: Pick<WebhookEndpoint, 'waitsUntil'> | undefined
}

/**
 * Makes the next attempt of a delivery due now, or wakes its sleeping job. The job of the original time then finds the
 * attempt done and does nothing. Returns whether the delivery waited or slept. Runs in the caller's transaction.
 */
export async function bringForward(
  { deliveries, jobs, clock }: WaitingPorts,
  deliveryId: string,
  { rest = 0, receiver }: Forward = {},
): Promise<boolean> {
  const found = await deliveries.lock(deliveryId)
  const now = clock.now()
  if (!found) return false
  const { attempts, nextAttemptAt } = found
  const order = (why: string, time: string) => ({
    name: 'deliver-webhook' as const,
    payload: { v: 1 as const, deliveryId, attempt: attempts },
    id: jobId('deliver', deliveryId, attempts, why, time),
  })
  if (isAsleep(found, receiver, now)) {
    await jobs.enqueue([order('awake', receiver?.waitsUntil ?? '')])
    return true
  }
  const last = Date.parse(found.history?.at(-1)?.at ?? '') || 0
  const startAfter = new Date(Math.max(now.getTime(), last + rest))
  if (!isWaiting(found, startAfter)) return false
  const at = startAfter.toISOString()
  const { attempts: before = 0, until = null } = found.broughtForward ?? {}
  // A delivery that was brought forward and not attempted since counts once.
  const broughtForward = { attempts: until === null ? before + 1 : before, until: until ?? nextAttemptAt ?? null }
  await deliveries.update({ ...found, broughtForward, nextAttemptAt: at, updatedAt: now.toISOString() })
  await jobs.enqueue([{ ...order('now', at), ...(startAfter > now && { startAfter }) }])
  return true
}

/** Ends the pause that a receiver requested. Runs in the caller's transaction. */
export async function endPause(
  { endpoints }: Pick<WebhookPorts, 'endpoints'>,
  receiver: WebhookEndpoint,
): Promise<void> {
  if (receiver.waitsUntil !== null) await endpoints.update({ ...(await endpoints.lock(receiver)), waitsUntil: null })
}

interface WaitingOf {
  readonly tenantId: string
  readonly templateId: string | null
  readonly receiver?: Pick<WebhookEndpoint, 'waitsUntil'>
}

/**
 * Sends the waiting deliveries of a receiver now, the oldest first. Each is a separate transaction, so that no attempt
 * waits for another. Returns how many were brought forward.
 */
export async function bringAllForward(
  ports: WaitingPorts,
  { tenantId, templateId, receiver }: WaitingOf,
  { limit = maxAtOnce, rest = 0 } = {},
): Promise<number> {
  const now = ports.clock.now()
  const isPaused = Date.parse(receiver?.waitsUntil ?? '') > now.getTime()
  const found = await ports.deliveries.list({
    ...{ tenantId, templateId, status: 'pending', oldestFirst: true, limit },
    ...(!isPaused && { waitsAfter: now }),
  })
  let sent = 0
  for (const { deliveryId } of found)
    if (await ports.work.transaction(() => bringForward(ports, deliveryId, { rest, receiver }))) sent += 1
  return sent
}

/**
 * Sends waiting deliveries of a receiver that has just accepted one: all if it failed before, otherwise a few more. A
 * delivery that was attempted a moment ago waits some seconds, so that an unreliable receiver is not flooded.
 */
export function bringForwardAfterSuccess(
  ports: WaitingPorts,
  of: WaitingOf,
  { isHealthyAgain }: { readonly isHealthyAgain: boolean },
): Promise<number> {
  return bringAllForward(ports, of, { limit: isHealthyAgain ? maxAtOnce : followers, rest: restAfterFailure })
}
