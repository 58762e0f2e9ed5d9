import { readFile } from 'node:fs/promises'
import { z } from 'zod'
import { type Scope, UsageError } from './define-command.ts'
import { type FieldFlag, type FieldFlags, flagsOf } from './fields.ts'
import { fill, words } from './words.ts'

/** A body as the API takes it; the service says what is wrong with it. */
export type Body = Readonly<Record<string, unknown>>
const anyObject = z.record(z.string(), z.unknown())
/** More than the service takes; a wrong file is noticed before it is read whole. */
const largestFile = 1024 * 1024

/** What the flags say, as part of a body. Throws {@link UsageError} for what cannot be read. */
export function bodyOfFlags(fields: FieldFlags, values: Readonly<Record<string, unknown>>, command: string): Body {
  let body: Body = {}
  for (const one of flagsOf(fields)) {
    const value = flagValue(one, values, command)
    if (value !== undefined) body = withValue(body, one.path.split('.'), value)
  }
  return body
}

function flagValue({ flag, takes }: FieldFlag, values: Readonly<Record<string, unknown>>, command: string): unknown {
  const given = values[flag]
  if (takes === 'boolean') {
    const [yes, no] = [given === true, values[`no-${flag}`] === true]
    if (yes && no) throw new UsageError(fill(words.usage.both, { option: `--${flag}`, other: `--no-${flag}` }), command)
    return yes || no ? yes : undefined
  }
  if (given === undefined || (takes !== 'pairs' && takes !== 'person-pairs')) return given
  const pairs = (given as readonly string[]).map((pair): [string, unknown] => {
    const sign = pair.indexOf('=')
    if (sign < 1) throw new UsageError(fill(words.usage.noPair, { option: `--${flag}`, value: pair }), command)
    return [pair.slice(0, sign), pair.slice(sign + 1)]
  })
  return Object.fromEntries(pairs)
}

/** A body with one value more; what stands beside it stays. */
export function withValue(body: Body, [field = '', ...rest]: readonly string[], value: unknown): Body {
  if (rest.length === 0) return { ...body, [field]: merged(body[field], value) }
  const inner = anyObject.safeParse(body[field])
  return { ...body, [field]: withValue(inner.success ? inner.data : {}, rest, value) }
}

/** A body without a value; what stands beside it stays. */
export function withoutValue(body: Body, [field = '', ...rest]: readonly string[]): Body {
  const { [field]: value, ...others } = body
  const inner = anyObject.safeParse(value)
  if (rest.length === 0 || !inner.success) return others
  return { ...others, [field]: withoutValue(inner.data, rest) }
}

/** Objects are joined, so that a flag adds a key to those of a file; anything else is replaced. */
function merged(before: unknown, value: unknown): unknown {
  const [one, other] = [anyObject.safeParse(before), anyObject.safeParse(value)]
  return one.success && other.success ? { ...one.data, ...other.data } : value
}

/** A body from a JSON file, or from standard input for `-`. Throws {@link UsageError}. */
export async function bodyOfFile(path: string, { terminal, signal }: Scope): Promise<Body> {
  const text = path === '-' ? await readAll(terminal.streams.input, signal) : await readText(path)
  let parsed: unknown
  try {
    parsed = JSON.parse(text.replace(/^\ufeff/, ''))
  } catch (error) {
    throw new UsageError(fill(words.usage.noJson, { path, why: error instanceof Error ? error.message : '' }))
  }
  const body = anyObject.safeParse(parsed)
  if (body.success) return body.data
  throw new UsageError(fill(words.usage.noObject, { path }))
}

async function readText(path: string): Promise<string> {
  try {
    const bytes = await readFile(path)
    if (bytes.length <= largestFile) return bytes.toString('utf8')
  } catch (error) {
    const why = error instanceof Error && 'code' in error ? String(error.code) : String(error)
    throw new UsageError(fill(words.usage.noFile, { path, why }))
  }
  throw new UsageError(fill(words.usage.fileTooLarge, { path }))
}

async function readAll(input: NodeJS.ReadableStream, signal: AbortSignal): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  const end = () => 'destroy' in input && typeof input.destroy === 'function' && input.destroy()
  signal.addEventListener('abort', end, { once: true })
  for await (const chunk of input) {
    const bytes = Buffer.from(chunk)
    size += bytes.length
    if (size > largestFile) throw new UsageError(fill(words.usage.fileTooLarge, { path: '-' }))
    chunks.push(bytes)
  }
  signal.throwIfAborted()
  return Buffer.concat(chunks).toString('utf8')
}
