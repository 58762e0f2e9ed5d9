import type { z } from 'zod'
import { faultsOfTyped, mailAddressFree, mailboxNameFree, namesFor, siteNameFree, takenFault } from '../naming/index.ts'
import { anotherAlias, inquirerOf, isForMailbox, type Request, type RequestForMailbox } from '../requests/index.ts'
import { mailboxRequest, siteRequest } from '../resources/index.ts'
import { because, fault, faultsOf, refuseFields, type SystemContext } from '../shared/index.ts'
import type { DecisionPorts } from './ports.ts'

/**
 * Returns the address that a waiting request gets instead of a taken one, by the naming policy of its template: an alias of a site,
 * or a mail address. Throws `validation-failed` if the requester cannot have the typed address. An empty text removes an additional
 * address.
 */
export async function chosenAddress(
  context: SystemContext<DecisionPorts>,
  request: Request,
  taken: string,
  typed: string,
): Promise<string> {
  if (isForMailbox(request) && taken === request.aliasAddress) return chosenAlias(context, request, typed)
  const { template, typedName, details } = request
  const inquirer = inquirerOf(context, request)
  const domain = isForMailbox(request) ? domainOf(request.address) : ''
  const address = localPartOf(typed, domain)
  if (address === '') refuseFields([fault('/alias', 'required', because('fieldRequired', { field: 'address' }))])
  const schema = isForMailbox(request)
    ? mailboxRequest.pick({ name: true, displayName: true })
    : siteRequest.pick({ alias: true, displayName: true })
  const body = { displayName: details.displayName, ...(isForMailbox(request) ? { name: address } : { alias: address }) }
  const parsed: z.ZodSafeParseResult<unknown> = schema.safeParse(body)
  if (!parsed.success) refuseFields(faultsOf(parsed.error, body))
  const names = await namesFor(
    { ...inquirer, isSubmission: true, crowded: false },
    template,
    { displayName: typedName ?? details.displayName, address },
    details,
    isForMailbox(request)
      ? mailboxNameFree(inquirer, domain, template.naming)
      : siteNameFree(inquirer, template.naming),
    (name) => (domain === '' ? name : `${name}@${domain}`),
  )
  // The name for people is already approved and does not change.
  const faults = names.faults.filter(({ pointer }) => pointer !== '/displayName')
  if (faults.length > 0) refuseFields(faults)
  return domain === '' ? names.name : `${names.name}@${domain}`
}

async function chosenAlias(
  context: SystemContext<DecisionPorts>,
  request: RequestForMailbox,
  typed: string,
): Promise<string> {
  const domain = domainOf(request.aliasAddress)
  const local = localPartOf(typed, domain)
  if (local === '') return ''
  const body = { alias: local }
  const parsed = mailboxRequest.pick({ alias: true }).safeParse(body)
  if (!parsed.success) refuseFields(faultsOf(parsed.error, body))
  const { naming } = request.template
  const odd = faultsOfTyped(naming, '/alias', local, naming.alias ?? { allowed: '' })
  if (odd.length > 0) refuseFields(odd)
  const address = `${local}@${domain}`
  const why =
    address === request.address ? 'taken' : await mailAddressFree(inquirerOf(context, request), naming)(address, true)
  if (why === 'free') return address
  const suggestion = await anotherAlias(context, { ...request, aliasAddress: address })
  return refuseFields([takenFault('/alias', address, { why, suggestion })])
}

const domainOf = (address: string): string => address.slice(address.indexOf('@') + 1)

/** Returns a typed address in lower case, without the domain of the mailbox. */
function localPartOf(typed: string, domain: string): string {
  const text = typed.trim().toLowerCase()
  return domain !== '' && text.endsWith(`@${domain.toLowerCase()}`) ? text.slice(0, text.indexOf('@')) : text
}

/** Returns a request with one of its addresses replaced, also in the answers that a later copy starts with. */
export function withAddress(request: Request, from: string, to: string): Request {
  if (!isForMailbox(request)) return { ...request, alias: to, details: { ...request.details, alias: to } }
  const local = to.split('@')[0] ?? ''
  if (from === request.address) return { ...request, address: to, details: { ...request.details, name: local } }
  const { alias: _, ...details } = request.details
  return { ...request, aliasAddress: to, details: { ...details, ...(to !== '' && { alias: to }) } }
}
