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
