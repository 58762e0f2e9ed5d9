import {
  type Actor,
  asking,
  because,
  createGate,
  type GateLimits,
  originNow,
  ProvisioningError,
  readsOf,
  TenantError,
} from '../shared/index.ts'
import type { RequestPorts } from './ports.ts'

/**
 * A check keeps the processor and the store busy for some tens of milliseconds, so few at a time leave room for everything else,
 * and more at a time would not end sooner. Nobody fills in more than one form at a time.
 */
const limits: GateLimits = {
  ...{ running: 4, forIdentity: 0, runningOfOne: 2 },
  ...{ waiting: 200, waitingOfOne: 40 },
  ...{ patience: 5000, patienceOfJobs: 30_000 },
}

/** Checks of what a request would be, for previews and forms, which many may want at once. */
export function createChecks({ limitsOfUse }: Pick<RequestPorts, 'limitsOfUse'>) {
  const gate = createGate('previews', limits)
  /** Runs a check in its caller's turn. Throws `unavailable` while too many wait. */
  const inTurn = <T>(check: () => Promise<T>): Promise<T> => asking(() => gate.pass(check, originNow().abandoned))
  return {
    inTurn,
    /** The same for a form in chat, which is counted for its person as a preview by REST is. */
    async ofForm<T>(actor: Actor, values: object, check: () => Promise<T>): Promise<T> {
      const seconds = await limitsOfUse.takeReads(actor, readsOf(values))
      if (seconds === 0) return inTurn(check)
      const cause = new TenantError('busy', 'previews beyond the limits of use', {
        retryable: true,
        retryAfterSeconds: seconds,
      })
      throw new ProvisioningError('unavailable', because('checksRateLimited', { seconds }), { cause })
    },
  }
}
export interface Checks {
  readonly checks: ReturnType<typeof createChecks>
}
