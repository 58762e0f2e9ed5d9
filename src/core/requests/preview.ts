import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import {
  type ApprovalStage,
  approvalStage,
  type Foreseen,
  isFinal,
  judgedBy,
  realigned,
  resolveApprovals,
  type Warning,
  warningCodes,
  warningsOf,
} from '../approvals/index.ts'
import { type SimilarResources, similarAmong, similarCandidates, similarResources } from '../naming/index.ts'
import { mailboxRequest } from '../resources/index.ts'
import {
  type Actor,
  asking,
  because,
  type Context,
  createGate,
  defineUseCase,
  type Fault,
  faultsOf,
  type GateLimits,
  isMailboxKind,
  isRecord,
  onePerPointer,
  originNow,
  ProvisioningError,
  type ResourceKind,
  readsOf,
  refuseFields,
  resourceKind,
  shownFault,
  TenantError,
} from '../shared/index.ts'
import {
  type Applied,
  addressRuleOf,
  applied,
  type Template,
  unknownTemplate,
  usableTemplate,
} from '../templates/index.ts'
import { isNoId, withoutAbsent } from './applicable-fields.ts'
import { awayOf } from './change.ts'
import { fieldWarnings } from './field-warnings.ts'
import { chosenTemplate, evaluateMailbox } from './mailbox-plan.ts'
import { type Evaluation, type Glimpse, isForMailboxPlan, type Plan, type RequestInquiry } from './plan.ts'
import type { RequestPorts } from './ports.ts'
import { evaluateSite } from './site-plan.ts'
import { noApprover, openFaults } from './template-rules.ts'

/** The two types of resource in the API document. Each has its own endpoint. */
export type Resource = 'site' | 'mailbox'
export const resourceOf = (kind: ResourceKind): Resource => (isMailboxKind(kind) ? 'mailbox' : 'site')

const evaluations = { site: evaluateSite, mailbox: evaluateMailbox } as const satisfies Record<Resource, unknown>

/**
 * Returns the plan of a request, or its faults. Writes nothing. Throws `unavailable` if the directory does not answer.
 */
export async function evaluate(inquiry: RequestInquiry, resource: Resource, body: unknown): Promise<Evaluation> {
  const evaluation = await evaluations[resource](inquiry, withoutAbsent(resource, body))
  return evaluation.ok ? evaluation : { ...evaluation, faults: onePerPointer(evaluation.faults) }
}

/** Information for people before they send a request, in addition to its plan. */
export interface Outlook {
  /** All stages, with the delegates of people who are away today. */
  readonly approvals: readonly ApprovalStage[]
  readonly warnings: readonly Warning[]
  /** A stage has no approver, not even an admin. */
  readonly nobodyApproves?: boolean
}

/** Adds the delegates of absent approvers, and the warnings. */
export async function outlookOf({ ports, actor }: Context<RequestPorts>, foreseen: Foreseen): Promise<Outlook> {
  const at = ports.clock.now().toISOString()
  const away = await awayOf(ports, { tenantId: actor.tenantId, approvals: [...foreseen.approvals] }, at)
  const approvals = foreseen.approvals.map((stage) => realigned(stage, away, actor.id, at))
  return { approvals, warnings: warningsOf({ ...foreseen, approvals }) }
}

/** Returns the parts of a plan that the warnings need. */
export function foreseenIn(plan: Plan, requestId: string): Foreseen {
  const { template, details, approvals, emptyTokens, passedOver = [] } = plan
  const isMailbox = isForMailboxPlan(plan)
  const name = isMailbox ? plan.address.slice(0, plan.address.indexOf('@')) : plan.alias
  const ofFields = isMailbox ? fieldWarnings(plan) : []
  return { requestId, template, details, approvals, emptyTokens, name, passedOver, ofFields }
}

const foreseenNames = z.strictObject({
  displayName: z.string().describe('The name for people.'),
  alias: z.string().optional().describe('For a site: the last part of its URL. For a mailbox: its additional address.'),
  url: z.string().optional().describe('For a site.'),
  address: z.string().optional().describe('For a mailbox.'),
  free: z.boolean().describe('Whether these addresses are free: no resource has them and no other request holds them.'),
  suggestion: z.string().optional().describe('A free name to request instead, if the name is not free.'),
  final: z
    .boolean()
    .describe('False if the name contains a number or a part of the id that the request gets when it is sent.'),
})
const foreseenStage = approvalStage.pick({
  stage: true,
  rule: true,
  quorum: true,
  approvers: true,
  selfApproval: true,
  resolvedTo: true,
  resolvedFor: true,
  standIns: true,
})

