import {
  type Asker,
  another,
  freeFrom,
  mailAddressFree,
  mailboxKeys,
  mailboxNameFree,
  mailKey,
  plain,
  siteKey,
  siteNameFree,
} from '../naming/index.ts'
import { type Settings, TenantError } from '../shared/index.ts'
import { reservedIn } from '../templates/index.ts'
import type { RequestPorts } from './ports.ts'
import { isForMailbox, type Request, type RequestStep } from './request.ts'

/**
 * Holds the names of a request against the rules once more before anything is created under them: a request may be older than a
 * rule, and a name that somebody held may have become free since. Throws a `TenantError`, which no other attempt changes.
 */
export async function refuseName(
  ports: RequestPorts,
  settings: Settings,
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
  for (const { shown, keys, name, isFree } of await addressesOf(ports, request)) {
    const day = await freeFrom(ports, settings, keys, name, { actor, requestId })
    // What is there may be our own, created by a run whose answer was lost: the step finds that out.
    if (day !== undefined && (await isFree()))
      throw refusal('former-address', `${shown} belonged to another person or resource. It is free from ${day}.`)
  }
}

const refusal = (code: 'reserved-name' | 'former-address', said: string): TenantError =>
  new TenantError(code, said, { retryable: false })

const beforeAt = (address: string): string => address.split('@')[0] ?? ''

const namesOf = (request: Request): string[] =>
  isForMailbox(request)
    ? [request.address, request.aliasAddress].filter((one) => one !== '').map(beforeAt)
    : [request.alias]

async function addressesOf({ directory }: RequestPorts, request: Request) {
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
  ports: RequestPorts,
  settings: Settings,
  { requester, requestId, tenantId }: Request,
): Asker => ({
  ...{ ports, settings, requestId },
  actor: { ...requester, tenantId, isAdmin: false },
})
/** A free name like the one that a request has and that turned out to be somebody else's; `''` when there is none. */
export function anotherName(ports: RequestPorts, settings: Settings, request: Request): Promise<string> {
  const { template, requestId } = request
  const asker = askerOf(ports, settings, request)
  const around = request.around ?? { ...template.naming, separator: '-' }
  if (!isForMailbox(request)) return another(around, request.alias, requestId, siteNameFree(asker, template.naming))
  const [name = '', domain = ''] = request.address.split('@')
  return another(around, name, requestId, mailboxNameFree(asker, domain, template.naming))
}

/** A free additional address like the one that turned out to be somebody else's; `''` when there is none. */
export function anotherAlias(ports: RequestPorts, settings: Settings, request: Request): Promise<string> {
  if (!isForMailbox(request)) return Promise.resolve('')
  const [local = '', domain = ''] = request.aliasAddress.split('@')
  const standingOf = mailAddressFree(askerOf(ports, settings, request), request.template.naming)
  const found = another(plain, local, request.requestId, (name) => standingOf(`${name}@${domain}`))
  return found.then((name) => name && `${name}@${domain}`)
}
