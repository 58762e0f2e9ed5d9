import { setTimeout as pause } from 'node:timers/promises'
import { z } from 'zod'
import { type ServiceHealth, TenantError } from '../../core/index.ts'
import { type Exchange, exchangeService } from './exchange.ts'
import { type Graph, graphService } from './graph.ts'
import { type SharePoint, sharePointService } from './sharepoint.ts'

/** The callers of all services. */
export interface Services {
  readonly graph: Graph
  readonly sharePoint: SharePoint
  readonly exchange: Exchange
}

/** Time limit of a health check. Seconds. */
const limitSeconds = 5

/** Checks all services of Microsoft 365 at the same time. Reports problems and does not throw them. */
export function healthOf({ graph, sharePoint, exchange }: Services): Promise<ServiceHealth[]> {
  return Promise.all([
    measured('graph', graphService, (signal) => graph.ping(signal)),
    measured('sharePoint', sharePointService, (signal) => sharePoint.ping(signal)),
    measured('exchange', exchangeService, (signal) =>
      exchange.read('Get-Mailbox', { ResultSize: 1 }, z.unknown(), { signal }),
    ),
  ])
}

async function measured(
  name: ServiceHealth['name'],
  service: string,
  ask: (signal: AbortSignal) => Promise<unknown>,
): Promise<ServiceHealth> {
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
  const refusal = await Promise.race([ask(over.signal), limit])
    .then(() => undefined)
    .catch((error: unknown) => {
      if (error instanceof TenantError) return error
      throw error
    })
    // The reason tells the metrics that the call timed out.
    .finally(() => over.abort(late))
  const milliseconds = Math.round(performance.now() - started)
  return { name, milliseconds, ...(refusal && { problem: describe(refusal), trouble: troubleOf(refusal) }) }
}

function troubleOf({ code, status }: TenantError): NonNullable<ServiceHealth['trouble']> {
  if (code === 'timeout') return 'timedOut'
  if (code === 'unreachable') return 'unreachable'
  if (code.startsWith('sign-in-')) return 'noSignIn'
  if (status === 429) return 'throttled'
  return status === 401 || status === 403 ? 'refused' : 'failed'
}

const describe = ({ message, code }: TenantError): string =>
  message.includes(code) ? message : `${message.replace(/\.$/, '')} (${code}).`
