import { readFile } from 'node:fs/promises'
import { z } from 'zod'
import type { MailboxRequest, SiteRequest } from '../index.ts'
import type { OptionSpec, Scope } from './define-command.ts'
import { UsageError } from './exit-codes.ts'
import { fill, words } from './words.ts'

/** How a flag's value becomes part of a body. `pairs`: `key=value`; `person-pairs`: `<person>=FullAccess`, by sign-in name or user id. */
export interface FieldFlag {
  readonly flag: string
  readonly takes: 'text' | 'number' | 'boolean' | 'list' | 'pairs' | 'person-pairs'
  /** Its place in the body, where it is not a field of its own: `roomMailboxMetadata.hasWhiteboard`. */
  readonly path?: string
}

/** Every field of the API document, and the flag that sets it: a field without one does not compile. */
type FlagsOf<B> = { readonly [F in keyof Required<B>]: FieldFlag | readonly FieldFlag[] }

const text = (flag: string): FieldFlag => ({ flag, takes: 'text' })
const list = (flag: string): FieldFlag => ({ flag, takes: 'list' })
const yesNo = (flag: string, path?: string): FieldFlag => ({ flag, takes: 'boolean', ...(path && { path }) })

export const siteFlags = {
  displayName: text('display-name'),
  templateId: text('template'),
  description: text('description'),
  alias: text('alias'),
  owners: list('owner'),
  labelId: text('label'),
  metadata: { flag: 'metadata', takes: 'pairs' },
} as const satisfies FlagsOf<SiteRequest>

export const mailboxFlags = {
  name: text('name'),
  displayName: text('display-name'),
  templateId: text('template'),
  permissions: { flag: 'permission', takes: 'person-pairs' },
  metadata: { flag: 'metadata', takes: 'pairs' },
  alias: text('alias'),
  domain: text('domain'),
  capacity: { flag: 'capacity', takes: 'number' },
  primaryOwner: text('primary-owner'),
  secondaryOwner: text('secondary-owner'),
  reason: text('reason'),
  notes: text('notes'),
  tags: list('tag'),
  automaticReply: text('automatic-reply'),
  isAllowAutomaticReplyOverride: yesNo('allow-automatic-reply-override'),
  autoMapping: yesNo('auto-mapping'),
  hideFromGAL: yesNo('hide-from-address-list'),
  officeLocation: text('office-location'),
  isWheelChairAccessible: yesNo('wheelchair-accessible'),
  roomMailboxMetadata: [
    yesNo('conference-phone', 'roomMailboxMetadata.hasConferencePhone'),
    yesNo('whiteboard', 'roomMailboxMetadata.hasWhiteboard'),
    yesNo('video-conferencing', 'roomMailboxMetadata.hasVideoConferencing'),
  ],
  audioDeviceName: text('audio-device'),
  displayDeviceName: text('display-device'),
  videoDeviceName: text('video-device'),
  phone: text('phone'),
  businessPhones: list('business-phone'),
  streetAddress: text('street-address'),
  postalCode: text('postal-code'),
  city: text('city'),
  state: text('state'),
  country: text('country'),
  companyName: text('company'),
  department: text('department'),
} as const satisfies FlagsOf<MailboxRequest>

export type FieldFlags = Readonly<Record<string, FieldFlag | readonly FieldFlag[]>>

/** The flags of a body with their place in it. */
export const flagsOf = (fields: FieldFlags): readonly (FieldFlag & { readonly path: string })[] =>
  Object.entries(fields).flatMap(([field, flags]) => [flags].flat().map((one) => ({ path: field, ...one })))

const valueNames = { text: '<text>', number: '<number>', list: '<text>', pairs: '<key>=<value>' } as const

/** The options of a command for these fields; what is yes or no has a flag for each. */
export function optionsOf(fields: FieldFlags): Record<string, OptionSpec> {
  return Object.fromEntries(
    flagsOf(fields).flatMap(({ flag, takes }): [string, OptionSpec][] => {
      if (takes === 'boolean') {
        return [
          [flag, { type: 'flag' }],
          [`no-${flag}`, { type: 'flag' }],
        ]
      }
      const value = takes === 'person-pairs' ? '<person>=<access>' : valueNames[takes]
      const type = takes === 'number' ? 'number' : takes === 'text' ? 'text' : 'list'
      return [[flag, { type, value }]]
    }),
  )
}

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
