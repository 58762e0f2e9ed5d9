import type { Actor } from './access.ts'
import { type ApprovalStage, approvalStage } from './approval.ts'
import { type Fault, ProvisioningError, TenantError } from './errors.ts'
import { addressOf, alternatives, ownAddress } from './naming.ts'
import type { Ports, Settings } from './ports.ts'
import { isRequestKind, type Metadata, type Person, type RequestKind } from './resource.ts'
import { type SiteDetails, siteRequest } from './site.ts'
import { type ApprovalPolicy, mayUse, type Template } from './template.ts'
import { fault, faultsOf, pointerOf } from './validation.ts'

/** All that follows from what was asked, before anything is written: what a request would be. */
export interface Plan {
  readonly kind: RequestKind
  readonly template: Template
  readonly details: SiteDetails
  /** The requester first, then those named. */
  readonly owners: readonly Person[]
  readonly alias: string
  /** Where the site will be, as far as anybody can know before it is made. */
  readonly url: string
  readonly approvals: readonly ApprovalStage[]
}
export type Evaluation =
  | { readonly ok: true; readonly plan: Plan }
  | { readonly ok: false; readonly faults: readonly Fault[] }

/**
 * Checks a site request of the API document against its template, the directory and the names in use. Writes nothing.
 * `unavailable` is thrown when the directory cannot be asked. `crowded`: others keep taking the names that we derive, so
 * the next one is made of the request's id.
 */
export async function evaluate(
  ports: Ports,
  settings: Settings,
  actor: Actor,
  requestId: string,
  body: unknown,
  crowded = false,
): Promise<Evaluation> {
  const parsed = siteRequest.safeParse(body)
  if (!parsed.success)
    return { ok: false, faults: [...faultsOf(parsed.error, body), ...(await furtherFaults(ports, actor, body))] }
  const { templateId, ...details } = parsed.data
  const template = await usableTemplate(ports, actor, templateId)
  const kind = template?.kind
  if (!template || !kind)
    return refused(
      fault(
        '/templateId',
        'unknown-template',
        'There is no such template, or you may not use it. GET /templates/v1/ lists those you may.',
      ),
    )
  if (!isRequestKind(kind))
    return refused(
      fault('/templateId', 'wrong-resource', `${template.name} is a template for a mailbox, not for a site.`),
    )
  return asking(async () => {
    const owners = await ownersOf(ports, actor, details.owners)
    const faults = [...templateFaults(template, details), ...owners.faults, ...ownerLimits(template, owners.people)]
    const address = await freeAddress(ports, kind, template, details, { requestId, tenantId: actor.tenantId, crowded })
    if (address.fault) faults.push(address.fault)
    if (faults.length > 0) return { ok: false, faults }
    const approvals = await resolveApprovals(ports, settings, template.approval, actor)
    const plan = {
      kind,
      template,
      details,
      owners: owners.people,
      alias: address.alias,
      url: `${ports.tenant.siteRoot}${address.alias}`,
      approvals,
    }
    return { ok: true, plan }
  })
}

/** A template that this person may use, or nothing: who may not use it does not learn that it exists. */
export async function usableTemplate(ports: Ports, actor: Actor, templateId: string): Promise<Template | undefined> {
  const template = await ports.templates.find(actor.tenantId, templateId)
  if (!template) return undefined
  const byGroup = template.audience !== null && template.audience.groups.length > 0
  const groups = byGroup ? await asking(() => ports.directory.groupsOf(actor.id)) : new Set<string>()
  return mayUse(template, actor, groups) ? template : undefined
}

const refused = (...faults: Fault[]): Evaluation => ({ ok: false, faults })

/** A directory that does not answer is "try again", not a defect. */
export async function asking<T>(question: () => Promise<T>): Promise<T> {
  try {
    return await question()
  } catch (error) {
    if (!(error instanceof TenantError)) throw error
    throw new ProvisioningError(
      'unavailable',
      'The directory does not answer just now. Please try again in a minute.',
      { cause: error },
    )
  }
}

/** What the template finds wrong in a body that is wrong elsewhere, so that people hear of all faults at once. */
async function furtherFaults(ports: Ports, actor: Actor, body: unknown): Promise<Fault[]> {
  const parts = siteRequest.pick({ templateId: true, metadata: true, labelId: true }).loose().safeParse(body)
  const template = parts.success ? await usableTemplate(ports, actor, parts.data.templateId) : undefined
  return parts.success && template ? templateFaults(template, parts.data) : []
}

function templateFaults(template: Template, { labelId, metadata }: Pick<SiteDetails, 'labelId' | 'metadata'>): Fault[] {
  const faults = template.fields.flatMap((field) => fieldFaults(field, metadata))
  const { allowed } = template.labels
  if (labelId !== '' && !allowed.some(({ id }) => id === labelId)) {
    const names = allowed.map(({ name }) => name).join(', ')
    faults.push(
      fault(
        '/labelId',
        'label-not-allowed',
        names
          ? `labelId must be one of this template's labels: ${names}.`
          : 'This template has no labels; leave labelId out.',
      ),
    )
  }
  return faults
}

