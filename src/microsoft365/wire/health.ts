import { setTimeout as pause } from 'node:timers/promises'
import { z } from 'zod'
import { type ServiceHealth, TenantError } from '../../core/index.ts'
import { type Exchange, exchangeService } from './exchange.ts'
import { type Graph, graphService } from './graph.ts'
import { type SharePoint, sharePointService } from './sharepoint.ts'

interface Parts {
  readonly graph: Graph
  readonly sharePoint: SharePoint
  readonly exchange: Exchange
}

/** How long a service may take to say that it is well. Seconds. */
const patienceSeconds = 5

/** Asks each service of Microsoft 365 something small, all at once. What does not answer is told, never thrown. */
export function healthOf({ graph, sharePoint, exchange }: Parts): Promise<ServiceHealth[]> {
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
  const late = new TenantError('timeout', `${service} did not answer in ${patienceSeconds} seconds.`, {
    retryable: true,
  })
  // The sign-in before the question cannot be broken off, so its answer is not waited for either.
  const limit = pause(patienceSeconds * 1000, undefined, { signal: over.signal, ref: false }).then(() =>
    Promise.reject(late),
  )
  limit.catch(() => undefined)
  const refusal = await Promise.race([ask(over.signal), limit])
    .then(() => undefined)
    .catch((error: unknown) => {
      if (error instanceof TenantError) return error
      throw error
    })
    // The reason says to whoever counts calls that this one was too slow.
    .finally(() => over.abort(late))
  const milliseconds = Math.round(performance.now() - started)
  return { name, milliseconds, ...(refusal && { problem: inWords(refusal), trouble: troubleOf(refusal) }) }
}

function troubleOf({ code, status }: TenantError): NonNullable<ServiceHealth['trouble']> {
  if (code === 'timeout') return 'timedOut'
  if (code === 'unreachable') return 'unreachable'
  if (code.startsWith('sign-in-')) return 'noSignIn'
  if (status === 429) return 'throttled'
  return status === 401 || status === 403 ? 'refused' : 'failed'
}

const inWords = ({ message, code }: TenantError): string =>
  message.includes(code) ? message : `${message.replace(/\.$/, '')} (${code}).`
