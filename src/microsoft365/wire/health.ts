import { setTimeout as pause } from 'node:timers/promises'
import { z } from 'zod'
import { type ServiceHealth, TenantError } from '../../core/index.ts'
import { type Exchange, exchangeService } from './exchange.ts'
import { type Graph, graphService } from './graph.ts'
import { lackingText, type Permission } from './permissions.ts'
import { type SharePoint, sharePointService } from './sharepoint.ts'

/** The callers of all services. */
export interface Services {
  readonly graph: Graph
  readonly sharePoint: SharePoint
  readonly exchange: Exchange
}

/** Returns the permissions that our token for a service lacks. */
export type Lacking = (service: ServiceHealth['name']) => Promise<readonly Permission[]>

/** Time limit of a health check. Seconds. */
const limitSeconds = 5

/** Checks all services of Microsoft 365 at the same time. Reports problems and does not throw them. */
export function healthOf({ graph, sharePoint, exchange }: Services, lacking: Lacking): Promise<ServiceHealth[]> {
  const measured = (...[name, service, ask]: [ServiceHealth['name'], string, Ask]) =>
    measure({ name, service, ask, lacking: () => lacking(name) })
  return Promise.all([
    measured('graph', graphService, (signal) => graph.ping(signal)),
    measured('sharePoint', sharePointService, (signal) => sharePoint.ping(signal)),
    measured('exchange', exchangeService, (signal) =>
      exchange.read('Get-Mailbox', { ResultSize: 1 }, z.unknown(), { signal }),
    ),
  ])
}

type Ask = (signal: AbortSignal) => Promise<unknown>

async function measure(part: {
  name: ServiceHealth['name']
  service: string
  ask: Ask
  lacking: () => Promise<readonly Permission[]>
}): Promise<ServiceHealth> {
  const { name, service, ask, lacking } = part
  let missing: readonly Permission[] = []
  const started = performance.now()
  const over = new AbortController()
  const late = new TenantError('timeout', `${service} did not answer in ${limitSeconds} seconds.`, {
    retryable: true,
  })
  // The sign-in before the call cannot be aborted, so the race ends without it.
  const limit = pause(limitSeconds * 1000, undefined, { signal: over.signal, ref: false }).then(() =>
    Promise.reject(late),
  )
  limit.catch(() => undefined)
  const work = async () => {
    // A sign-in that fails is the result of the question below.
    missing = await lacking().catch(() => [])
    await ask(over.signal)
  }
  const refusal = await Promise.race([work(), limit])
    .then(() => undefined)
    .catch((error: unknown) => {
      if (error instanceof TenantError) return error
      throw error
    })
    // The reason tells the metrics that the call timed out.
    .finally(() => over.abort(late))
  const milliseconds = Math.round(performance.now() - started)
  if (missing.length > 0) {
    // Hidden accounts have a consequence of their own, which comes first.
    const hidden = refusal?.code === 'accounts-hidden' ? `${refusal.message} ` : ''
    const isOptional = missing.every(({ setting }) => setting !== undefined) && refusal === undefined
    const trouble = isOptional ? 'optionalPermissionMissing' : 'permissionMissing'
    return { name, milliseconds, problem: hidden + lackingText(service, missing), trouble }
  }
  return { name, milliseconds, ...(refusal && { problem: describe(refusal), trouble: troubleOf(refusal) }) }
}

function troubleOf({ code, status }: TenantError): NonNullable<ServiceHealth['trouble']> {
  if (code === 'permission-missing') return 'permissionMissing'
  if (code === 'timeout') return 'timedOut'
  if (code === 'unreachable') return 'unreachable'
  if (code.startsWith('sign-in-')) return 'noSignIn'
  if (status === 429) return 'throttled'
  return status === 401 || status === 403 ? 'refused' : 'failed'
}

const describe = ({ message, code }: TenantError): string =>
  message.includes(code) || code === 'permission-missing' ? message : `${message.replace(/\.$/, '')} (${code}).`