function fieldFaults(field: Template['fields'][number], metadata: Metadata): Fault[] {
  const pointer = `/metadata${pointerOf([field.key])}`
  const value = Object.hasOwn(metadata, field.key) ? String(metadata[field.key]) : ''
  if (value === '') return field.required ? [fault(pointer, 'required', `${field.label} is required.`)] : []
  if (field.type === 'choice' && !field.choices.some((choice) => choice.value === value)) {
    return [
      fault(
        pointer,
        'not-a-choice',
        `${field.label} must be one of: ${field.choices.map((choice) => choice.value).join(', ')}.`,
      ),
    ]
  }
  if (field.pattern && !new RegExp(`^(?:${field.pattern})$`, 'u').test(value))
    return [fault(pointer, 'pattern', field.error || `${field.label} does not have the right form.`)]
  return []
}

async function ownersOf(
  ports: Ports,
  actor: Actor,
  ids: readonly string[],
): Promise<{ people: Person[]; faults: Fault[] }> {
  const { id, displayName, userPrincipalName } = actor
  const people: Person[] = [{ id, displayName, userPrincipalName }]
  const found = await Promise.all(ids.map((owner) => ports.directory.person(owner)))
  const faults = found.flatMap((owner, index) =>
    owner
      ? []
      : [fault(`/owners/${index}`, 'unknown-person', `Owner ${ids[index]} is not a person of this organisation.`)],
  )
  for (const owner of found) if (owner && !people.some((known) => known.id === owner.id)) people.push(owner)
  return { people, faults }
}

function ownerLimits({ limits }: Template, owners: readonly Person[]): Fault[] {
  if (owners.length < limits.ownersMinimum) {
    return [
      fault(
        '/owners',
        'owners-minimum',
        `This template wants at least ${limits.ownersMinimum} owners, you included.`,
        String(limits.ownersMinimum),
      ),
    ]
  }
  if (owners.length > limits.ownersMaximum) {
    return [
      fault(
        '/owners',
        'owners-maximum',
        `This template allows at most ${limits.ownersMaximum} owners, you included.`,
        String(limits.ownersMaximum),
      ),
    ]
  }
  return []
}

/** An address that was asked for must itself be free; one that we derive moves on to the next free one. */
async function freeAddress(
  ports: Ports,
  kind: RequestKind,
  template: Template,
  details: SiteDetails,
  { requestId, tenantId, crowded }: { requestId: string; tenantId: string; crowded: boolean },
): Promise<{ alias: string; fault?: Fault }> {
  const { naming } = template
  const address = addressOf(template, details, requestId)
  const own = crowded && !address.asked ? [ownAddress(naming, address.alias, requestId)] : []
  for (const alias of own.length > 0 ? own : alternatives(naming, address.alias, requestId)) {
    const holder = await ports.reservations.holder(tenantId, alias)
    const free = (holder === undefined || holder === requestId) && (await ports.directory.isAddressFree(kind, alias))
    if (!free) continue
    if (alias === address.alias || !address.asked) return { alias }
    return { alias, fault: fault('/alias', 'name-taken', `${address.alias} is taken. Try ${alias}.`, alias) }
  }
  return { alias: address.alias, fault: fault('/alias', 'name-taken', `${address.alias} is taken. Try another.`, '') }
}

/** The people that a policy means today. Nobody approves their own request; a stage that nobody is left for goes to the admins. */
async function resolveApprovals(
  ports: Ports,
  settings: Settings,
  policy: ApprovalPolicy | null,
  requester: Person,
): Promise<ApprovalStage[]> {
  const stages = (policy?.stages ?? []).map(async ({ approvers, rule, quorum }, index) => {
    const named = await Promise.all(approvers.map((one) => peopleOf(ports, one, requester)))
    let people = others(named.flat(), requester)
    if (people.length === 0)
      people = others((await Promise.all(settings.admins.map((id) => personOrMembers(ports, id)))).flat(), requester)
    if (people.length === 0)
      throw new ProvisioningError('unavailable', 'Nobody can approve this request at present. Please tell an admin.')
    return approvalStage.parse({ stage: index + 1, rule, quorum, approvers: people, decisions: [] })
  })
  return Promise.all(stages)
}

async function peopleOf(
  ports: Ports,
  approver: ApprovalPolicy['stages'][number]['approvers'][number],
  requester: Person,
): Promise<Person[]> {
  if ('group' in approver) return ports.directory.membersOf(approver.group)
  const found =
    'user' in approver ? await ports.directory.person(approver.user) : await ports.directory.manager(requester.id)
  return found ? [found] : []
}

/** An id of the settings names a person or a group. */
export async function personOrMembers(ports: Ports, id: string): Promise<Person[]> {
  const found = await ports.directory.person(id)
  return found ? [found] : ports.directory.membersOf(id)
}

function others(people: readonly Person[], requester: Person): Person[] {
  const byId = new Map(people.filter(({ id }) => id !== requester.id).map((one) => [one.id, one]))
  return [...byId.values()]
}
