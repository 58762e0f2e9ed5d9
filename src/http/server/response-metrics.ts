import { randomUUID } from 'node:crypto'
import type { Request, Response } from 'restify'
import { z } from 'zod'
import { originOf, type Telemetry, traceIdOf } from '../../core/index.ts'
import type { Exchange } from './respond.ts'
import type { HttpOptions } from './services.ts'

/** One request as it begins: its own id, and the trace that its caller names or that begins with it. */
export function exchangeOf(
  { log, texts }: Pick<HttpOptions, 'log' | 'texts'>,
  request: Request,
  response: Response,
): Exchange {
  const callId = randomUUID()
  const { trace = traceIdOf(callId), sampled = false } = originOf(request.headers.traceparent)
  return { request, response, callId, traceId: trace, sampled, log, texts, told: {}, extra: {} }
}

/** What there is to tell of an answer. */
export interface Answered {
  /** The pattern of the path, and its method; none where no route took the request. */
  readonly route?: { readonly path: string; readonly method: string } | undefined
  readonly status: number
  readonly milliseconds: number
  /** A defect: what was thrown. */
  readonly error?: { readonly thrown: unknown }
}

/**
 * Tells the log and the figures of an answer: one line for each request. Its address is told by the route's pattern and the
 * ids in it, since people put anything else into addresses.
 */
export function tellAnswer(
  { log, callId, traceId, request, told }: Exchange,
  { route, status, milliseconds, error }: Answered,
  telemetry: Telemetry | undefined,
): void {
  const method = route?.method ?? 'any'
  telemetry?.requestAnswered({ method, route: route?.path ?? 'none', status, seconds: milliseconds / 1000 })
  const facts = {
    ...{ traceId, callId, method: request.method, route: route?.path ?? 'none' },
    ...(route && idsIn(request.params)),
    ...{ status, milliseconds: Math.round(milliseconds) },
    ...(told.personId !== undefined && { personId: told.personId }),
  }
  if (error) log.error({ ...facts, err: error.thrown }, 'a request failed')
  else if (told.byHandler) log.debug(facts, 'answered')
  else log.info(facts, 'answered')
}

const isId = (value: unknown): boolean => z.uuid().safeParse(value).success

const idsIn = (params: object | undefined): Record<string, unknown> =>
  Object.fromEntries(Object.entries(params ?? {}).filter(([, value]) => isId(value)))

/** The ids of an answer to what is no request, and so names no trace. */
export function idsOfBroken(): { callId: string; traceId: string } {
  const callId = randomUUID()
  return { callId, traceId: traceIdOf(callId) }
}
