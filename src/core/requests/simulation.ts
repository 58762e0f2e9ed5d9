import { z } from 'zod'
import {
  type Actor,
  asking,
  asPerson,
  because,
  type Context,
  defineUseCase,
  type FaultCode,
  fault,
  isMailboxKind,
  type Person,
  ProvisioningError,
  person,
  type Reason,
  refuseFields,
  type Settings,
  type SystemContext,
  unreadableAccount,
} from '../shared/index.ts'
import { type Template, unknownTemplate } from '../templates/index.ts'
import { isRecord } from './plan.ts'
import type { RequestPorts } from './ports.ts'
import { type Checks, type Previewed, previewOf, type RequestPreview, requestPreview } from './preview.ts'
import { quotaUse } from './template-rules.ts'

/** Whether a person may use a template, and why. */
const templateAccess = z.strictObject({
  mayUse: z.boolean(),
  because: z
    .enum(['everybody', 'named', 'inGroup', 'outside', 'switchedOff'])
    .describe('`named`: in the audience by id. `inGroup`: through these groups. `outside`: the audience has neither.'),
  groups: z.array(z.uuid()).describe('Groups of the audience that they are in.'),
})
type TemplateAccess = z.output<typeof templateAccess>

const share = z.strictObject({ most: z.int(), left: z.int() })
const quotaLeft = z.strictObject({
  openRequests: share.optional().describe('Open requests of the person, of all templates.'),
  openOfTemplate: share.optional().describe('Open requests of the person, of this template.'),
  resources: share.optional().describe('What may be made of this template.'),
})
type QuotaLeft = z.output<typeof quotaLeft>

/** A preview for somebody else's eyes: what it would be if that person asked. */
export const simulatedPreview = requestPreview.extend({
  simulated: z.strictObject({ person, access: templateAccess, quota: quotaLeft }),
})
type SimulatedPreview = Pick<z.output<typeof simulatedPreview>, 'simulated'> & RequestPreview & Previewed

/**
 * Previews a body as if another person sent it. A template that this person may not use is one more fault of the preview.
 */
async function previewAs(
  context: Context<RequestPorts>,
  personId: string,
  body: unknown,
  as = (template: Template): Template => template,
): Promise<SimulatedPreview> {
  const { ports, settings, actor: admin } = context
  const actor = await simulatedActor(ports, settings, personId)
  const templateId = isRecord(body) ? body['templateId'] : undefined
  const isNamed = typeof templateId === 'string' && templateId !== ''
  const template = isNamed ? await ports.templates.find(admin.tenantId, templateId) : undefined
  if (isNamed && !template) return refuseFields([unknownTemplate()])
  const preview = await previewOf({ ...context, actor }, body, template && as(template))
  const used = template ?? (await ports.templates.find(admin.tenantId, preview.templateId))
  if (!used) return refuseFields([unknownTemplate()])
  const [access, quota] = await Promise.all([accessOf(ports, used, actor), quotaOf(context, used, actor)])
  const simulated = { person: asPerson(actor), access, quota }
  if (access.mayUse) return { ...preview, simulated }
  const outside = fault('/templateId', 'unknown-template', because('templateNotForThem', { name: actor.displayName }))
  return { ...preview, valid: false, errors: [outside, ...preview.errors], simulated }
}

/** The same for an admin, in turn with all other checks. */
export const previewRequestAs = defineUseCase({
  permission: 'request.simulate',
  input: z.object({ personId: z.string(), body: z.unknown() }),
  handle: (context: Context<RequestPorts & Checks>, { personId, body }): Promise<SimulatedPreview> =>
    context.ports.checks.inTurn(() => previewAs(context, personId, body)),
})

/** The person as somebody who asks. Refuses, at `/as`, those who cannot ask for anything here. */
async function simulatedActor(ports: RequestPorts, { tenantId }: Settings, personId: string): Promise<Actor> {
  const refuse = (code: FaultCode, reason: Reason) => refuseFields([fault('/as', code, reason)])
  const [found, isGuest] = await asking(() =>
    Promise.all([ports.directory.person(personId), ports.directory.isGuest(personId)]),
  )
  if (!found) return refuse('unknown-person', because('idUnknown'))
  if (found.isBlocked || found.isGuest || isGuest) {
    const facts = { name: found.displayName, is: found.isBlocked ? 'blocked' : 'guest' }
    return refuse('invalid', because('cannotRequest', facts))
  }
  if (found.unread) return refuse('unreadable-person', unreadableAccount(found.displayName, found.unread))
  const { id, displayName, userPrincipalName } = found
  return { id, displayName, userPrincipalName, tenantId, isAdmin: false }
}

