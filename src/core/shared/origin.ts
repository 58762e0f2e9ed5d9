import { AsyncLocalStorage } from 'node:async_hooks'
import { randomBytes } from 'node:crypto'

/** One thing that somebody or something began, wherever it goes (https://www.w3.org/TR/trace-context/). */
export interface Trace {
  /** 32 lower-case hexadecimal digits, not all zero. */
  readonly id: string
  /** Whether who began it records it. */
  readonly sampled: boolean
}

const wellFormed = /^(?!ff)([0-9a-f]{2})-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-([0-9a-f]{2})(-.*)?$/
const sampledFlag = 1

/** Reads a `traceparent`; undefined for anything that is not valid. Later versions may say more, and version 00 may not. */
export function readTraceparent(value: unknown): Trace | undefined {
  const [, version, id, flags, more] = (typeof value === 'string' && wellFormed.exec(value.trim())) || []
  if (id === undefined || flags === undefined || (version === '00' && more !== undefined)) return undefined
  return { id, sampled: (Number.parseInt(flags, 16) & sampledFlag) === sampledFlag }
}

/** `traceparent` for one call, which gets a span id of its own. */
export const traceparentOf = ({ id, sampled }: Trace): string => `00-${id}-${newSpanId()}-${sampled ? '01' : '00'}`

/** The trace id that a UUID gives: the same 32 digits, so that whoever has one finds the other. */
export const traceIdOf = (uuid: string): string => uuid.replaceAll('-', '').toLowerCase()

export const newTraceId = (): string => randomBytes(16).toString('hex')

/** All zero is no span id, and once in 2⁶⁴ it would come up. */
function newSpanId(): string {
  const id = randomBytes(8).toString('hex')
  return /^0+$/.test(id) ? newSpanId() : id
}

/** Where something was done from; `migration`: it was there before entries were chained. */
export const origins = ['chat', 'rest', 'job', 'command line', 'migration'] as const
export interface Origin {
  readonly from: (typeof origins)[number]
  /** The trace id of what somebody or something began: logs, problems, audit entries and outgoing calls have the same. */
  readonly trace?: string | undefined
  /** Whether who began it records it: told on, and of no other use here (W3C Trace Context, "sampled"). */
  readonly sampled?: boolean | undefined
  /** The job that does it. */
  readonly job?: string | undefined
  /** The id of the person or application for whom it is done. */
  readonly caller?: string | undefined
  /** The work checks who somebody is, so its calls to Microsoft 365 go first. */
  readonly checksIdentity?: true | undefined
  /** Aborts when nobody waits for the result of this work any more. */
  readonly abandoned?: AbortSignal | undefined
}

const ambient = new AsyncLocalStorage<Origin>()

/**
 * Runs work that comes from there: what it writes into timelines says so. A trace that is known already is kept, and where
 * there is none one begins.
 */
export function from<T>(origin: Origin, work: () => T): T {
  const outer = ambient.getStore()
  const trace = origin.trace ?? outer?.trace ?? newTraceId()
  const sampled = origin.trace === undefined ? outer?.sampled : origin.sampled
  return ambient.run({ ...origin, trace, sampled }, work)
}

/** Runs work with some members of its origin changed; the others stay as they are. */
export const within = <T>(change: Partial<Origin>, work: () => T): T => ambient.run({ ...originNow(), ...change }, work)

/** Runs a check of who somebody is, or of what they may do, whose calls to Microsoft 365 must not wait for other work. */
export const checkingIdentity = <T>(work: () => T): T => within({ checksIdentity: true }, work)

/** Where the work that runs now comes from. What nobody has asked for is the service's own. */
export const originNow = (): Origin => ambient.getStore() ?? { from: 'job' }

/** The trace of the work that runs now, as `traceparent` for one call that it makes; undefined outside of any. */
export function traceparentNow(): string | undefined {
  const { trace, sampled = false } = originNow()
  return trace === undefined ? undefined : traceparentOf({ id: trace, sampled })
}

/** The same as headers: none outside of any trace. */
export function traceHeaders(): { traceparent?: string } {
  const traceparent = traceparentNow()
  return traceparent === undefined ? {} : { traceparent }
}

/** The trace that a job goes on with: that of what orders it, or one of its own where a timer does. */
export const traceparentToEnqueue = (): string =>
  traceparentNow() ?? traceparentOf({ id: newTraceId(), sampled: false })

/**
 * The origin of a job's work: it goes on with the trace that stands beside its payload. One that was ordered before there
 * were traces has the digits of its id for one, so that all its attempts have the same.
 */
export function originOfJob(job: string, data: unknown): Origin {
  const named: unknown = typeof data === 'object' && data !== null ? Reflect.get(data, 'traceparent') : undefined
  return { from: 'job', job, trace: traceIdOf(job), ...originOf(named) }
}

/** The members of an origin that a `traceparent` gives; none if it is no valid one. */
export function originOf(traceparent: unknown): Pick<Origin, 'trace' | 'sampled'> {
  const known: Trace | undefined = readTraceparent(traceparent)
  return known ? { trace: known.id, sampled: known.sampled } : {}
}
