import {
  type Address,
  addressBy,
  another,
  asksForAddress,
  blockedFaults,
  faultsOfTyped,
  freeFrom,
  freeName,
  mailAddressFree,
  mailboxKeys,
  mailboxNameFree,
  mailKey,
  type Named,
  type NameInquirer,
  namesFor,
  plain,
  reservedFault,
  siteKey,
  siteNameFree,
  takenFault,
  tokenValues,
  tooLong,
  unreservedName,
} from '../naming/index.ts'
import type { MailboxDetails } from '../resources/index.ts'
import {
  because,
  type Fault,
  fault,
  type MailDomains,
  type Reason,
  type SystemContext,
  TenantError,
} from '../shared/index.ts'
import { kindWords, reservedIn, type Template, type TokenValues } from '../templates/index.ts'
import type { RequestInquiry } from './plan.ts'
import type { RequestPorts } from './ports.ts'
import { isForMailbox, type Request, type RequestForMailbox, type RequestStep } from './request.ts'

/** The addresses of a mailbox and their faults; `names` is absent if no name was typed. */
export interface Addresses {
  readonly domain: string
  readonly names?: Named
  readonly aliasAddress: string
  readonly faults: Fault[]
}

/** Finds the primary and the additional address of a mailbox, and their faults. */
export async function addressesOf(
  inquiry: RequestInquiry,
  template: Template,
  details: Partial<MailboxDetails>,
): Promise<Addresses> {
  const domains = await inquiry.ports.directory.mailDomains()
  const domain = details.domain ?? domains.default
  if (!domains.accepted.includes(domain)) return { domain, aliasAddress: '', faults: [domainFault('/domain', domains)] }
  const { name, displayName = '' } = details
  const typed = { displayName, address: name ?? '' }
  const availabilityOf = mailboxNameFree(inquiry, domain, template.naming)
  const isNamed = name !== undefined || (displayName !== '' && !asksForAddress(template))
  const names = isNamed
    ? await namesFor(inquiry, template, typed, details, availabilityOf, (one) => `${one}@${domain}`)
    : undefined
  const alias = await aliasOf(inquiry, template, details, names, domains)
  return {
    domain,
    ...(names && { names }),
    aliasAddress: alias.address,
    faults: [...(names?.faults ?? []), ...alias.faults],
  }
}

/** Finds the additional address: by the template's rule if it has one, else as typed. */
async function aliasOf(
  inquiry: NameInquirer & Pick<RequestInquiry, 'crowded'>,
  { kind, naming }: Pick<Template, 'kind' | 'naming'>,
  { alias = '', name = '', displayName = '', domain }: Partial<MailboxDetails>,
  names: Pick<Named, 'name' | 'values'> | undefined,
  domains: MailDomains,
): Promise<{ address: string; faults: Fault[] }> {
  const rule = kind === 'sharedMailbox' && names ? naming.alias : undefined
  if (alias === '' && !rule) return { address: '', faults: [] }
  const [typed = '', host = domain ?? domains.default] = alias.toLowerCase().split('@')
  if (!domains.accepted.includes(host)) return { address: alias, faults: [domainFault('/alias', domains)] }
  const values: TokenValues = names?.values ?? {}
  const made: Address = rule
    ? addressBy(rule, { alias: typed, displayName: name || displayName }, 'mailbox', inquiry.requestId, values)
    : { alias: typed, isTyped: true, around: plain }
  const wanted = `${made.alias}@${host}`
  const wrong = [...faultsOfTyped(naming, '/alias', typed, rule ?? { allowed: '' }), ...tooLong('/alias', made)]
  if (wrong.length > 0) return { address: wanted, faults: wrong }
  const own = names && `${names.name}@${domain ?? domains.default}`
  // The mailbox has this address already, so the alias adds nothing.
  if (wanted === own) return { address: '', faults: [] }
  const availabilityOfAddress = mailAddressFree(inquiry, naming)
  const availabilityOf = async (one: string) =>
    `${one}@${host}` === own ? ('taken' as const) : availabilityOfAddress(`${one}@${host}`)
  const reserved = reservedIn(naming, made.alias)
  if (reserved) {
    const another = await unreservedName(inquiry, made, kindWords[kind], availabilityOf)
    return { address: wanted, faults: [reservedFault('/alias', made.alias, reserved, another)] }
  }
  const found = await freeName(inquiry, made, availabilityOf)
  // An allowed text may become a blocked word together with a token.
  if (!found.taken) return { address: `${found.name}@${host}`, faults: blockedFaults(naming, '/alias', found.name) }
  const suggestion = found.taken.suggestion && `${found.taken.suggestion}@${host}`
  return { address: wanted, faults: [takenFault('/alias', wanted, { ...found.taken, suggestion })] }
}

/** Returns the fault of a domain that is not a mail domain of the organisation. */
export const domainFault = (pointer: string, { accepted, default: usual }: MailDomains): Fault =>
  fault(pointer, 'domain-not-accepted', because('mailDomains', { domains: accepted }), usual)

/**
 * Checks the names of a request against the rules again, before anything is created. The request may be older than a rule, and a
 * taken name may have become free. Throws a `TenantError` that is not retryable.
 */
