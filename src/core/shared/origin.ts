import { AsyncLocalStorage } from 'node:async_hooks'
import { randomBytes } from 'node:crypto'

/** The trace of one operation through all services (https://www.w3.org/TR/trace-context/). */
export interface Trace {
  /** 32 lower-case hexadecimal digits, not all zero. */
  readonly id: string
  /** Whether the initiator records the trace. */
  readonly sampled: boolean
}

const wellFormed = /^(?!ff)([0-9a-f]{2})-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-([0-9a-f]{2})(-.*)?$/
const sampledFlag = 1

/** Reads a `traceparent`; undefined for an invalid one. Versions after 00 may have further parts. */
function readTraceparent(value: unknown): Trace | undefined {
  const [, version, id, flags, more] = (typeof value === 'string' && wellFormed.exec(value.trim())) || []
  if (id === undefined || flags === undefined || (version === '00' && more !== undefined)) return undefined
  return { id, sampled: (Number.parseInt(flags, 16) & sampledFlag) === sampledFlag }
}

/** Returns the `traceparent` of one call, with a new span id. */
const traceparentOf = ({ id, sampled }: Trace): string => `00-${id}-${newSpanId()}-${sampled ? '01' : '00'}`

/** Returns the trace id with the same 32 digits as a UUID, so that each can be found by the other. */
export const traceIdOf = (uuid: string): string => uuid.replaceAll('-', '').toLowerCase()

const newTraceId = (): string => randomBytes(16).toString('hex')

/** Returns a random span id. All zeros is not a valid one. */
function newSpanId(): string {
  const id = randomBytes(8).toString('hex')
  return /^0+$/.test(id) ? newSpanId() : id
}

/** The sources of work; `migration`: an entry from before entries were chained. */
export const origins = ['chat', 'rest', 'job', 'command line', 'migration'] as const
export interface Origin {
  readonly from: (typeof origins)[number]
  /** The trace id: logs, problems, audit entries and outgoing calls of one operation have the same. */
  readonly trace?: string | undefined
  /** Whether the initiator records the trace. Only passed on to outgoing calls (W3C Trace Context, "sampled"). */
  readonly sampled?: boolean | undefined
  /** The id of the job that does the work. */
  readonly job?: string | undefined
  /** The id of the person or application that the work is for. */
  readonly caller?: string | undefined
  /** The work checks an identity, so its calls to Microsoft 365 go first. */
  readonly checksIdentity?: true | undefined
  /** Aborts when nobody waits for the result any more. */
  readonly abandoned?: AbortSignal | undefined
}

const ambient = new AsyncLocalStorage<Origin>()

/**
 * Runs work with this origin; audit entries record it. The work keeps an existing trace or gets a new one.
 */
export function from<T>(origin: Origin, work: () => T): T {
  const outer = ambient.getStore()
  const trace = origin.trace ?? outer?.trace ?? newTraceId()
  const sampled = origin.trace === undefined ? outer?.sampled : origin.sampled
  return ambient.run({ ...origin, trace, sampled }, work)
}

/** Runs work with a changed origin; members that `change` omits stay. */
export const within = <T>(change: Partial<Origin>, work: () => T): T => ambient.run({ ...originNow(), ...change }, work)

/** Runs a check of an identity or its rights. Its calls to Microsoft 365 do not wait for other work. */
export const checkingIdentity = <T>(work: () => T): T => within({ checksIdentity: true }, work)

/** Returns the origin of the current work. Without one, it is the service's own work. */
export const originNow = (): Origin => ambient.getStore() ?? { from: 'job' }

/** Returns the `traceparent` for one outgoing call of the current work; undefined without a trace. */
export function traceparentNow(): string | undefined {
  const { trace, sampled = false } = originNow()
  return trace === undefined ? undefined : traceparentOf({ id: trace, sampled })
}

/** Returns the same as headers; `{}` without a trace. */
export function traceHeaders(): { traceparent?: string } {
  const traceparent = traceparentNow()
  return traceparent === undefined ? {} : { traceparent }
}

/** Returns the `traceparent` for a new job: the trace of the work that orders it, or a new one for a timer. */
export const traceparentToEnqueue = (): string =>
  traceparentNow() ?? traceparentOf({ id: newTraceId(), sampled: false })

/**
 * Returns the origin of a job's work, with the trace in its payload. A job without one uses the digits of its id, so that all its
 * attempts have the same trace.
 */
export function originOfJob(job: string, data: unknown): Origin {
  const named: unknown = typeof data === 'object' && data !== null ? Reflect.get(data, 'traceparent') : undefined
  return { from: 'job', job, trace: traceIdOf(job), ...originOf(named) }
}

/** Returns the members of an origin from a `traceparent`; `{}` for an invalid one. */
export function originOf(traceparent: unknown): Pick<Origin, 'trace' | 'sampled'> {
  const known: Trace | undefined = readTraceparent(traceparent)
  return known ? { trace: known.id, sampled: known.sampled } : {}
}
