import { readFile } from 'node:fs/promises'
import { z } from 'zod'
import type { AnyTemplate, Client, MailboxRequest, SiteRequest } from '../index.ts'
import type { OptionSpec, Scope } from './define-command.ts'
import { clean, fill, NotFoundError, nearest, texts, UsageError } from './terminal.ts'

/**
 * How a flag's value becomes part of a body. `pairs`: `key=value`; `person-pairs`: `<person>=FullAccess`, by sign-in
 * name or user id.
 */
export interface FieldFlag {
  readonly flag: string
  readonly takes: 'text' | 'number' | 'boolean' | 'list' | 'pairs' | 'person-pairs'
  /** Its path in the body, if it is not a field of its own: `roomMailboxMetadata.hasWhiteboard`. */
  readonly path?: string
}

/** All fields of the API document with their flags. A field without a flag does not compile. */
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

/** The flags of a body with their paths in it. */
export const flagsOf = (fields: FieldFlags): readonly (FieldFlag & { readonly path: string })[] =>
  Object.entries(fields).flatMap(([field, flags]) => [flags].flat().map((one) => ({ path: field, ...one })))

const valueNames = { text: '<text>', number: '<number>', list: '<text>', pairs: '<key>=<value>' } as const

/** The options of a command for these fields; a boolean has two flags. */
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

/** A body for the API. The service validates it. */
export type Body = Readonly<Record<string, unknown>>
const anyObject = z.record(z.string(), z.unknown())
/**
 * The maximum size of an input file in bytes. It is larger than any body that the service accepts, so only wrong files are
 * refused.
 */
const largestFile = 1024 * 1024

/** The part of a body that the flags set. Throws {@link UsageError} for malformed or contradictory flags. */
export function bodyOfFlags(fields: FieldFlags, values: Readonly<Record<string, unknown>>, command: string): Body {
  let body: Body = {}
  for (const one of flagsOf(fields)) {
    const value = flagValue(one, values, command)
    if (value !== undefined) body = withValue(body, one.path.split('.'), value)
  }
  return body
}

function flagValue({ flag, takes }: FieldFlag, values: Readonly<Record<string, unknown>>, command: string): unknown {
  const value = values[flag]
  if (takes === 'boolean') {
    const [yes, no] = [value === true, values[`no-${flag}`] === true]
    if (yes && no) throw new UsageError(fill(texts.usage.both, { option: `--${flag}`, other: `--no-${flag}` }), command)
    return yes || no ? yes : undefined
  }
  if (value === undefined || (takes !== 'pairs' && takes !== 'person-pairs')) return value
  const pairs = (value as readonly string[]).map((pair): [string, unknown] => {
    const sign = pair.indexOf('=')
    if (sign < 1) throw new UsageError(fill(texts.usage.noPair, { option: `--${flag}`, value: pair }), command)
    return [pair.slice(0, sign), pair.slice(sign + 1)]
  })
  const faults = takes === 'person-pairs' ? accessTwice(pairs) : []
  if (faults.length > 0) throw new FieldsError(faults)
  return Object.fromEntries(pairs)
}

/** Returns a body with one more value; other values stay. */
export function withValue(body: Body, [field = '', ...rest]: readonly string[], value: unknown): Body {
  if (rest.length === 0) return { ...body, [field]: merged(body[field], value) }
  const inner = anyObject.safeParse(body[field])
  return { ...body, [field]: withValue(inner.success ? inner.data : {}, rest, value) }
}

/** Returns a body without one value; other values stay. */
export function withoutValue(body: Body, [field = '', ...rest]: readonly string[]): Body {
  const { [field]: value, ...others } = body
  const inner = anyObject.safeParse(value)
  if (rest.length === 0 || !inner.success) return others
  return { ...others, [field]: withoutValue(inner.data, rest) }
}

/** Merges two objects, so that a flag can add a key to an object from the file. Any other value replaces the previous value. */
function merged(before: unknown, value: unknown): unknown {
  const [one, other] = [anyObject.safeParse(before), anyObject.safeParse(value)]
  return one.success && other.success ? { ...one.data, ...other.data } : value
}

/** Reads a body from a JSON file, or from standard input for `-`. Throws {@link UsageError}. */
export async function bodyOfFile(
  path: string,
  { terminal, signal }: Pick<Scope, 'terminal' | 'signal'>,
): Promise<Body> {
  const text = path === '-' ? await readInput(terminal.streams.input, signal) : await readText(path)
  let parsed: unknown
  try {
    parsed = JSON.parse(text.replace(/^\ufeff/, ''))
  } catch (error) {
    throw new UsageError(fill(texts.usage.noJson, { path, why: error instanceof Error ? error.message : '' }))
  }
  const body = anyObject.safeParse(parsed)
  if (body.success) return body.data
  throw new UsageError(fill(texts.usage.noObject, { path }))
}

