import { judgedBy, resolveApprovals, withMaximum } from '../approvals/index.ts'
import { asksForAddress, mailboxNames, slug } from '../naming/index.ts'
import {
  applicability,
  isSeatCount,
  isStatusValue,
  type MailboxDetails,
  mailboxDetails,
  mailboxRequest,
} from '../resources/index.ts'
import {
  asking,
  because,
  countryCode,
  type Fault,
  fault,
  faultsOf,
  isMailboxKind,
  isRecord,
  type MailboxKind,
  metadata,
  metadataText,
  type Person,
  ProvisioningError,
  type Reason,
  readable,
} from '../shared/index.ts'
import {
  type Applied,
  addressRule,
  answersOf,
  names,
  type Template,
  type TemplateSnapshot,
  unknownTemplate,
  usableOf,
  usableTemplate,
  withProperties,
} from '../templates/index.ts'
import { type Addresses, addressesOf } from './addresses.ts'
import { inapplicable, isNoId, nameOf, propertiesOfOneKind, withoutBlanks } from './applicable-fields.ts'
import {
  accountsAt,
  answeredPeople,
  externalOwners,
  guestsAmong,
  peopleNamed,
  unavailableFaults,
} from './people-check.ts'
import { type Evaluation, type Glimpse, type MailboxPlan, type RequestInquiry, refused } from './plan.ts'
import type { RequestPorts } from './ports.ts'
import type { RequestForMailbox } from './request.ts'
import { mailboxLimits, noApprover, quotaFaults } from './template-rules.ts'

/** Checks a mailbox request of the API document: its fields, kind, template, people and names. Writes nothing. */
export async function evaluateMailbox(inquiry: RequestInquiry, sent: unknown): Promise<Evaluation> {
  if (!isRecord(sent)) return refused(...wrongBody(sent))
  const chosen = await chosenTemplate(inquiry, sent)
  const body = withoutBlanks('kind' in chosen ? chosen.kind : undefined, sent)
  const filled = withProperties('fault' in chosen ? {} : chosen.template.properties, body)
  const schema = 'template' in chosen && !asksForAddress(chosen.template) ? withoutName : mailboxRequest
  const parsed = schema.safeParse(filled.body)
  const faults = (parsed.success ? [] : faultsOf(parsed.error, body)).map((one) => withName(one, body['name']))
  if ('fault' in chosen) {
    const isKnown = faults.some(({ pointer }) => pointer === '/templateId')
    return refused(...faults, ...(isKnown ? [] : [chosen.fault]))
  }
  const { template, kind } = chosen
  const known = metadata.safeParse(filled.body['metadata'] ?? {})
  const answers = answersOf(template.fields, known.data ?? {}, inquiry.ports.clock.now())
  faults.push(...filled.faults, ...inapplicable(kind, body))
  if (known.success) faults.push(...answers.faults)
  if (!parsed.success) return furtherRefused(inquiry, { template, kind }, filled, faults)
  const { templateId: _, reason = '', ...fields } = parsed.data
  const limited = withMaximum(template, filled.body, withoutEmpty({ ...fields, metadata: answers.metadata }))
  const { details } = limited
  const applied = [...filled.applied, ...limited.applied, ...answers.applied]
  return asking(() => planned(inquiry, { template, kind }, { details, reason, applied }, faults))
}

/** Plans a request with valid fields: checks it against the directory and the names in use. */
async function planned(
  inquiry: RequestInquiry,
  { template, kind }: Chosen,
  request: { readonly details: NamelessDetails; readonly reason: string; readonly applied: readonly Applied[] },
  known: readonly Fault[],
): Promise<Evaluation> {
  const { ports, settings, actor } = inquiry
  const { people, guests, addresses, faults } = await lookUp(inquiry, { template, kind }, request.details, known)
  const glimpse = glimpseOf(request.details, request.applied, people, addresses)
  if (faults.length > 0 || !addresses.names) return { ok: false, faults, glimpse }
  const { aliasAddress, domain } = addresses
  const { displayName, name, typedName, around, passedOver, emptyTokens } = addresses.names
  const details = { ...request.details, displayName, name: request.details.name ?? name }
  const address = `${name}@${domain}`
  const owners = ownersAmong(people, details)
  const judged = judgedBy(template, { details, applied: request.applied, owners, name, domain, aliasAddress })
  const resolved = await resolveApprovals({ ports, settings }, template.approval, actor, judged)
  if (!resolved) return { ok: false, faults: [noApprover()], glimpse }
  const held = mailboxNames(address).map((one) => ({ name: one, pointer: '/name' }))
  if (aliasAddress) held.push({ name: aliasAddress, pointer: '/alias' })
  const plan: MailboxPlan = {
    kind,
    template,
    details,
    ...(typedName !== undefined && { typedName }),
    around,
    passedOver,
    emptyTokens,
    people,
    guests,
    address,
    aliasAddress,
    ...resolved,
    applied: request.applied,
    reason: request.reason,
    names: held,
  }
  return { ok: true, plan }
}

