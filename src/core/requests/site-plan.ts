import { judgedBy, resolveApprovals } from '../approvals/index.ts'
import { type Named, namesFor, siteNameFree } from '../naming/index.ts'
import { type SiteDetails, siteDetails, siteRequest, stepsOfSite } from '../resources/index.ts'
import {
  asking,
  asPerson,
  because,
  type Fault,
  fault,
  faultsOf,
  isMailboxKind,
  isRecord,
  type Person,
  ProvisioningError,
  readable,
  type SiteKind,
} from '../shared/index.ts'
import {
  type Applied,
  answersOf,
  type Template,
  unknownTemplate,
  usableTemplate,
  withProperties,
} from '../templates/index.ts'
import {
  accountsAt,
  answeredPeople,
  externalOwners,
  guestsAmong,
  peopleNamed,
  unavailableFaults,
} from './people-check.ts'
import { type Evaluation, type RequestInquiry, refused, type SitePlan } from './plan.ts'
import type { RequestForSite } from './request.ts'
import { labelFaults, noApprover, quotaFaults, tooFewOwners, tooManyOwners } from './template-rules.ts'

/** Checks a site request of the API document against its template, the directory and the names in use. Writes nothing. */
export async function evaluateSite(inquiry: RequestInquiry, body: unknown): Promise<Evaluation> {
  const chosen = await chosenTemplate(inquiry, body)
  // The properties of a mailbox's template do not apply to sites.
  const rules = chosen && !isMailboxKind(chosen.kind) ? chosen.properties : {}
  const filled = withProperties(rules, isRecord(body) ? body : {})
  const parsed = siteRequest.safeParse(isRecord(body) ? filled.body : body)
  const now = inquiry.ports.clock.now()
  if (!parsed.success) {
    const faults = [...faultsOf(parsed.error, body), ...filled.faults, ...furtherFaults(chosen, body, now)]
    return chosen && !isMailboxKind(chosen.kind) ? furtherRefused(inquiry, chosen, filled, faults) : refused(...faults)
  }
  if (!chosen) return refused(unknownTemplate())
  const { kind } = chosen
  if (isMailboxKind(kind))
    return refused(
      fault('/templateId', 'wrong-resource', because('templateForOther', { name: chosen.name, resource: 'mailbox' })),
    )
  const { templateId: _, ...request } = parsed.data
  const answers = answersOf(chosen.fields, request.metadata, now)
  // An empty label gets the template's default.
  const labelId = request.labelId || (chosen.labels.default ?? '')
  const details = { ...request, metadata: answers.metadata, labelId }
  const faults = [...filled.faults, ...labelFaults(chosen, labelId), ...answers.faults]
  const label = labelId === request.labelId ? [] : [{ field: 'labelId', value: labelId, why: 'default' as const }]
  const applied = [...filled.applied, ...label, ...answers.applied]
  return asking(() => planned(inquiry, { ...chosen, kind }, details, faults, applied))
}

/** Finds the other faults of an invalid body, so that people get all faults at once. */
async function furtherRefused(
  inquiry: RequestInquiry,
  template: Template,
  filled: { readonly body: Record<string, unknown>; readonly applied: readonly Applied[] },
  known: readonly Fault[],
): Promise<Evaluation> {
  const details = readable(siteDetails.shape, filled.body)
  try {
    const found = await asking(() => lookUp({ ...inquiry, isSubmission: false }, template, details, []))
    const glimpse = { details, owners: found.people, applied: filled.applied, names: found.names }
    return { ok: false, faults: [...known, ...found.faults], glimpse }
  } catch (error) {
    // The known faults are enough for an answer, except in a preview.
    if (!inquiry.isPreview && error instanceof ProvisioningError && error.code === 'unavailable')
      return refused(...known)
    throw error
  }
}

/** Plans a request with valid fields: checks it against the directory and the names in use. */
async function planned(
  inquiry: RequestInquiry,
  template: Template & { kind: SiteKind },
  typed: SiteDetails,
  known: readonly Fault[],
  applied: readonly Applied[],
): Promise<Evaluation> {
  const { ports, settings, actor } = inquiry
  const { people, guests, answered, names, faults } = await lookUp(inquiry, template, typed, known)
  const glimpse = { details: typed, owners: people, applied, names }
  if (faults.length > 0 || !names) return { ok: false, faults, glimpse }
  const { displayName, name: alias, typedName, around, passedOver, emptyTokens } = names
  const details = { ...typed, displayName }
  const policyOf = judgedBy(template, { details, applied, owners: people, name: alias })
  const resolved = await resolveApprovals({ ports, settings }, template.approval, actor, policyOf)
  if (!resolved) return { ok: false, faults: [noApprover()], glimpse }
  const plan: SitePlan = {
    kind: template.kind,
    template,
    details,
    ...(typedName !== undefined && { typedName }),
    around,
    emptyTokens,
    owners: people,
    guests,
    people: answered,
    alias,
    passedOver,
    url: `${ports.tenant.siteRoot}${alias}`,
    ...resolved,
    applied,
    reason: '',
    names: [{ name: alias, pointer: '/alias' }],
  }
  return { ok: true, plan }
}

