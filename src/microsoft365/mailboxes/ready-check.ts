import { z } from 'zod'
import { because, type Check, countryCode, type MailboxStepInput, type Reason } from '../../core/index.ts'
import { namesOf } from '../directory/index.ts'
import {
  checkOf,
  type Graph,
  missingPeople,
  needed,
  normalizeSpace,
  readyResult,
  recipientTypes,
} from '../wire/index.ts'
import { holdersOf, isAmong } from './access.ts'
import type { MailboxResult, MailboxServices } from './create.ts'
import { parametersFor, unlicensedMegabytes, visibleText } from './fields.ts'

/** Compares the mailbox in the tenant with the request. Reports faults in the checks and does not throw them. */
export const checkMailbox = (services: MailboxServices, input: MailboxStepInput): Promise<MailboxResult> =>
  readyResult(() => checksOf(services, input), input.progress, services.settleSeconds)

/** A check with its fault, for admins; undefined without a fault. */
type Fault = Reason | undefined
type NamedCheck = readonly [name: Check['name'], fault: Promise<Fault> | Fault]

async function checksOf(services: MailboxServices, input: MailboxStepInput): Promise<Check[]> {
  const mailbox = await services.exchange.readOne('Get-Mailbox', identityOf(input), properties, {
    signal: input.signal,
  })
  const checks = [...mailboxChecks(services, input, mailbox ?? {}), ...otherChecks(services, input)]
  return Promise.all(checks.map(async ([name, fault]) => withLag(checkOf(name, await fault))))
}

/**
 * Marks a place that differs. Exchange may show the former values of a place for up to 24 hours, and Set-Place has
 * succeeded, or its step would have failed. All other values are visible within minutes, so a difference there is a
 * fault.
 */
const withLag = (check: Check): Check =>
  check.name === 'place' && !check.ok ? { ...check, notVisibleYet: true } : check

type Properties = Readonly<Record<string, unknown>>
const properties = z.record(z.string(), z.unknown())
const identityOf = ({ progress }: MailboxStepInput) => ({ Identity: needed(progress, 'mailboxId') })

/** Returns the checks of the mailbox's own properties; `{}` means that the mailbox does not exist. */
function mailboxChecks({ graph }: MailboxServices, input: MailboxStepInput, mailbox: Properties): NamedCheck[] {
  const { kind, address, aliasAddress, details } = input
  const { capacity, hideFromGAL } = details
  const wantedType = recipientTypes[kind]
  const found = textOf(mailbox['PrimarySmtpAddress'])
  const type = textOf(mailbox['RecipientTypeDetails'])
  const isHidden = mailbox['HiddenFromAddressListsEnabled'] === true
  const aliases = textsOf(mailbox['EmailAddresses']).map((one) => one.toLowerCase())
  // The template assigns custom attributes and the seats of a room.
  const attributes = Object.entries(parametersFor('Set-Mailbox', input)).filter(([name]) => /^Custom|^Res/.test(name))
  const checks: NamedCheck[] = [
    ['address', isSame(found, address) ? undefined : found ? instead(found, address) : because('notThere')],
    ['mailboxType', type === wantedType ? undefined : instead(type, wantedType)],
    ['signInBlocked', signInFault(graph, input)],
  ]
  const hasAlias = aliases.includes(`smtp:${aliasAddress.toLowerCase()}`)
  if (aliasAddress !== '')
    checks.push(['alias', hasAlias ? undefined : because('addressMissing', { address: aliasAddress })])
  if (capacity !== undefined)
    checks.push(['capacity', capacityFault(textOf(mailbox['ProhibitSendReceiveQuota']), capacity)])
  if (hideFromGAL !== undefined) {
    checks.push(['visibility', isHidden === hideFromGAL ? undefined : because(isHidden ? 'isHidden' : 'isShown')])
  }
  if (attributes.length > 0) checks.push(['customAttributes', difference(Object.fromEntries(attributes), mailbox)])
  return checks
}

/** Another value than the requested one; `''`: no value. */
const instead = (found: string, wanted: string): Reason =>
  found === '' ? because('nothingInstead', { wanted }) : because('foundInstead', { found, wanted })

async function signInFault(graph: Graph, { progress, signal }: MailboxStepInput): Promise<Fault> {
  return (await graph.isSignInBlocked(needed(progress, 'userId'), signal)) ? undefined : because('canSignIn')
}

/** Returns the checks that need other cmdlets. */
function otherChecks(services: MailboxServices, input: MailboxStepInput): NamedCheck[] {
  const { kind, access, signal } = input
  const contact = parametersFor('Set-User', input)
  const place = parametersFor('Set-Place', input)
  const identity = identityOf(input)
  const compare = async (cmdlet: 'Get-User' | 'Get-CalendarProcessing', wanted: object) =>
    difference(wanted, (await services.exchange.readOne(cmdlet, identity, properties, { signal })) ?? {})
  const checks: NamedCheck[] = []
  if (Object.keys(contact).length > 0) checks.push(['contact', compare('Get-User', contact)])
  if (Object.keys(place).length > 0) checks.push(['place', placeFault(services, input, place)])
  if (kind !== 'sharedMailbox')
    checks.push(['booking', compare('Get-CalendarProcessing', { AutomateProcessing: 'AutoAccept' })])
  // Read once for both levels, and only when access is requested.
  const people = access.map(({ person }) => person)
  const names = people.length > 0 ? namesOf(services.graph, people, signal) : undefined
  for (const [name, level] of [
    ['fullAccess', 'FullAccess'],
    ['sendAs', 'SendAs'],
  ] as const)
    if (names && access.some((one) => one.level === level))
      checks.push([name, accessFault(services, input, level, names)])
  if (input.details.automaticReply !== undefined) checks.push(['automaticReply', replyFault(services, input)])
  return checks
}