/** The schema for templates without a question for the address: the name is optional. */
const withoutName = mailboxRequest.partial({ name: true })
type NamelessDetails = Omit<MailboxDetails, 'name'> & { readonly name?: string | undefined }

/** Returns the faults of a body that is not an object. */
function wrongBody(body: unknown): Fault[] {
  const parsed = mailboxRequest.safeParse(body)
  return parsed.success ? [] : faultsOf(parsed.error, body)
}

/** Adds the nearest valid name to the fault of an invalid one: "Büro Zürich 5" → `buro-zurich-5`. */
export function withName(one: Fault, name: unknown): Fault {
  if (one.pointer !== '/name' || one.code !== 'invalid' || typeof name !== 'string') return one
  const suggestion = slug(name.split('@')[0] ?? '').slice(0, 64)
  return suggestion === ''
    ? one
    : { ...one, reason: because('trySuggestion', { reason: one.reason, suggestion }), suggestion }
}

interface Chosen {
  readonly template: Template
  readonly kind: MailboxKind
}
/** The readable part of the details. */
type Readable = Partial<MailboxDetails>

/** Checks the details against the directory and the names in use. Adds to the known faults. */
async function lookUp(inquiry: RequestInquiry, { template, kind }: Chosen, details: Readable, known: readonly Fault[]) {
  // A number is taken only when all other fields are valid. Names without a number are checked in parallel.
  const takesNumber = inquiry.isSubmission && names(addressRule(template.naming, kind).pattern, 'counter')
  const limits = mailboxLimits(template, details)
  // Too many people are refused anyway, so they are not looked up.
  const isCrowd = limits.some(({ code }) => code === 'too-many-people')
  const [named, answered, quota, early] = await Promise.all([
    namedIn(inquiry.ports, isCrowd ? { ...details, permissions: {} } : details, template),
    answeredPeople(inquiry.ports, template, details.metadata ?? {}),
    quotaFaults(inquiry, template),
    takesNumber ? undefined : addressesOf(inquiry, template, details),
  ])
  const before = [...known, ...valueFaults(kind, details), ...limits, ...answered.faults, ...named.faults, ...quota]
  const checked = { ...inquiry, isSubmission: inquiry.isSubmission && before.length === 0 }
  const addresses = early ?? (await addressesOf(checked, template, details))
  const people = new Map([...answered.people, ...named.people].map((one) => [one.id, one]))
  return { people: [...people.values()], guests: named.guests, addresses, faults: [...before, ...addresses.faults] }
}

/** Finds the other faults of an invalid body, so that people get all faults at once. */
async function furtherRefused(
  inquiry: RequestInquiry,
  chosen: Chosen,
  filled: { readonly body: Record<string, unknown>; readonly applied: readonly Applied[] },
  known: readonly Fault[],
): Promise<Evaluation> {
  const { body } = filled
  const limited = withMaximum(chosen.template, body, withoutEmpty(readable(mailboxDetails.shape, body)))
  const { details } = limited
  const applied = [...filled.applied, ...limited.applied]
  try {
    const found = await asking(() => lookUp({ ...inquiry, isSubmission: false }, chosen, details, []))
    const { people, addresses, faults } = found
    return { ok: false, faults: [...known, ...faults], glimpse: glimpseOf(details, applied, people, addresses) }
  } catch (error) {
    // The known faults are enough for an answer, except in a preview.
    if (!inquiry.isPreview && error instanceof ProvisioningError && error.code === 'unavailable')
      return refused(...known)
    throw error
  }
}

const ownersAmong = (people: readonly Person[], { primaryOwner, secondaryOwner }: Readable): Person[] =>
  people.filter(({ id }) => id === primaryOwner || id === secondaryOwner)

const glimpseOf = (
  details: Readable,
  applied: readonly Applied[],
  people: readonly Person[],
  { names, domain, aliasAddress }: Addresses,
): Glimpse => ({ details, applied, owners: ownersAmong(people, details), names, domain, aliasAddress })