/** Checks the readable fields against the directory and the names in use. Adds to the known faults. */
async function lookUp(
  inquiry: RequestInquiry,
  template: Template,
  { displayName, alias, owners: ownerIds, metadata = {}, ...rest }: Partial<SiteDetails>,
  known: readonly Fault[],
): Promise<{ people: Person[]; guests: string[]; answered: Person[]; names: Named | undefined; faults: Fault[] }> {
  const { ports, actor } = inquiry
  const ids = [...new Set(ownerIds ?? [])]
  // Too many people are refused anyway, so they are not looked up.
  const tooMany = tooManyOwners(template, new Set([actor.id, ...ids]).size)
  const [owners, answered, quota] = await Promise.all([
    ownersOf(inquiry, tooMany.length > 0 ? [] : ids, ownerIds ?? []),
    answeredPeople(ports, template, metadata),
    quotaFaults(inquiry, template),
  ])
  const { people, guests } = owners
  const named = people.map((person) => ({
    person,
    pointer: `/owners/${Math.max(0, (ownerIds ?? []).indexOf(person.id))}`,
  }))
  const faults = [
    ...known,
    ...answered.faults,
    ...owners.faults,
    ...tooMany,
    ...(ownerIds && tooMany.length === 0 ? tooFewOwners(template, people.length) : []),
    ...(await externalOwners(ports, template, named)),
    ...quota,
  ]
  // Without a name or a readable address, no name can be derived. A typed address is checked without a name.
  if (alias === undefined || (displayName === undefined && alias === ''))
    return { people, guests, answered: answered.people, names: undefined, faults }
  const checked = { ...inquiry, isSubmission: inquiry.isSubmission && faults.length === 0 }
  const wanted = { displayName: displayName ?? '', address: alias }
  const names = await namesFor(checked, template, wanted, { ...rest, metadata }, siteNameFree(inquiry, template.naming))
  return { people, guests, answered: answered.people, names, faults: [...faults, ...names.faults] }
}

/** Returns the site fields of a new request. */
export function siteOf(plan: SitePlan, requesterId: string) {
  const { kind, details, owners, people = [], alias } = plan
  return {
    kind,
    details,
    owners: [...owners],
    ...(people.length > 0 && { people: [...people] }),
    alias,
    steps: stepsOfSite(details, requesterId).map((name) => ({ name, status: 'pending' as const, attempts: 0 })),
    progress: {},
    resource: null,
  } satisfies Partial<RequestForSite>
}

async function chosenTemplate(inquiry: RequestInquiry, body: unknown): Promise<Template | undefined> {
  if (inquiry.template) return inquiry.template
  const id = isRecord(body) ? body['templateId'] : undefined
  return typeof id === 'string' && id !== '' ? usableTemplate(inquiry, id) : undefined
}

/** Finds the template's faults in an invalid body, so that people get all faults at once. */
function furtherFaults(template: Template | undefined, body: unknown, now: Date): Fault[] {
  const parts = siteRequest.pick({ metadata: true, labelId: true }).loose().safeParse(body)
  if (!parts.success || !template) return []
  return [...labelFaults(template, parts.data.labelId), ...answersOf(template.fields, parts.data.metadata, now).faults]
}

async function ownersOf({ ports, actor }: RequestInquiry, ids: readonly string[], all: readonly string[]) {
  const named = ids.map((owner) => ({
    id: owner,
    pointer: `/owners/${all.indexOf(owner)}`,
    as: 'siteOwner' as const,
  }))
  const { people, accounts, faults } = await peopleNamed(ports, named)
  const owning = accountsAt(named, accounts, 'ownership')
  return {
    people: [asPerson(actor), ...people.filter(({ id }) => id !== actor.id)],
    guests: guestsAmong(accounts),
    faults: [...faults, ...unavailableFaults(owning)],
  }
}