/** Compares the place. Get-Place returns all places while it does not know ours, so the function finds ours by name. */
async function placeFault({ exchange }: MailboxServices, input: MailboxStepInput, wanted: object): Promise<Fault> {
  const { address, progress, signal } = input
  const names = [address, progress.userPrincipalName ?? '', needed(progress, 'mailboxId')]
  const places = await exchange.read('Get-Place', identityOf(input), properties, { signal })
  const ours = places.find(({ Identity }) => names.some((name) => isSame(name, textOf(Identity))))
  return ours ? difference(wanted, ours) : because('noPlaceYet')
}

async function accessFault(
  services: MailboxServices,
  input: MailboxStepInput,
  level: 'FullAccess' | 'SendAs',
  peopleNow: ReturnType<typeof namesOf>,
): Promise<Fault> {
  const [present, known] = await Promise.all([holdersOf(services, input, level), peopleNow])
  const absent = input.access.flatMap(({ person, level: its }) => {
    const names = its === level ? known.get(person.id.toLowerCase()) : undefined
    return its !== level || (names && isAmong(present, names)) ? [] : [person.displayName]
  })
  return missingPeople(absent)
}

async function replyFault({ exchange }: MailboxServices, input: MailboxStepInput): Promise<Fault> {
  const { progress, signal } = input
  const cmdlet = 'Get-MailboxAutoReplyConfiguration'
  const anchor = needed(progress, 'userPrincipalName')
  const found = (await exchange.readOne(cmdlet, identityOf(input), properties, { signal, anchor })) ?? {}
  if (found['AutoReplyState'] !== 'Enabled') return because('replyOff')
  const wanted = parametersFor('Set-MailboxAutoReplyConfiguration', input)
  for (const [name, where] of [
    ['InternalMessage', 'inside'],
    ['ExternalMessage', 'outside'],
  ] as const)
    if (visibleText(textOf(found[name])) !== visibleText(wanted[name] ?? '')) return because('replyDiffers', { where })
  return found['ExternalAudience'] === 'All' ? undefined : because('replyForSome')
}

/** Compares Exchange's text, such as `50 GB (53,687,091,200 bytes)`, with megabytes. */
function capacityFault(found: string, megabytes: number): Fault {
  const bytes = Number(/\(([\d,.\s]+) bytes\)/.exec(found)?.[1]?.replace(/\D/g, '') ?? Number.NaN)
  if (bytes === megabytes * 1024 ** 2) return undefined
  const wanted =
    megabytes % 1024 === 0
      ? ({ amount: megabytes / 1024, unit: 'gigabyte' } as const)
      : ({ amount: megabytes, unit: 'megabyte' } as const)
  const facts = { found: sizeOf(found.replace(/\s*\(.*/, '')), wanted }
  return because(megabytes > unlicensedMegabytes ? 'quotaNeedsLicence' : 'quotaDiffers', facts)
}

const units = { MB: 'megabyte', GB: 'gigabyte', TB: 'terabyte' } as const

/** Reads a size such as `49.5 GB`; `none` for an empty text. Other texts stay unchanged. */
function sizeOf(text: string) {
  const [, amount, unit] = /^(\d+(?:\.\d+)?) (MB|GB|TB)$/.exec(text) ?? []
  return unit === undefined ? text || 'none' : { amount: Number(amount), unit: units[unit as keyof typeof units] }
}

/** Describes the differences between requested parameters and the properties in the tenant. */
function difference(wanted: object, found: Properties): Fault {
  const faults = Object.entries(wanted).flatMap(([name, value]: [string, unknown]) => {
    const is = found[name]
    const agrees = name === 'CountryOrRegion' ? isCountry(is, value) : agree(is, value)
    return agrees ? [] : [differs(propertyNamed(name), shown(is), shown(value))]
  })
  return faults.length === 0 ? undefined : because('faults', { faults: { parts: faults, between: ', ' } })
}

/** Compares countries. The step sets a code and Exchange returns a name; an unknown name counts as a match. */
function isCountry(found: unknown, wanted: unknown): boolean {
  const text = textOf(found)
  return text !== '' && (countryCode(text) ?? wanted) === wanted
}

function agree(found: unknown, wanted: unknown): boolean {
  if (Array.isArray(wanted)) {
    const [is, should] = [textsOf(found), textsOf(wanted)].map((texts) => texts.map(normalizeSpace).sort().join('\n'))
    return is === should
  }
  return typeof wanted === 'string'
    ? normalizeSpace(textOf(found)) === normalizeSpace(wanted)
    : String(found) === String(wanted)
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')
const textsOf = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((one) => typeof one === 'string') : typeof value === 'string' ? [value] : []
const isSame = (one: string, other: string): boolean => one.toLowerCase() === other.toLowerCase()
/** A property with another value than the requested one; `''` is no value. */
const differs = (property: Reason, found: string, wanted: string): Reason =>
  wanted === ''
    ? because('valueUnwanted', { property, found })
    : found === ''
      ? because('valueEmpty', { property, wanted })
      : because('valueDiffers', { property, found, wanted })
/** Returns the name of a parameter in the reader's language: "state or province" for `StateOrProvince`. */
function propertyNamed(parameter: string): Reason {
  const [, number] = /^CustomAttribute(\d+)$/.exec(parameter) ?? []
  return number === undefined
    ? because('exchangeProperty', { property: parameter })
    : because('exchangeProperty', { property: 'CustomAttribute', number })
}
function shown(value: unknown): string {
  const text = (Array.isArray(value) ? value.map(String).join(', ') : String(value ?? '')).trim()
  return text.length > 60 ? `${text.slice(0, 59)}…` : text
}
