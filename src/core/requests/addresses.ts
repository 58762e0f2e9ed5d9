import {
  type Address,
  type Asker,
  addressBy,
  another,
  asksForAddress,
  blockedFaults,
  faultsOfTyped,
  freeFrom,
  freeName,
  heldFault,
  mailAddressFree,
  mailboxKeys,
  mailboxNameFree,
  mailKey,
  type Named,
  namesFor,
  plain,
  reservedFault,
  siteKey,
  siteNameFree,
  tooLong,
  unreservedName,
} from '../naming/index.ts'
import type { MailboxDetails } from '../resources/index.ts'
import { because, type Fault, fault, type MailDomains, type SystemContext, TenantError } from '../shared/index.ts'
import { kindWords, reservedIn, type Template, type TokenValues } from '../templates/index.ts'
import type { RequestInquiry } from './plan.ts'
import type { RequestPorts } from './ports.ts'
import { isForMailbox, type Request, type RequestStep } from './request.ts'

/** What is found of a mailbox's addresses; without names where nobody has typed one. */
export interface Addresses {
  readonly domain: string
  readonly names?: Named
  readonly aliasAddress: string
  readonly faults: Fault[]
}

/** The primary and the additional address, and what keeps the mailbox from having them. */
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
  const standingOf = mailboxNameFree(inquiry, domain, template.naming)
  const isNamed = name !== undefined || (displayName !== '' && !asksForAddress(template))
  const names = isNamed
    ? await namesFor(inquiry, template, typed, details, standingOf, (one) => `${one}@${domain}`)
    : undefined
  const alias = await aliasOf(inquiry, template, details, names, domains)
  return {
    domain,
    ...(names && { names }),
    aliasAddress: alias.address,
    faults: [...(names?.faults ?? []), ...alias.faults],
  }
}

/** The additional address: as it was typed or, where the template has a rule for it, as the rule makes it. */
async function aliasOf(
  inquiry: RequestInquiry,
  { kind, naming }: Template,
  { alias = '', name = '', displayName = '', domain }: Partial<MailboxDetails>,
  names: Named | undefined,
  domains: MailDomains,
): Promise<{ address: string; faults: Fault[] }> {
  const rule = kind === 'sharedMailbox' && names ? naming.alias : undefined
  if (alias === '' && !rule) return { address: '', faults: [] }
  const [typed = '', host = domain ?? domains.default] = alias.toLowerCase().split('@')
  if (!domains.accepted.includes(host)) return { address: alias, faults: [domainFault('/alias', domains)] }
  const values: TokenValues = names?.values ?? {}
  const made: Address = rule
    ? addressBy(rule, { alias: typed, displayName: name || displayName }, 'mailbox', inquiry.requestId, values)
    : { alias: typed, asked: true, around: plain }
  const wanted = `${made.alias}@${host}`
  const wrong = [...faultsOfTyped(naming, '/alias', typed, rule ?? { allowed: '' }), ...tooLong('/alias', made)]
  if (wrong.length > 0) return { address: wanted, faults: wrong }
  const own = names && `${names.name}@${domain ?? domains.default}`
  // The mailbox has this address already, so the alias adds nothing.
  if (wanted === own) return { address: '', faults: [] }
  const standingOfAddress = mailAddressFree(inquiry, naming)
  const standingOf = async (one: string) =>
    `${one}@${host}` === own ? ('taken' as const) : standingOfAddress(`${one}@${host}`)
  const reserved = reservedIn(naming, made.alias)
  if (reserved) {
    const another = await unreservedName(inquiry, made, kindWords[kind], standingOf)
    return { address: wanted, faults: [reservedFault('/alias', made.alias, reserved, another)] }
  }
  const found = await freeName(inquiry, made, standingOf)
  // An allowed text may become a blocked word together with a token.
  if (!found.taken) return { address: `${found.name}@${host}`, faults: blockedFaults(naming, '/alias', found.name) }
  const suggestion = found.taken.suggestion && `${found.taken.suggestion}@${host}`
  return { address: wanted, faults: [heldFault('/alias', wanted, { ...found.taken, suggestion })] }
}

/** A domain that the organisation does not take mail for. */
export const domainFault = (pointer: string, { accepted, default: usual }: MailDomains): Fault =>
  fault(pointer, 'domain-not-accepted', because('mailDomains', { domains: accepted }), usual)

/**
 * Holds the names of a request against the rules once more before anything is created under them: a request may be older than a
 * rule, and a name that somebody held may have become free since. Throws a `TenantError`, which no other attempt changes.
 */
export async function refuseName(
  { ports, settings }: SystemContext<RequestPorts>,
  request: Request,
  step: RequestStep['name'],
): Promise<void> {
  if (step !== 'create-site' && step !== 'create-mailbox') return
  for (const name of namesOf(request)) {
    const reserved = reservedIn(request.template.naming, name)
    if (reserved)
      throw refusal('reserved-name', `${name} is reserved for ${reserved}. Only a template that allows it can give it.`)
  }
  if (!settings.formerAddressDays || request.template.naming.allowFormerAddresses) return
  const { requestId, tenantId, requester } = request
  const actor = { id: requester.id, tenantId }
  for (const { shown, keys, name, isFree } of await addressesToCheck(ports, request)) {
    const day = await freeFrom(ports, settings, keys, name, { actor, requestId })
    // What is there may be our own, created by a run whose answer was lost: the step finds that out.
    if (day !== undefined && (await isFree()))
      throw refusal('former-address', `${shown} belonged to another person or resource. It is free from ${day}.`)
  }
}

const refusal = (code: 'reserved-name' | 'former-address', message: string): TenantError =>
  new TenantError(code, message, { retryable: false })

const beforeAt = (address: string): string => address.split('@')[0] ?? ''

const namesOf = (request: Request): string[] =>
  isForMailbox(request)
    ? [request.address, request.aliasAddress].filter((one) => one !== '').map(beforeAt)
    : [request.alias]

async function addressesToCheck({ directory }: RequestPorts, request: Request) {
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

/** Who asks for a name in place of one that a request cannot have. */
export const askerOf = (
  { ports, settings }: SystemContext<RequestPorts>,
  { requester, requestId, tenantId }: Request,
): Asker => ({
  ports,
  settings,
  requestId,
  actor: { ...requester, tenantId, isAdmin: false },
})
/** A free name like the one that a request has and that turned out to be somebody else's; `''` when there is none. */
export function anotherName(context: SystemContext<RequestPorts>, request: Request): Promise<string> {
  const { template, requestId } = request
  const asker = askerOf(context, request)
  const around = request.around ?? { ...template.naming, separator: '-' }
  if (!isForMailbox(request)) return another(around, request.alias, requestId, siteNameFree(asker, template.naming))
  const [name = '', domain = ''] = request.address.split('@')
  return another(around, name, requestId, mailboxNameFree(asker, domain, template.naming))
}

/** A free additional address like the one that turned out to be somebody else's; `''` when there is none. */
export function anotherAlias(context: SystemContext<RequestPorts>, request: Request): Promise<string> {
  if (!isForMailbox(request)) return Promise.resolve('')
  const [local = '', domain = ''] = request.aliasAddress.split('@')
  const standingOf = mailAddressFree(askerOf(context, request), request.template.naming)
  const found = another(plain, local, request.requestId, (name) => standingOf(`${name}@${domain}`))
  return found.then((name) => name && `${name}@${domain}`)
}