/** The preview of a request before it is sent. */
export const requestPreview = z.strictObject({
  valid: z.boolean().describe('Whether the call that creates the request would accept this body now.'),
  kind: resourceKind,
  templateId: z.uuid(),
  templateVersion: z.int(),
  names: foreseenNames.nullable().describe('null if the body has no name to derive them from.'),
  approvals: z
    .array(foreseenStage)
    .describe('The stages of the request with their current approvers. Empty if `errors` contains `no-approver`.'),
  defaults: z.array(applied).describe('The values that the template sets.'),
  warnings: z.array(
    z.strictObject({
      code: z.enum(warningCodes),
      field: z.string().optional().describe('The field that can resolve the warning.'),
      detail: z.string(),
    }),
  ),
  similar: z.strictObject({
    value: similarResources.shape.resources,
    more: similarResources.shape.more,
  }),
  errors: z.array(shownFault).describe('All faults that the call would return, and `no-approver` next to them.'),
})
export type RequestPreview = Omit<z.output<typeof requestPreview>, 'errors' | 'warnings'> & {
  readonly errors: readonly Fault[]
  readonly warnings: readonly Warning[]
}
/** A preview with the outlook that cards need. */
export type Previewed = RequestPreview & { readonly outlook: Outlook }

/**
 * Previews a body for the actor. Writes nothing and takes no number. The answer contains the faults. Throws `validation-failed`
 * only if the body is not an object or has no template that the actor may use. `template`: already checked.
 */
export async function previewOf(
  context: Context<RequestPorts>,
  body: unknown,
  template?: Template,
): Promise<Previewed> {
  const { ports, settings, actor } = context
  if (!isRecord(body)) return refuseFields(faultsOf(mailboxRequest.safeParse(body).error ?? new z.ZodError([]), body))
  const base = { ports, settings, actor, requestId: randomUUID(), isSubmission: false, crowded: false } as const
  const used = template ?? (await templateOf(base, body))
  const inquiry = { ...base, template: used, isPreview: true } as const
  const resource = resourceOf(used.kind)
  refuseSitesOfApplications(actor, resource)
  const { displayName } = body
  const sought = { kind: used.kind, displayName: typeof displayName === 'string' ? displayName : '' }
  const [evaluation, candidates, open] = await Promise.all([
    evaluate(inquiry, resource, body),
    actor.clientId === undefined ? similarCandidates(ports, sought) : [],
    openFaults(ports, settings, actor),
  ])
  const found = onePerPointer([...(evaluation.ok ? [] : evaluation.faults), ...open])
  const preview = evaluation.ok ? ofPlan(evaluation.plan, inquiry) : await ofGlimpse(evaluation.glimpse, found, inquiry)
  // A preview without stages would otherwise look like a request that needs no approval.
  const faults = preview.nobodyApproves && !found.some(isNoApprover) ? [...found, noApprover()] : found
  const address = preview.names?.url ?? preview.names?.address
  const [outlook, similar] = await Promise.all([
    outlookOf(context, preview.foreseen),
    similarAmong(context, { ...sought, ...(address !== undefined && { address }) }, candidates),
  ])
  return shown(used, preview, outlook, similar, faults)
}

/** Throws `forbidden` if an application requests a site: applications can request only mailboxes. */
export function refuseSitesOfApplications(actor: Actor, resource: Resource): void {
  if (resource === 'site' && actor.clientId !== undefined)
    throw new ProvisioningError('forbidden', because('sitesNeedPerson'))
}

/** Previews a body for the actor, in turn with all other checks. */
export const previewRequest = defineUseCase({
  permission: 'request.create',
  input: z.object({ body: z.unknown() }),
  handle: (context: Context<RequestPorts & Checks>, { body }): Promise<Previewed> =>
    context.ports.checks.inTurn(() => previewOf(context, body)),
})

/** Returns the template whose id is in a body, if the actor may use it. */
export async function namedTemplate(context: Context<RequestPorts>, body: unknown): Promise<Template | undefined> {
  const templateId = isRecord(body) ? body['templateId'] : undefined
  return typeof templateId === 'string' && !isNoId(templateId) ? usableTemplate(context, templateId) : undefined
}

/** Returns the template of a body: by its id or, for a mailbox, by its fields. */
export async function templateOf(inquiry: RequestInquiry, body: Record<string, unknown>): Promise<Template> {
  const { templateId } = body
  if (typeof templateId === 'string' && !isNoId(templateId))
    return (await namedTemplate(inquiry, body)) ?? refuseFields([unknownTemplate()])
  const chosen = await chosenTemplate(inquiry, body)
  return 'template' in chosen ? chosen.template : refuseFields([chosen.fault])
}

const isNoApprover = ({ code }: Fault): boolean => code === 'no-approver'

type Names = z.output<typeof foreseenNames>
/** The result of a preview without the parts for the answer. */
interface Findings {
  readonly foreseen: Foreseen
  readonly names: Names | null
  readonly applied: readonly Applied[]
  readonly nobodyApproves: boolean
}
type PreviewInquiry = RequestInquiry & { readonly template: Template }

