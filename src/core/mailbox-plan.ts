import { asking, resolveApprovals } from './approvers.ts'
import { countryCode } from './country.ts'
import type { MailDomains } from './directory-ports.ts'
import { type Fault, ProvisioningError } from './errors.ts'
import { freeName, mailAddressFree, mailboxNameFree, mailboxNames } from './free-name.ts'
import { type MailboxDetails, mailboxDetails, mailboxRequest } from './mailbox.ts'
import { chosenTemplate, inapplicable, isRecord } from './mailbox-kind.ts'
import { addressOf, slug } from './naming.ts'
import { type Evaluation, type Inquiry, type MailboxPlan, peopleNamed, refused, tooLong } from './plan.ts'
import type { Ports } from './ports.ts'
import type { RequestForMailbox } from './request.ts'
import { type MailboxKind, metadata, type Person } from './resource.ts'
import type { Template, TemplateSnapshot } from './template.ts'
import { templateFaults } from './template-rules.ts'
import { fault, faultsOf } from './validation.ts'

/** Checks a mailbox request of the API document: its form, its kind, its template, its people and its names. Writes nothing. */
export async function evaluateMailbox(inquiry: Inquiry, body: unknown): Promise<Evaluation> {
  const parsed = mailboxRequest.safeParse(body)
  const said = parsed.success ? [] : faultsOf(parsed.error, body)
  if (!isRecord(body)) return refused(...said)
  const faults = said.map((one) => withName(one, body['name']))
  const chosen = await chosenTemplate(inquiry, body)
  if ('fault' in chosen) {
    const isTold = faults.some(({ pointer }) => pointer === '/templateId')
    return refused(...faults, ...(isTold ? [] : [chosen.fault]))
  }
  const { template, kind } = chosen
  const known = metadata.safeParse(body['metadata'] ?? {})
  faults.push(...inapplicable(kind, body))
  if (known.success) faults.push(...templateFaults(template, { metadata: known.data }))
  if (!parsed.success) return refused(...faults, ...(await furtherFaults(inquiry, { template, kind }, body)))
  const { templateId: _, reason = '', ...asked } = parsed.data
  const details = withoutEmpty(asked)
  return asking(async () => {
    const { ports, settings, actor } = inquiry
    const { people, addresses, faults: found } = await looked(inquiry, { template, kind }, details)
    faults.push(...found)
    if (faults.length > 0) return refused(...faults)
    const { address, aliasAddress } = addresses
    const owners = people.filter(({ id }) => id === details.primaryOwner || id === details.secondaryOwner)
    const resolved = await resolveApprovals(ports, settings, template.approval, actor, { details, owners })
    const names = mailboxNames(address).map((name) => ({ name, pointer: '/name' }))
    if (aliasAddress) names.push({ name: aliasAddress, pointer: '/alias' })
    const plan = { kind, template, details, people, address, aliasAddress, ...resolved, reason, names }
    return { ok: true, plan }
  })
}

/** A name that no address can have comes with the nearest one that can: "Büro Zürich 5" → `buro-zurich-5`. */
function withName(one: Fault, name: unknown): Fault {
  if (one.pointer !== '/name' || one.code !== 'invalid' || typeof name !== 'string') return one
  const suggestion = slug(name.split('@')[0] ?? '').slice(0, 64)
  return suggestion === '' ? one : { ...one, detail: `${one.detail} Try ${suggestion}.`, suggestion }
}

interface Chosen {
  readonly template: Template
  readonly kind: MailboxKind
}
/** What can be read of the details. */
type Readable = Partial<MailboxDetails>

/** What the directory and the names in use say to the details. */
async function looked(inquiry: Inquiry, { template, kind }: Chosen, details: Readable) {
  const [named, addresses] = await Promise.all([
    namedIn(inquiry.ports, details),
    addressesOf(inquiry, template, details),
  ])
  const faults = [...valueFaults(kind, details), ...named.faults, ...addresses.faults]
  return { people: named.people, addresses, faults }
}

/** What else is wrong in a body that is wrong somewhere, so that people hear of all faults at once. */
async function furtherFaults(inquiry: Inquiry, chosen: Chosen, body: Record<string, unknown>): Promise<Fault[]> {
  const fields = Object.entries(mailboxDetails.shape).flatMap(([field, schema]) => {
    const parsed = Object.hasOwn(body, field) ? schema.safeParse(body[field]) : undefined
    return parsed?.success ? [[field, parsed.data] as const] : []
  })
  const readable: Readable = Object.fromEntries(fields)
  const found = asking(() => looked(inquiry, chosen, withoutEmpty(readable)))
  return found.then(
    ({ faults }) => faults,
    (error: unknown) => {
      // The faults that are known already are answer enough.
      if (error instanceof ProvisioningError && error.code === 'unavailable') return []
      throw error
    },
  )
}

/** What a request keeps of its plan. */
export function mailboxOf(plan: MailboxPlan, ports: Pick<Ports, 'tenant'>) {
  const { kind, template, details, people, address, aliasAddress } = plan
  const customAttributes = customAttributesOf(template, details)
  const steps = ports.tenant.mailboxStepsOf({ kind, details, aliasAddress, customAttributes })
  return {
    kind,
    details,
    people: [...people],
    address,
    aliasAddress,
    steps: steps.map((name) => ({ name, status: 'pending' as const, attempts: 0 })),
    progress: {},
    resource: null,
  } satisfies Partial<RequestForMailbox>
}

