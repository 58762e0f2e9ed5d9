import { type Address, type Around, alternatives, ownAddress } from './naming.ts'
import type { Inquiry } from './plan.ts'
import type { Ports } from './ports.ts'
import { isForMailbox, type Request } from './request.ts'

type Asker = Pick<Inquiry, 'ports' | 'actor' | 'requestId' | 'replaces'>
/** Whether a request can have a name: nothing in the tenant and no other request holds it. */
export type IsFree = (name: string) => Promise<boolean>

/** The names that a mailbox keeps others from: its address, and what it is called, which is one in all domains. */
export const mailboxNames = (address: string): string[] => [address, address.slice(0, address.indexOf('@'))]

/** Whether a site of this alias can be made. */
export const siteNameFree = (asker: Asker): IsFree => {
  return async (alias) => (await isUnreserved(asker, [alias])) && asker.ports.directory.isSiteAddressFree(alias)
}

/** Whether a mailbox of this name can be made in the domain. */
export const mailboxNameFree = (asker: Asker, domain: string): IsFree => {
  return async (name) => {
    const address = `${name}@${domain}`
    return (await isUnreserved(asker, mailboxNames(address))) && asker.ports.directory.isMailboxNameFree(address)
  }
}

/** Whether a mailbox can have this further address. */
export const mailAddressFree = (asker: Asker): IsFree => {
  return async (address) => (await isUnreserved(asker, [address])) && asker.ports.directory.isMailAddressFree(address)
}

async function isUnreserved({ ports, actor, requestId, replaces }: Asker, names: readonly string[]): Promise<boolean> {
  const holders = await Promise.all(names.map((name) => ports.reservations.holder(actor.tenantId, name)))
  return holders.every((holder) => holder === undefined || holder === requestId || holder === replaces)
}

/** What came of looking for a free name. `taken`: it is not, and this one is (`''` when we found none). */
export interface Found {
  readonly name: string
  /** Those before it that were held. */
  readonly passedOver?: string[]
  readonly taken?: { readonly suggestion: string }
}

/** A name that was asked for must itself be free; one that we derive moves on to the next free one. */
export async function freeName(
  { requestId, crowded }: Pick<Inquiry, 'requestId' | 'crowded'>,
  { alias, asked, around }: Pick<Address, 'alias' | 'asked' | 'around'>,
  isFree: IsFree,
): Promise<Found> {
  const own = crowded && !asked ? [ownAddress(around, alias, requestId)] : []
  const [first, ...others] = own.length > 0 ? own : [...alternatives(around, alias, requestId)]
  // The first is nearly always free; when it is not, somebody waits for the next one.
  const name = (await firstFree([first ?? alias], isFree)) ?? (await firstFree(others, isFree))
  if (name !== undefined && (name === alias || !asked)) {
    const tried = own.length > 0 ? own : [first ?? alias, ...others]
    return { name, passedOver: tried.slice(0, tried.indexOf(name)) }
  }
  return { name: name ?? alias, taken: { suggestion: name ?? '' } }
}

/** A free name like the one that a request has and that turned out to be somebody else's; `''` when there is none. */
export function anotherName(ports: Ports, request: Request): Promise<string> {
  const { template, requestId, tenantId } = request
  const inquiry = { ports, requestId, actor: { ...request.requester, tenantId, isAdmin: false } }
  const around = request.around ?? { ...template.naming, separator: '-' }
  if (!isForMailbox(request)) return another(around, request.alias, requestId, siteNameFree(inquiry))
  const [name = '', domain = ''] = request.address.split('@')
  return another(around, name, requestId, mailboxNameFree(inquiry, domain))
}

/** A free additional address like the one that turned out to be somebody else's; `''` when there is none. */
export function anotherAlias(ports: Ports, request: Request): Promise<string> {
  if (!isForMailbox(request)) return Promise.resolve('')
  const { requestId, tenantId } = request
  const [local = '', domain = ''] = request.aliasAddress.split('@')
  const actor = { ...request.requester, tenantId, isAdmin: false }
  const isFree = mailAddressFree({ ports, requestId, actor })
  const found = another(plain, local, requestId, (name) => isFree(`${name}@${domain}`))
  return found.then((name) => name && `${name}@${domain}`)
}

/** Around an address that no policy shapes. */
export const plain: Around = { prefix: '', suffix: '', separator: '-' }

async function another(around: Around, name: string, requestId: string, isFree: IsFree): Promise<string> {
  const [, ...others] = alternatives(around, name, requestId)
  return (await firstFree(others, isFree)) ?? ''
}

/** How many names are looked at together: each is a question or two to Microsoft 365. */
const atOnce = 3

/** The first in order that is free; beyond those looked at together with it none is looked at. */
async function firstFree(names: readonly string[], isFree: IsFree): Promise<string | undefined> {
  for (let from = 0; from < names.length; from += atOnce) {
    const looked = names.slice(from, from + atOnce)
    const free = await Promise.all(looked.map(isFree))
    const found = looked.find((_, index) => free[index])
    if (found !== undefined) return found
  }
  return undefined
}
