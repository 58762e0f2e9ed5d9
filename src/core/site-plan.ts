import { asking, resolveApprovals } from './approvers.ts'
import type { Fault } from './errors.ts'
import { freeName, siteNameFree } from './free-name.ts'
import { addressOf } from './naming.ts'
import {
  type Evaluation,
  type Inquiry,
  peopleNamed,
  refused,
  type SitePlan,
  tooLong,
  unknownTemplate,
  usableTemplate,
} from './plan.ts'
import type { RequestForSite } from './request.ts'
import { isMailboxKind, type Person } from './resource.ts'
import { siteRequest, stepsOfSite } from './site.ts'
import type { Template } from './template.ts'
import { templateFaults } from './template-rules.ts'
import { fault, faultsOf } from './validation.ts'

/** Checks a site request of the API document against its template, the directory and the names in use. Writes nothing. */
export async function evaluateSite(inquiry: Inquiry, body: unknown): Promise<Evaluation> {
  const { ports, settings, actor, requestId } = inquiry
  const parsed = siteRequest.safeParse(body)
  if (!parsed.success) return refused(...faultsOf(parsed.error, body), ...(await furtherFaults(inquiry, body)))
  const { templateId, ...given } = parsed.data
  const template = await usableTemplate(ports, actor, templateId)
  if (!template) return refused(unknownTemplate())
  const { kind } = template
  if (isMailboxKind(kind))
    return refused(
      fault('/templateId', 'wrong-resource', `${template.name} is a template for a mailbox, not for a site.`),
    )
  // What is left open the template decides.
  const details = { ...given, labelId: given.labelId || (template.labels.default ?? '') }
  return asking(async () => {
    const owners = await ownersOf(inquiry, details.owners)
    const faults = [...templateFaults(template, details), ...owners.faults, ...ownerLimits(template, owners.people)]
    const address = addressOf(template, details, requestId)
    const free = await freeName(inquiry, template.naming, address, siteNameFree(inquiry))
    faults.push(...tooLong('/alias', address))
    if (free.taken) faults.push(nameTaken(address.alias, free.taken.suggestion))
    if (faults.length > 0) return refused(...faults)
    const alias = free.name
    const asked = { details: { ...details, owners: owners.people }, owners: owners.people }
    const resolved = await resolveApprovals(ports, settings, template.approval, actor, asked)
    const url = `${ports.tenant.siteRoot}${alias}`
    const names = [{ name: alias, pointer: '/alias' }]
    const { passedOver = [] } = free
    const people = owners.people
    const plan = { kind, template, details, owners: people, alias, passedOver, url, ...resolved, reason: '', names }
    return { ok: true, plan }
  })
}

/** What a request keeps of its plan. */
export function siteOf({ kind, details, owners, alias, passedOver = [] }: SitePlan, requesterId: string) {
  return {
    kind,
    details,
    owners: [...owners],
    alias,
    ...(passedOver.length > 0 && { passedOver: [...passedOver] }),
    steps: stepsOfSite(details, requesterId).map((name) => ({ name, status: 'pending' as const, attempts: 0 })),
    progress: {},
    resource: null,
  } satisfies Partial<RequestForSite>
}

const nameTaken = (alias: string, suggestion: string): Fault =>
  fault('/alias', 'name-taken', `${alias} is taken. Try ${suggestion || 'another'}.`, suggestion)

/** What the template finds wrong in a body that is wrong elsewhere, so that people hear of all faults at once. */
async function furtherFaults({ ports, actor }: Inquiry, body: unknown): Promise<Fault[]> {
  const parts = siteRequest.pick({ templateId: true, metadata: true, labelId: true }).loose().safeParse(body)
  const template = parts.success ? await usableTemplate(ports, actor, parts.data.templateId) : undefined
  return parts.success && template ? templateFaults(template, parts.data) : []
}

async function ownersOf({ ports, actor }: Inquiry, ids: readonly string[]) {
  const { id, displayName, userPrincipalName } = actor
  const named = ids.map((owner, index) => ({ id: owner, pointer: `/owners/${index}`, as: 'Owner' }))
  const { people, faults } = await peopleNamed(ports, named)
  return { people: [{ id, displayName, userPrincipalName }, ...people.filter((one) => one.id !== id)], faults }
}

function ownerLimits({ limits }: Template, owners: readonly Person[]): Fault[] {
  const { ownersMinimum, ownersMaximum } = limits
  if (owners.length < ownersMinimum) {
    const said = `This template wants at least ${ownersMinimum} owners, you included.`
    return [fault('/owners', 'owners-minimum', said, String(ownersMinimum))]
  }
  if (owners.length > ownersMaximum) {
    const said = `This template allows at most ${ownersMaximum} owners, you included.`
    return [fault('/owners', 'owners-maximum', said, String(ownersMaximum))]
  }
  return []
}