export async function refuseName(
  { ports, settings }: SystemContext<RequestPorts>,
  request: Request,
  step: RequestStep['name'],
): Promise<void> {
  if (step !== 'create-site' && step !== 'create-mailbox') return
  for (const name of namesOf(request)) {
    const reserved = reservedIn(request.template.naming, name)
    if (reserved) throw refusal('reserved-name', because('addressReserved', { address: name, purpose: reserved }))
  }
  if (!settings.formerAddressDays || request.template.naming.allowFormerAddresses) return
  const { requestId, tenantId, requester } = request
  const actor = { id: requester.id, tenantId }
  for (const { shown, keys, name, isFree } of await addressesToCheck(ports, request)) {
    const day = await freeFrom(ports, settings, keys, name, { actor, requestId })
    // An existing resource may be our own, from a run whose answer was lost. The step checks that.
    if (day !== undefined && (await isFree()))
      throw refusal('former-address', because('addressFormer', { address: shown, day }))
  }
}

const refusal = (code: 'reserved-name' | 'former-address', reason: Reason): TenantError =>
  new TenantError(code, reason, { retryable: false })

const beforeAt = (address: string): string => address.split('@')[0] ?? ''

const namesOf = (request: Request): string[] =>
  isForMailbox(request)
    ? [request.address, request.aliasAddress].filter((one) => one !== '').map(beforeAt)
    : [request.alias]

/** Returns the addresses of a request whose resource does not exist yet that another resource of the tenant has. */
export async function takenAddresses(ports: Pick<RequestPorts, 'directory'>, request: Request): Promise<string[]> {
  const all = await addressesToCheck(ports, request)
  const areFree = await Promise.all(all.map(({ isFree }) => isFree()))
  return all.filter((_, index) => !areFree[index]).map(({ shown }) => shown)
}

async function addressesToCheck({ directory }: Pick<RequestPorts, 'directory'>, request: Request) {
  if (isForMailbox(request)) {
    const { address, aliasAddress } = request
    const own = {
      ...{ shown: address, keys: mailboxKeys(address, (await directory.mailDomains()).default), name: { address } },
      isFree: () => directory.isMailboxNameFree(address),
    }
    if (aliasAddress === '') return [own]
    const further = { shown: aliasAddress, keys: [mailKey(aliasAddress)], name: { address: aliasAddress } }
    return [own, { ...further, isFree: () => directory.isMailAddressFree(aliasAddress) }]
  }
  const { alias } = request
  const keys = [siteKey(alias), mailKey(`${alias}@${(await directory.mailDomains()).default}`)]
  return [{ shown: alias, keys, name: { alias }, isFree: () => directory.isSiteAddressFree(alias) }]
}

/** Returns the inquirer of a new name for an existing request: its requester. */
export const inquirerOf = (
  { ports, settings }: SystemContext<RequestPorts>,
  { requester, requestId, tenantId }: Request,
): NameInquirer => ({
  ports,
  settings,
  requestId,
  actor: { ...requester, tenantId, isAdmin: false },
})
/** Finds a free name similar to a request's taken name, or `''`. */
export function anotherName(context: SystemContext<RequestPorts>, request: Request): Promise<string> {
  const { template, requestId } = request
  const inquirer = inquirerOf(context, request)
  const around = request.around ?? { ...template.naming, separator: '-' }
  if (!isForMailbox(request)) return another(around, request.alias, requestId, siteNameFree(inquirer, template.naming))
  const [name = '', domain = ''] = request.address.split('@')
  return another(around, name, requestId, mailboxNameFree(inquirer, domain, template.naming))
}

/** Finds a free additional address similar to a request's taken one, or `''`. */
export async function anotherAlias(context: SystemContext<RequestPorts>, request: Request): Promise<string> {
  if (!isForMailbox(request)) return ''
  const { template, requestId } = request
  const { alias: rule } = template.naming
  const [alias = '', domain = ''] = request.aliasAddress.split('@')
  const inquirer = inquirerOf(context, request)
  const typed = { alias, displayName: '' }
  const made = rule && addressBy(rule, typed, 'mailbox', requestId, await valuesOf(inquirer, request))
  // Another address here means that a token has another value now, such as the year.
  const around = made?.alias === alias ? made.around : plain
  const availabilityOf = mailAddressFree(inquirer, template.naming)
  const name = await another(around, alias, requestId, (one) => availabilityOf(`${one}@${domain}`))
  return name && `${name}@${domain}`
}

/**
 * Finds the additional address that a request gets instead of its taken one, and its faults, as at submission. A text without a
 * domain gets the domain of the taken address.
 */
export async function aliasInstead(context: SystemContext<RequestPorts>, request: RequestForMailbox, typed: string) {
  const { template, details, address, aliasAddress } = request
  const [name = '', domain = ''] = address.split('@')
  const alias = typed.includes('@') ? typed : `${typed}${aliasAddress.slice(aliasAddress.indexOf('@'))}`
  const inquirer = inquirerOf(context, request)
  const [values, domains] = await Promise.all([valuesOf(inquirer, request), context.ports.directory.mailDomains()])
  return aliasOf({ ...inquirer, crowded: false }, template, { ...details, alias, domain }, { name, values }, domains)
}

/** Returns the values of the tokens in a request's names. The counter has the number in the additional address. */
async function valuesOf(inquirer: NameInquirer, request: RequestForMailbox): Promise<TokenValues> {
  const { template, details, requestId } = request
  const values = await tokenValues(inquirer, template, details)
  const { alias: rule } = template.naming
  const alias = beforeAt(request.aliasAddress)
  const typed = { alias, displayName: '' }
  // The right number leaves the address unchanged.
  const counter = alias
    .match(/\d+/g)
    ?.find((one) => rule && addressBy(rule, typed, 'mailbox', requestId, { ...values, counter: one }).alias === alias)
  return { ...values, ...(counter !== undefined && { counter }) }
}