/** Custom attributes of Exchange by their number: what the template assigns of the metadata. */
export function customAttributesOf(
  { fields }: Pick<TemplateSnapshot, 'fields'>,
  { metadata }: Pick<MailboxDetails, 'metadata'>,
): ReadonlyMap<number, string> {
  const assigned = fields.flatMap(({ key, customAttribute }) => {
    const value = Object.hasOwn(metadata, key) ? String(metadata[key]) : ''
    return customAttribute !== undefined && value !== '' ? [[customAttribute, value] as const] : []
  })
  return new Map(assigned)
}

/** An emptied input is as good as none. */
function withoutEmpty<D extends Readable>(details: D): D {
  const kept = Object.entries(details).filter(([, value]) => value !== '' && value !== undefined)
  return Object.fromEntries(kept) as D
}

/** What has the right form and yet says nothing that the tenant could take. */
function valueFaults(kind: MailboxKind, { country, metadata = {} }: Readable): Fault[] {
  const faults: Fault[] = []
  if (country !== undefined && countryCode(country) === undefined)
    faults.push(
      fault(
        '/country',
        'not-a-country',
        'Give a country by its English name or its two-letter code: Switzerland or CH.',
      ),
    )
  const { seats } = metadata
  if (kind === 'roomMailbox' && seats !== undefined && !/^[1-9]\d{0,4}$/.test(String(seats)))
    faults.push(fault('/metadata/seats', 'invalid', 'metadata.seats must be a whole number from 1 to 99999.'))
  return faults
}

async function namedIn(ports: Ports, { permissions = {}, primaryOwner, secondaryOwner }: Readable) {
  const owners = { primaryOwner, secondaryOwner }
  const { people, faults } = await peopleNamed(ports, [
    ...Object.keys(permissions).map((id) => ({ id, pointer: `/permissions/${id}`, as: 'The person' })),
    ...Object.entries(owners).flatMap(([field, id]) => (id ? [{ id, pointer: `/${field}`, as: 'The owner' }] : [])),
  ])
  const given = people.filter(({ id }) => (permissions[id] ?? 'None') !== 'None')
  return { people, faults: [...faults, ...(await accessFaults(ports, given))] }
}

/** Exchange gives access only to whom it knows, so that is found out before anybody waits for an approval. */
async function accessFaults({ directory }: Ports, people: readonly Person[]): Promise<Fault[]> {
  const unknown = people.length > 0 ? await directory.unknownToExchange(people) : []
  return people
    .filter(({ id }) => unknown.includes(id))
    .map(({ id, displayName }) =>
      fault(`/permissions/${id}`, 'no-mailbox', `${displayName} has no mailbox, so nobody can give them access.`),
    )
}

/** The primary and the additional address, and what keeps the mailbox from having them. */
async function addressesOf(
  inquiry: Inquiry,
  { naming }: Pick<TemplateSnapshot, 'naming'>,
  details: Readable,
): Promise<{ address: string; aliasAddress: string; faults: Fault[] }> {
  const domains = await inquiry.ports.directory.mailDomains()
  const domain = details.domain ?? domains.default
  if (!domains.accepted.includes(domain))
    return { address: '', aliasAddress: '', faults: [notOurs('/domain', domains)] }
  const { name, alias = '' } = details
  const { address, faults } = await primaryAddress(inquiry, naming, name, domain)
  const aliasAddress = (alias === '' || alias.includes('@') ? alias : `${alias}@${domain}`).toLowerCase()
  if (aliasAddress !== '') faults.push(...(await aliasFaults(inquiry, aliasAddress, address, domains)))
  return { address, aliasAddress, faults }
}

async function primaryAddress(
  inquiry: Inquiry,
  naming: TemplateSnapshot['naming'],
  name: string | undefined,
  domain: string,
): Promise<{ address: string; faults: Fault[] }> {
  if (name === undefined) return { address: '', faults: [] }
  const wanted = addressOf({ naming }, { alias: name, displayName: '' }, inquiry.requestId)
  const free = await freeName(inquiry, naming, wanted, mailboxNameFree(inquiry, domain))
  const faults = tooLong('/name', wanted)
  if (free.taken) faults.push(taken('/name', `${wanted.alias}@${domain}`, free.taken.suggestion))
  return { address: `${free.name}@${domain}`, faults }
}

async function aliasFaults(inquiry: Inquiry, wanted: string, address: string, domains: MailDomains): Promise<Fault[]> {
  const [local = '', domain = ''] = wanted.split('@')
  if (!domains.accepted.includes(domain)) return [notOurs('/alias', domains)]
  if (wanted === address)
    return [fault('/alias', 'same-as-address', `${wanted} is the mailbox's own address already. Leave alias out.`)]
  const isFree = mailAddressFree(inquiry)
  const plain = { prefix: '', suffix: '' }
  const free = await freeName(inquiry, plain, { alias: local, asked: true }, (name) => isFree(`${name}@${domain}`))
  if (!free.taken) return []
  return [taken('/alias', wanted, free.taken.suggestion && `${free.taken.suggestion}@${domain}`)]
}

const taken = (pointer: string, name: string, suggestion: string): Fault =>
  fault(pointer, 'name-taken', `${name} is taken. Try ${suggestion || 'another'}.`, suggestion)

const notOurs = (pointer: string, { accepted, default: usual }: MailDomains): Fault =>
  fault(pointer, 'domain-not-accepted', `This organisation takes mail for: ${accepted.join(', ')}.`, usual)