/**
 * Decodes a file: UTF-8, or UTF-16 little-endian with a byte order mark, as PowerShell 5 and Excel's "Unicode Text" write it. Throws
 * TypeError for other encodings.
 */
export function textOfBytes(bytes: Uint8Array): string {
  const [first, second] = bytes
  const isUtf16 = first === 0xff && second === 0xfe
  return new TextDecoder(isUtf16 ? 'utf-16le' : 'utf-8', { fatal: true }).decode(bytes)
}

async function readText(path: string): Promise<string> {
  try {
    const bytes = await readFile(path)
    if (bytes.length <= largestFile) return textOfBytes(bytes)
  } catch (error) {
    if (error instanceof TypeError) throw new UsageError(fill(texts.csv.notUtf8, { path }))
    const why = error instanceof Error && 'code' in error ? String(error.code) : String(error)
    throw new UsageError(fill(texts.usage.noFile, { path, why }))
  }
  throw new UsageError(fill(texts.usage.fileTooLarge, { path }))
}

async function readInput(input: NodeJS.ReadableStream, signal: AbortSignal): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  const end = () => 'destroy' in input && typeof input.destroy === 'function' && input.destroy()
  signal.addEventListener('abort', end, { once: true })
  for await (const chunk of input) {
    const bytes = Buffer.from(chunk)
    size += bytes.length
    if (size > largestFile) throw new UsageError(fill(texts.usage.fileTooLarge, { path: '-' }))
    chunks.push(bytes)
  }
  signal.throwIfAborted()
  try {
    return textOfBytes(Buffer.concat(chunks))
  } catch {
    throw new UsageError(fill(texts.csv.notUtf8, { path: '-' }))
  }
}

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i
export const isId = (text: string): boolean => uuid.test(text)

/**
 * Finds the id of a request by `REQ-1042`, `1042`, or the id itself. Throws {@link UsageError} for another text, and
 * {@link NotFoundError} if the caller may see no such request.
 */
export async function findRequest(client: Client, typed: string, signal: AbortSignal): Promise<string> {
  if (uuid.test(typed)) return typed.toLowerCase()
  const number = /^(?:req-?|#)?(\d{1,9})$/i.exec(typed)?.[1]
  if (number === undefined) throw new UsageError(fill(texts.usage.noRequest, { typed: clean(typed) }))
  const reference = `REQ-${Number(number)}`
  const [found] = (await client.listRequests({ reference }, { signal })).value
  if (found) return found.requestId
  throw new NotFoundError(fill(texts.refused.noRequest, { reference }))
}

/** Finds the id of a template by its id, or by its name without regard to upper and lower case. Throws {@link UsageError}. */
export async function templateIdOf(client: Client, typed: string, kinds: Kinds, signal: AbortSignal): Promise<string> {
  if (uuid.test(typed)) return typed.toLowerCase()
  const templates = (await client.templates({ signal })).filter(({ kind }) => kinds.includes(kind))
  const named = templates.filter(({ name }) => name.toLowerCase() === typed.trim().toLowerCase())
  const [only] = named
  if (only && named.length === 1) return only.id
  if (named.length > 1) throw new UsageError(fill(texts.usage.severalTemplates, { typed: clean(typed) }))
  const names = templates.map(({ name }) => clean(name))
  const meant = nearest(typed, names)
  const hint = meant === undefined ? texts.usage.seeTemplates : fill(texts.usage.didYouMean, { meant })
  throw new UsageError(`${fill(texts.usage.noTemplate, { typed: clean(typed) })} ${hint}`)
}
type Kinds = readonly AnyTemplate['kind'][]
export const siteKinds: Kinds = ['teamSite', 'communicationSite']
export const mailboxKinds: Kinds = ['sharedMailbox', 'equipmentMailbox', 'roomMailbox']

/** A validation error of one field: a JSON pointer and a message. */
export interface Fault {
  readonly pointer: string
  readonly detail: string
  readonly suggestion?: string | undefined
}

/** Validation errors that the command line found before it called the API. The exit code is {@link exitCodes.usage}. */
export class FieldsError extends UsageError {
  readonly faults: readonly Fault[]
  constructor(faults: readonly Fault[]) {
    super(faults.map(({ detail }) => detail).join(' '))
    this.faults = faults
  }
}

/** Returns a fault for each person with two access levels. A pair has a person, the access, and perhaps the typed name. */
export function accessTwice(pairs: readonly (readonly [person: string, access: unknown, typed?: string])[]): Fault[] {
  const known = new Map<string, unknown>()
  const faults = new Map<string, Fault>()
  for (const [person, access, typed = person] of pairs) {
    const detail = fill(texts.usage.accessTwice, { person: clean(typed) })
    if (known.has(person) && known.get(person) !== access) faults.set(person, { pointer: '#/permissions', detail })
    known.set(person, access)
  }
  return [...faults.values()]
}