async function accessOf(
  { directory }: Pick<RequestPorts, 'directory'>,
  { active, audience }: Template,
  { id }: Person,
): Promise<TemplateAccess> {
  const known = audience && audience.groups.length > 0 ? await asking(() => directory.groupsOf(id)) : new Set<string>()
  const groups = (audience?.groups ?? []).filter((group) => known.has(group))
  if (!active) return { mayUse: false, because: 'switchedOff', groups }
  if (audience === null) return { mayUse: true, because: 'everybody', groups }
  if (audience.people.includes(id)) return { mayUse: true, because: 'named', groups }
  return groups.length > 0
    ? { mayUse: true, because: 'inGroup', groups }
    : { mayUse: false, because: 'outside', groups }
}

async function quotaOf(
  { ports, settings }: SystemContext<RequestPorts>,
  template: Template,
  actor: Actor,
): Promise<QuotaLeft> {
  const { openRequestsPerPerson: most } = settings
  const { openPerPerson, resources } = template.quota
  const [open, { own, all }] = await Promise.all([
    most === 0 ? 0 : ports.requests.countOpen(actor.tenantId, actor.id),
    quotaUse({ ports, actor, but: [] }, template),
  ])
  const left = (limit: number, used: number) => ({ most: limit, left: Math.max(0, limit - used) })
  return {
    ...(most > 0 && { openRequests: left(most, open) }),
    ...(openPerPerson !== undefined && { openOfTemplate: left(openPerPerson, own) }),
    ...(resources !== undefined && { resources: left(resources, all) }),
  }
}

/** What a template does for somebody, shown by an example. */
export interface Simulation {
  readonly template: Template
  readonly preview: SimulatedPreview
  /** What the directory calls the groups through which they may use it, by id. A group that is gone has no name. */
  readonly groupNames: Readonly<Record<string, string>>
  /** Stages, by their number, that are asked only where their conditions hold. */
  readonly conditional: readonly number[]
  /** Nobody at all could approve, not even an admin. */
  readonly nobodyApproves: boolean
}

/** As many groups as a card has room for. */
const mostNamed = 3

/** Stands for the values that a person would enter. */
const example = { displayName: 'Example', name: 'example' }

/** What a template does for somebody: every stage of its approval, whatever would be asked for. */
export const simulate = defineUseCase({
  permission: 'request.simulate',
  input: z.object({ templateId: z.string(), personId: z.string() }),
  async handle(context: Context<RequestPorts>, { templateId, personId }): Promise<Simulation> {
    const { ports, actor } = context
    const template = await ports.templates.find(actor.tenantId, templateId)
    if (!template) throw new ProvisioningError('not-found', because('noSuchTemplate'))
    const { displayName, name } = example
    const body = { templateId, displayName, ...(isMailboxKind(template.kind) && { name }) }
    const previewOf = (approval: Template['approval']) =>
      previewAs(context, personId, body, (found) => ({ ...found, approval }))
    const stages = template.approval?.stages ?? []
    const conditional = stages.flatMap(({ when }, index) => (when ? [index + 1] : []))
    const always = template.approval && { ...template.approval, stages: stages.map(({ when: _, ...stage }) => stage) }
    try {
      return await named(ports, { template, preview: await previewOf(always), conditional, nobodyApproves: false })
    } catch (error) {
      // A directory that does not answer is the cause of its error; that nobody is left has none.
      const isNobody = error instanceof ProvisioningError && error.code === 'unavailable' && error.cause === undefined
      if (!isNobody) throw error
      return named(ports, { template, preview: await previewOf(null), conditional, nobodyApproves: true })
    }
  },
})

/** The same with names for the groups that an admin knows by them. */
async function named({ directory }: RequestPorts, simulation: Omit<Simulation, 'groupNames'>): Promise<Simulation> {
  const shown = simulation.preview.simulated.access.groups.slice(0, mostNamed)
  const names = await asking(() => Promise.all(shown.map(async (id) => [id, await directory.groupName(id)] as const)))
  return { ...simulation, groupNames: Object.fromEntries(names.flatMap(([id, name]) => (name ? [[id, name]] : []))) }
}