/** Returns the mailbox fields of a new request. */
export function mailboxOf(plan: MailboxPlan, ports: Pick<RequestPorts, 'tenant'>) {
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

/** Returns Exchange's custom attributes by their number, from the metadata that the template assigns. */
export function customAttributesOf(
  { fields }: Pick<TemplateSnapshot, 'fields'>,
  { metadata }: Pick<MailboxDetails, 'metadata'>,
): ReadonlyMap<number, string> {
  const assigned = fields.flatMap(({ key, customAttribute }) => {
    const value = Object.hasOwn(metadata, key) ? metadataText(metadata[key]) : ''
    return customAttribute !== undefined && value !== '' ? [[customAttribute, value] as const] : []
  })
  return new Map(assigned)
}

/** Removes empty fields: an empty input counts as absent. */
function withoutEmpty<D extends Readable>(details: D): D {
  const kept = Object.entries(details).filter(([, value]) => value !== '' && value !== undefined)
  return Object.fromEntries(kept) as D
}

/** Returns the faults of values that match the schema but that the tenant cannot accept. */
function valueFaults(kind: MailboxKind, { country, state, metadata = {} }: Readable): Fault[] {
  const faults: Fault[] = []
  if (state !== undefined && isStatusValue(state))
    faults.push(fault('/state', 'invalid', because('stateIsCondition', { state })))
  if (country !== undefined && countryCode(country) === undefined)
    faults.push(fault('/country', 'not-a-country', because('countryUnknown')))
  const { seats } = metadata
  if (kind === 'roomMailbox' && seats !== undefined && !isSeatCount(seats))
    faults.push(fault('/metadata/seats', 'invalid', because('seatsInvalid')))
  return faults
}

async function namedIn(
  ports: RequestPorts,
  { permissions = {}, primaryOwner, secondaryOwner }: Readable,
  template: Pick<Template, 'limits'>,
) {
  const owners = Object.entries({ primaryOwner, secondaryOwner }).flatMap(([field, id]) =>
    id ? [{ id, pointer: `/${field}`, as: 'owner' as const }] : [],
  )
  const granted = Object.keys(permissions).map((id) => ({ id, pointer: `/permissions/${id}`, as: 'person' as const }))
  const { people, accounts, faults } = await peopleNamed(ports, [...granted, ...owners])
  const withAccess = granted.filter(({ id }) => permissions[id] !== 'None')
  const unavailable = unavailableFaults([
    ...accountsAt(withAccess, accounts, 'access'),
    ...accountsAt(owners, accounts, 'ownership'),
  ])
  const grantees = people.filter(({ id }) => (permissions[id] ?? 'None') !== 'None')
  const known = owners.flatMap(({ id, pointer }) => {
    const person = people.find((one) => one.id === id)
    return person ? [{ person, pointer }] : []
  })
  const outside = await externalOwners(ports, template, known)
  const guests = guestsAmong(accounts).filter((id) => owners.some((owner) => owner.id === id))
  return { people, guests, faults: [...faults, ...unavailable, ...outside, ...(await accessFaults(ports, grantees))] }
}

/** Returns faults for people without a mailbox: Exchange cannot give them access. Checked before the approval. */
async function accessFaults({ directory }: RequestPorts, people: readonly Person[]): Promise<Fault[]> {
  const unknown = people.length > 0 ? await directory.unknownToExchange(people) : []
  return people
    .filter(({ id }) => unknown.includes(id))
    .map(({ id, displayName }) =>
      fault(`/permissions/${id}`, 'no-mailbox', because('noMailbox', { name: displayName })),
    )
}

type Choice = Chosen | { readonly fault: Fault }
const noTemplate = (reason: Reason): Choice => ({ fault: fault('/templateId', 'required', reason) })

/**
 * Finds the template of a body by its id; without an id, the default template of the kind that its properties imply, if they
 * imply exactly one (DESIGN §5).
 */
export async function chosenTemplate(inquiry: RequestInquiry, body: Record<string, unknown>): Promise<Choice> {
  const { template: known } = inquiry
  if (known && isMailboxKind(known.kind)) return { template: known, kind: known.kind }
  const { templateId } = body
  if (isNoId(templateId)) return impliedTemplate(inquiry, body)
  if (typeof templateId !== 'string') return noTemplate(because('templateIdNeeded'))
  const found = await usableTemplate(inquiry, templateId)
  if (!found) return { fault: unknownTemplate() }
  const { kind, name } = found
  if (isMailboxKind(kind)) return { template: found, kind }
  return { fault: fault('/templateId', 'wrong-resource', because('templateForOther', { name, resource: 'site' })) }
}

async function impliedTemplate(inquiry: RequestInquiry, body: Record<string, unknown>): Promise<Choice> {
  const { ports, actor } = inquiry
  const properties = propertiesOfOneKind(body)
  const kinds = [...new Set(properties.flatMap((property) => applicability[property] ?? []))]
  const [kind, ...more] = kinds
  if (kind === undefined) return noTemplate(because('kindUnknown'))
  if (more.length > 0) {
    const others = properties.map(nameOf)
    const last = others.pop() ?? ''
    return noTemplate(because('kindsDiffer', { count: others.length, others, last }))
  }
  const usable = await usableOf(inquiry, await ports.templates.list(actor.tenantId))
  const template = usable.find((one) => one.kind === kind && one.default)
  if (!template) return noTemplate(because('noDefaultTemplate', { kind }))
  return { template, kind }
}
