import { setTimeout } from 'node:timers/promises'
import { adminsOf } from '../approvals/index.ts'
import { currentHealth, type HealthReport } from '../operations/index.ts'
import { type JobOrder, type SystemContext, tellOrder } from '../shared/index.ts'
import { afterCheck, type HealthCheck, type WatchTimes, watchTimes } from './health-watch.ts'
import type { NotificationPorts } from './ports.ts'

export interface HealthWatcher {
  /** Checks the health once, and orders the cards to admins if it has changed. */
  check(): Promise<void>
}

/** Watches the health of the service for all processes: each check reads and writes the shared result. */
export function createHealthWatcher(
  context: SystemContext<NotificationPorts>,
  times: WatchTimes = watchTimes,
): HealthWatcher {
  const { ports, settings } = context
  const { tenantId } = settings
  const adminIds = adminIdsOf(context)

  /** The new result and the cards about it are stored in one transaction. */
  const keep = (check: HealthCheck, known: readonly string[]) =>
    ports.work.transaction(async () => {
      const { watch, tell } = afterCheck(await ports.healthWatch.lock(tenantId), check, times)
      await ports.healthWatch.put(tenantId, watch)
      if (tell.length === 0) return
      // The trouble may be the directory, so admins who are known already do not wait for it.
      const orders = tell.flatMap((notice): JobOrder[] => [
        { name: 'tell-admins', payload: { v: 1, notice } },
        ...known.map((personId) => tellOrder(tenantId, personId, notice)),
      ])
      await ports.jobs.enqueue(orders)
    })

  return {
    async check() {
      const turn = times.checkEvery * 1000
      const at = new Date(Math.floor(ports.clock.now().getTime() / turn) * turn).toISOString()
      const report = await currentHealth(context)
      await keep(checkOf(report, at), await adminIds())
    },
  }
}

const checkOf = ({ parts }: HealthReport, at: string): HealthCheck => ({
  at,
  parts: parts.filter((part) => part.state === 'red'),
})

/** How long the ids of the admins are kept, in milliseconds, so that a check asks the directory as little as it can. */
const adminsKeptFor = 300_000

/** How long a check waits for the directory, in milliseconds: the directory may be the trouble that the check has found. */
const directoryPatience = 2000

/**
 * Returns the ids of all admins: what the directory said within five minutes, or last. If it has said nothing yet, the ids that the
 * settings name. An answer that comes too late counts for the next check.
 */
function adminIdsOf({ ports, settings }: SystemContext<NotificationPorts>): () => Promise<readonly string[]> {
  let known: { readonly at: number; readonly ids: readonly string[] } | undefined
  const ask = async (): Promise<readonly string[]> => {
    const at = ports.clock.now().getTime()
    if (known && at - known.at < adminsKeptFor) return known.ids
    const ids = (await adminsOf(ports, settings)).map(({ id }) => id)
    known = { at, ids }
    return ids
  }
  const lastKnown = () => known?.ids ?? settings.admins
  return () =>
    Promise.race([ask().catch(lastKnown), setTimeout(directoryPatience, undefined, { ref: false }).then(lastKnown)])
}
