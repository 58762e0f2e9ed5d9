import { z } from 'zod'
import { type Check, countryCode, type MailboxStepInput } from '../../core/index.ts'
import { namesOf } from '../directory/index.ts'
import { checked, missing, needed, recipientTypes, settled } from '../wire/index.ts'
import { holdersOf, isAmong } from './access.ts'
import { parametersFor } from './fields.ts'
import { plainOf, readableOf } from './html.ts'
import type { MailboxResult, MailboxServices } from './mailbox-step.ts'

/** Reads back from the tenant all that was asked for. What is wrong is said in the checks and never thrown. */
export const checkMailbox = (services: MailboxServices, input: MailboxStepInput): Promise<MailboxResult> =>
  settled(() => checksOf(services, input), input.progress, services.settleSeconds)

/** One thing to read back: what is wrong with it, in words for admins that stand by themselves; `''` when nothing is. */
type Look = readonly [name: Check['name'], fault: () => Promise<string> | string]

async function checksOf(services: MailboxServices, input: MailboxStepInput): Promise<Check[]> {
  const mailbox = await services.exchange.readOne('Get-Mailbox', identityOf(input), properties, {
    signal: input.signal,
  })
  const looks = [...mailboxLooks(services, input, mailbox ?? {}), ...otherLooks(services, input)]
  return Promise.all(looks.map(async ([name, fault]) => checked(name, await fault())))
}

type Properties = Readonly<Record<string, unknown>>
const properties = z.record(z.string(), z.unknown())
const identityOf = ({ progress }: MailboxStepInput) => ({ Identity: needed(progress, 'mailboxId') })

/** What stands on the mailbox itself; `{}` when there is none. */
function mailboxLooks({ graph }: MailboxServices, input: MailboxStepInput, mailbox: Properties): Look[] {
  const { kind, address, aliasAddress, details, progress, signal } = input
  const { capacity, hideFromGAL } = details
  const found = textOf(mailbox['PrimarySmtpAddress'])
  const type = textOf(mailbox['RecipientTypeDetails'])
  const looks: Look[] = [
    ['address', () => (same(found, address) ? '' : found ? `it is ${found} instead of ${address}` : 'it is not there')],
    [
      'mailboxType',
      () => (type === recipientTypes[kind] ? '' : `it is ${type || 'nothing'} instead of ${recipientTypes[kind]}`),
    ],
    [
      'signInBlocked',
      async () =>
        (await graph.isSignInBlocked(needed(progress, 'userId'), signal)) ? '' : 'the account can still sign in',
    ],
  ]
  if (aliasAddress !== '') {
    const all = textsOf(mailbox['EmailAddresses']).map((one) => one.toLowerCase())
    looks.push([
      'alias',
      () => (all.includes(`smtp:${aliasAddress.toLowerCase()}`) ? '' : `${aliasAddress} is missing`),
    ])
  }
  if (capacity !== undefined)
    looks.push(['capacity', () => capacityFault(textOf(mailbox['ProhibitSendReceiveQuota']), capacity)])
  if (hideFromGAL !== undefined) {
    const isHidden = mailbox['HiddenFromAddressListsEnabled'] === true
    const shown = isHidden ? 'it is hidden from the address list' : 'it is shown in the address list'
    looks.push(['visibility', () => (isHidden === hideFromGAL ? '' : shown)])
  }
  // Seats are of the room; the rest of what the template assigns are custom attributes.
  const attributes = Object.entries(parametersFor('Set-Mailbox', input)).filter(([name]) => /^Custom|^Res/.test(name))
  if (attributes.length > 0) looks.push(['customAttributes', () => difference(Object.fromEntries(attributes), mailbox)])
  return looks
}

/** What other cmdlets show. */
function otherLooks(services: MailboxServices, input: MailboxStepInput): Look[] {
  const { kind, access, signal } = input
  const { exchange } = services
  const contact = parametersFor('Set-User', input)
  const place = parametersFor('Set-Place', input)
  const identity = identityOf(input)
  const look = async (cmdlet: 'Get-User' | 'Get-Place' | 'Get-CalendarProcessing') =>
    (await exchange.readOne(cmdlet, identity, properties, { signal })) ?? {}
  // Once for both levels, and only when somebody is to have access.
  let names: ReturnType<typeof namesOf> | undefined
  const peopleNow = () => {
    names ??= namesOf(
      services.graph,
      access.map(({ person }) => person),
      signal,
    )
    return names
  }
  const looks: Look[] = []
  if (Object.keys(contact).length > 0) looks.push(['contact', async () => difference(contact, await look('Get-User'))])
  if (Object.keys(place).length > 0) looks.push(['place', async () => difference(place, await look('Get-Place'))])
  if (kind !== 'sharedMailbox') {
    const wanted = { AutomateProcessing: 'AutoAccept' }
    looks.push(['booking', async () => difference(wanted, await look('Get-CalendarProcessing'))])
  }
  if (access.some(({ level }) => level === 'FullAccess'))
    looks.push(['fullAccess', () => accessFault(services, input, 'FullAccess', peopleNow())])
  if (access.some(({ level }) => level === 'SendAs'))
    looks.push(['sendAs', () => accessFault(services, input, 'SendAs', peopleNow())])
  if (input.details.automaticReply !== undefined) looks.push(['automaticReply', () => replyFault(services, input)])
  return looks
}

