import { z } from 'zod'
import { approvalStage } from '../approvals/index.ts'
import { check, mailboxDetails, mailboxResource, siteDetails, siteNames, siteResource } from '../resources/index.ts'
import { instant, mailboxKind, person, problemForPeople, requestState, siteKind } from '../shared/index.ts'
import { basedOn, isForMailbox, problem, type Request, referenceOf, requestStep } from './request.ts'

const reason = z.string().optional()
const common = {
  requestId: z.uuid(),
  reference: z.string(),
  tenantId: z.uuid(),
  templateId: z.uuid(),
  status: requestState,
  approvalRequired: z.boolean(),
  requester: person,
  basedOn: basedOn.optional(),
  submittedAt: instant,
  updatedAt: instant,
  approvals: z.array(approvalStage.omit({ membership: true, place: true })),
  steps: z.array(requestStep),
  checks: z.array(check),
  problem: problem.nullable(),
  reducedAt: instant.optional().describe('When its details were removed; what is left is what the audit needs.'),
}

/**
 * The request as the API shows it (DESIGN §5). Its details are what was asked for, with the names and addresses that the
 * naming policy made of it; what the tenant has no place for is kept here alone.
 */
export const requestView = z.discriminatedUnion('kind', [
  z.object({
    ...common,
    kind: siteKind,
    details: siteDetails.extend({ reason }),
    resource: siteResource.nullable(),
    createdAs: siteNames
      .optional()
      .describe('Team sites: the names in Entra ID. The naming policy of the tenant may have changed those requested.'),
  }),
  z.object({
    ...common,
    kind: mailboxKind,
    details: mailboxDetails.extend({ reason }),
    resource: mailboxResource.nullable(),
  }),
])
export type RequestView = z.output<typeof requestView>

export function viewOf(request: Request): RequestView {
  const { requestId, tenantId, status, requester, submittedAt, updatedAt, approvals, steps, checks, problem } = request
  const shared = {
    requestId,
    reference: referenceOf(request),
    tenantId,
    templateId: request.template.id,
    status,
    approvalRequired: approvals.length > 0,
    requester,
    ...(request.basedOn && { basedOn: request.basedOn }),
    submittedAt,
    updatedAt,
    approvals: approvals.map(({ membership: _, place: __, ...stage }) => stage),
    steps,
    checks,
    problem,
    ...(request.reducedAt !== undefined && { reducedAt: request.reducedAt }),
  }
  const reason = request.reason && { reason: request.reason }
  if (!isForMailbox(request)) {
    const { kind, resource, alias } = request
    const { createdAs } = request.progress
    const owners = request.owners.map(({ id }) => id)
    return {
      ...shared,
      kind,
      details: { ...request.details, alias, owners, ...reason },
      resource,
      ...(createdAs && { createdAs }),
    }
  }
  const { kind, resource, aliasAddress } = request
  const [name = '', domain = ''] = request.address.split('@')
  const alias = aliasAddress && { alias: aliasAddress }
  return { ...shared, kind, details: { ...request.details, name, domain, ...alias, ...reason }, resource }
}

/** The request as this person may see it: only admins read which permission, host or setting is wrong, and Microsoft's codes. */
export function requestFor(request: Request, { isAdmin }: { readonly isAdmin: boolean }): Request {
  if (isAdmin) return request
  const steps = request.steps.map((step) =>
    step.problem ? { ...step, problem: problemForPeople(step.problem) } : step,
  )
  return { ...request, steps, problem: request.problem && problemForPeople(request.problem) }
}

export const viewFor = (request: Request, viewer: { readonly isAdmin: boolean }): RequestView =>
  viewOf(requestFor(request, viewer))

/** The data of a timeline's entry as this person may see it. */
export function entryDataFor<T extends Readonly<Record<string, unknown>>>(
  data: T,
  { isAdmin }: { isAdmin: boolean },
): T {
  const { code, detail } = data
  if (isAdmin || typeof code !== 'string' || typeof detail !== 'string') return data
  return { ...data, ...problemForPeople({ code, detail }) }
}