/** Returns the names of a valid plan. */
export const namesOfPlan = (plan: Plan, requestId: string): Names =>
  ofPlan(plan, { requestId }).names ?? { displayName: plan.details.displayName, free: true, final: false }

function ofPlan(plan: Plan, { requestId }: Pick<PreviewInquiry, 'requestId'>): Findings {
  const foreseen = foreseenIn(plan, requestId)
  const { displayName } = plan.details
  const found = { displayName, free: true, final: isFinal(foreseen) }
  const known = { foreseen, applied: plan.applied, nobodyApproves: false }
  if (!isForMailboxPlan(plan)) return { ...known, names: { ...found, alias: plan.alias, url: plan.url } }
  const alias = plan.aliasAddress && { alias: plan.aliasAddress }
  return { ...known, names: { ...found, address: plan.address, ...alias } }
}

/** Returns the findings about an invalid body, as far as it is readable. */
async function ofGlimpse(
  glimpse: Glimpse | undefined,
  faults: readonly Fault[],
  inquiry: PreviewInquiry,
): Promise<Findings> {
  const { ports, settings, actor, template, requestId } = inquiry
  const { details = {}, owners = [], applied = [], names, domain, aliasAddress } = glimpse ?? {}
  const policyOf = judgedBy(template, { details, applied, owners, name: names?.name, domain, aliasAddress })
  const resolved = faults.some(isNoApprover)
    ? undefined
    : await asking(() => resolveApprovals({ ports, settings }, template.approval, actor, policyOf))
  const foreseen: Foreseen = {
    requestId,
    template,
    details,
    approvals: resolved?.approvals ?? [],
    name: names?.name ?? '',
    passedOver: names?.passedOver ?? [],
    emptyTokens: names?.emptyTokens ?? [],
  }
  const known = { foreseen, applied, nobodyApproves: resolved === undefined }
  if (!glimpse || !names || names.displayName === '') return { ...known, names: null }
  const taken = faults.filter(({ code }) => code === 'name-taken')
  const own = taken.find(({ pointer }) => pointer === `/${addressRuleOf(template.kind)}`)
  const suggestion = own?.suggestion && { suggestion: own.suggestion }
  const { displayName } = names
  const name = own ? names.wanted : names.name
  const found = { displayName, free: taken.length === 0, ...suggestion, final: isFinal(foreseen) }
  return {
    ...known,
    names:
      domain === undefined
        ? { ...found, alias: name, url: `${ports.tenant.siteRoot}${name}` }
        : { ...found, address: `${name}@${domain}`, ...(aliasAddress && { alias: aliasAddress }) },
  }
}

function shown(
  template: Template,
  { names, applied, nobodyApproves }: Findings,
  outlook: Outlook,
  { resources, more }: SimilarResources,
  faults: readonly Fault[],
): Previewed {
  const { approvals, warnings } = outlook
  const count = resources.length + more
  const similar = { code: 'similar', field: 'displayName', reason: because('similarExist', { count }) } as const
  return {
    valid: faults.length === 0,
    kind: template.kind,
    templateId: template.id,
    templateVersion: template.version,
    names,
    approvals: approvals.map((stage) => foreseenStage.strip().parse(stage)),
    defaults: [...applied],
    warnings: count > 0 ? [...warnings, similar] : warnings,
    similar: { value: resources, more },
    errors: faults.map((one) => ({ ...one })),
    outlook: { ...outlook, nobodyApproves },
  }
}

/**
 * The limits of concurrent checks. A check uses the processor and the store for some tens of milliseconds, so more checks at a
 * time would only delay all other work. People fill in one form at a time.
 */
const limits: GateLimits = {
  running: 4,
  forIdentity: 0,
  runningOfOne: 2,
  waiting: 200,
  waitingOfOne: 40,
  patience: 5000,
  patienceOfJobs: 30_000,
}

/** Runs checks for previews and forms, a limited number at a time. */
export function createChecks({ rateLimits }: Pick<RequestPorts, 'rateLimits'>) {
  const gate = createGate('previews', limits)
  /** Runs a check in its caller's turn. Throws `unavailable` while too many wait. */
  const inTurn = <T>(check: () => Promise<T>): Promise<T> => asking(() => gate.pass(check, originNow().abandoned))
  return {
    inTurn,
    /** Runs a check of a form in chat, and counts it for the person like a preview by REST. */
    async ofForm<T>(actor: Actor, values: object, check: () => Promise<T>): Promise<T> {
      const seconds = await rateLimits.takeReads(actor, readsOf(values))
      if (seconds === 0) return inTurn(check)
      const reason = because('checksRateLimited', { seconds })
      const cause = new TenantError('busy', reason, { retryable: true, retryAfterSeconds: seconds })
      throw new ProvisioningError('unavailable', reason, { cause })
    },
  }
}
export interface Checks {
  readonly checks: ReturnType<typeof createChecks>
}