async function accessFault(
  services: MailboxServices,
  input: MailboxStepInput,
  level: 'FullAccess' | 'SendAs',
  peopleNow: ReturnType<typeof namesOf>,
): Promise<string> {
  const [present, known] = await Promise.all([holdersOf(services, input, level), peopleNow])
  const absent = input.access.flatMap(({ person, level: its }) => {
    const names = its === level ? known.get(person.id.toLowerCase()) : undefined
    return its !== level || (names && isAmong(present, names)) ? [] : [person.displayName]
  })
  return missing(absent)
}

async function replyFault({ exchange }: MailboxServices, input: MailboxStepInput): Promise<string> {
  const { progress, signal } = input
  const cmdlet = 'Get-MailboxAutoReplyConfiguration'
  const anchor = needed(progress, 'userPrincipalName')
  const found = (await exchange.readOne(cmdlet, identityOf(input), properties, { signal, anchor })) ?? {}
  if (found['AutoReplyState'] !== 'Enabled') return 'it is off'
  const wanted = parametersFor('Set-MailboxAutoReplyConfiguration', input)
  for (const [name, whom] of [
    ['InternalMessage', 'in the organisation'],
    ['ExternalMessage', 'outside'],
  ] as const)
    if (readableOf(textOf(found[name])) !== readableOf(wanted[name] ?? ''))
      return `it has another text for people ${whom}`
  return found['ExternalAudience'] === 'All' ? '' : 'it does not answer everybody outside'
}

/** `50 GB (53,687,091,200 bytes)` against MB. */
function capacityFault(found: string, megabytes: number): string {
  const bytes = Number(/\(([\d,.\s]+) bytes\)/.exec(found)?.[1]?.replace(/\D/g, '') ?? Number.NaN)
  if (bytes === megabytes * 1024 ** 2) return ''
  const wanted = megabytes % 1024 === 0 ? `${megabytes / 1024} GB` : `${megabytes} MB`
  return `it has ${found.replace(/\s*\(.*/, '') || 'no limit'} instead of ${wanted}`
}

/** What differs between the parameters that were set and the properties that are read back, in words. */
function difference(wanted: object, found: Properties): string {
  const faults = Object.entries(wanted).flatMap(([name, value]: [string, unknown]) => {
    const is = found[name]
    const agrees = name === 'CountryOrRegion' ? isCountry(is, value) : agree(is, value)
    return agrees ? [] : [`${wordsOf(name)} is ${shown(is)} instead of ${shown(value)}`]
  })
  return faults.join(', ')
}

/** A code is set and a name is read back; a name that we do not know may well be that country's. */
function isCountry(found: unknown, wanted: unknown): boolean {
  const text = textOf(found)
  return text !== '' && (countryCode(text) ?? wanted) === wanted
}

function agree(found: unknown, wanted: unknown): boolean {
  if (Array.isArray(wanted)) {
    const [is, should] = [textsOf(found), textsOf(wanted)].map((texts) => texts.map(plainOf).sort().join('\n'))
    return is === should
  }
  return typeof wanted === 'string' ? plainOf(textOf(found)) === plainOf(wanted) : String(found) === String(wanted)
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')
const textsOf = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((one) => typeof one === 'string') : typeof value === 'string' ? [value] : []
const same = (one: string, other: string): boolean => one.toLowerCase() === other.toLowerCase()
/** `StateOrProvince` as words: "state or province". */
const wordsOf = (name: string): string => name.replace(/(?<=[a-z])(?=[A-Z\d])/g, ' ').toLowerCase()
function shown(value: unknown): string {
  const text = (Array.isArray(value) ? value.map(String).join(', ') : String(value ?? '')).trim()
  if (text === '') return 'empty'
  return `"${text.length > 60 ? `${text.slice(0, 59)}…` : text}"`
}
