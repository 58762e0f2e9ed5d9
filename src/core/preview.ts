import type { Actor } from './access.ts'
import type { ApprovalStage } from './approval.ts'
import { asking, resolveApprovals } from './approvers.ts'
import type { Fault } from './errors.ts'
import { addressOf, alternatives, ownAddress } from './naming.ts'
import type { Ports, Settings } from './ports.ts'
import { isRequestKind, type Person, type RequestKind } from './resource.ts'
import { type SiteDetails, siteRequest } from './site.ts'
import { mayUse, type Template } from './template.ts'
import { templateFaults } from './template-rules.ts'
import { fault, faultsOf } from './validation.ts'

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
  const { templateId, ...asked } = parsed.data
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
  // What is left open the template decides.
  const details = { ...asked, labelId: asked.labelId || (template.labels.default ?? '') }
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

/** What the template finds wrong in a body that is wrong elsewhere, so that people hear of all faults at once. */
async function furtherFaults(ports: Ports, actor: Actor, body: unknown): Promise<Fault[]> {
  const parts = siteRequest.pick({ templateId: true, metadata: true, labelId: true }).loose().safeParse(body)
  const template = parts.success ? await usableTemplate(ports, actor, parts.data.templateId) : undefined
  return parts.success && template ? templateFaults(template, parts.data) : []
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
  const [first, ...others] = own.length > 0 ? own : [...alternatives(naming, address.alias, requestId)]
  const isFree = async (alias: string): Promise<boolean> => {
    const holder = await ports.reservations.holder(tenantId, alias)
    return (holder === undefined || holder === requestId) && ports.directory.isAddressFree(kind, alias)
  }
  // The first is nearly always free; when it is not, somebody waits for the next one.
  const alias = (await firstFree([first ?? address.alias], isFree)) ?? (await firstFree(others, isFree))
  if (alias !== undefined && (alias === address.alias || !address.asked)) return { alias }
  const said = `${address.alias} is taken. Try ${alias ?? 'another'}.`
  return { alias: alias ?? address.alias, fault: fault('/alias', 'name-taken', said, alias ?? '') }
}

/** How many addresses are looked at together: each is a question or two to Microsoft 365. */
const atOnce = 3

/** The first in order that is free; beyond those looked at together with it none is looked at. */
async function firstFree(
  aliases: readonly string[],
  isFree: (alias: string) => Promise<boolean>,
): Promise<string | undefined> {
  for (let from = 0; from < aliases.length; from += atOnce) {
    const looked = aliases.slice(from, from + atOnce)
    const free = await Promise.all(looked.map(isFree))
    const found = looked.find((_, index) => free[index])
    if (found !== undefined) return found
  }
  return undefined
}
