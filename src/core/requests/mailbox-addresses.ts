import {
  type Address,
  addressBy,
  asksForAddress,
  blockedFaults,
  faultsOfTyped,
  freeName,
  heldFault,
  mailAddressFree,
  mailboxNameFree,
  type Named,
  namesFor,
  plain,
  reservedFault,
  tooLong,
  unreservedName,
} from '../naming/index.ts'
import type { MailboxDetails } from '../resources/index.ts'
import { because, type Fault, fault, type MailDomains } from '../shared/index.ts'
import { kindWords, reservedIn, type Template, type TokenValues } from '../templates/index.ts'
import type { RequestInquiry } from './plan.ts'

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
  if (wanted === own) {
    if (alias === '') return { address: '', faults: [] }
    return { address: wanted, faults: [fault('/alias', 'same-as-address', because('ownAddress', { address: wanted }))] }
  }
  const standingOfAddress = mailAddressFree(inquiry, naming)
  const standingOf = async (one: string) =>
    `${one}@${host}` === own ? ('taken' as const) : standingOfAddress(`${one}@${host}`)
  const reserved = reservedIn(naming, made.alias)
  if (reserved) {
    const another = await unreservedName(inquiry, made, kindWords[kind], standingOf)
    return { address: wanted, faults: [reservedFault('/alias', made.alias, reserved, another)] }
  }
  const found = await freeName(inquiry, made, standingOf)
  // What was typed may be allowed, and yet become a blocked word beside a token.
  if (!found.taken) return { address: `${found.name}@${host}`, faults: blockedFaults(naming, '/alias', found.name) }
  const suggestion = found.taken.suggestion && `${found.taken.suggestion}@${host}`
  return { address: wanted, faults: [heldFault('/alias', wanted, { ...found.taken, suggestion })] }
}

/** A domain that the organisation does not take mail for. */
export const domainFault = (pointer: string, { accepted, default: usual }: MailDomains): Fault =>
  fault(pointer, 'domain-not-accepted', because('mailDomains', { domains: accepted }), usual)
