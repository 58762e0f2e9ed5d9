import { z } from 'zod'
import { slug } from '../naming/index.ts'
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
  isRecord,
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
import type { RequestPorts } from './ports.ts'
import { type Checks, type Previewed, previewOf, type RequestPreview, requestPreview } from './preview.ts'
import { quotaUse } from './template-rules.ts'

/** Whether a person may use a template, and why. */
const templateAccess = z.strictObject({
  mayUse: z.boolean(),
  because: z
    .enum(['everybody', 'named', 'inGroup', 'outside', 'switchedOff'])
    .describe('`named`: in the audience by id. `inGroup`: in these groups. `outside`: in neither.'),
  groups: z.array(z.uuid()).describe('The groups of the audience that contain the person.'),
})
type TemplateAccess = z.output<typeof templateAccess>

const share = z.strictObject({ most: z.int(), left: z.int() })
const quotaLeft = z.strictObject({
  openRequests: share.optional().describe('Open requests of the person for all templates.'),
  openOfTemplate: share.optional().describe('Open requests of the person for this template.'),
  resources: share.optional().describe('Resources of this template.'),
})
type QuotaLeft = z.output<typeof quotaLeft>

/** A preview as another person. */
export const simulatedPreview = requestPreview.extend({
  simulated: z.strictObject({ person, access: templateAccess, quota: quotaLeft }),
})
type SimulatedPreview = Pick<z.output<typeof simulatedPreview>, 'simulated'> & RequestPreview & Previewed

/**
 * Previews a body as another person. A template that this person may not use is one more fault of the preview.
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

/** Previews a body as another person for an admin, in turn with all other checks. */
export const previewRequestAs = defineUseCase({
  permission: 'request.simulate',
  input: z.object({ personId: z.string(), body: z.unknown() }),
  handle: (context: Context<RequestPorts & Checks>, { personId, body }): Promise<SimulatedPreview> =>
    context.ports.checks.inTurn(() => previewAs(context, personId, body)),
})

/** Returns the person as an actor. Throws a fault at `/as` for a person who cannot send requests. */
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

/** The effect of a template for a person, with an example. */
export interface Simulation {
  readonly template: Template
  readonly preview: SimulatedPreview
  /** The directory's names of the groups that give access, by id. A deleted group has no name. */
  readonly groupNames: Readonly<Record<string, string>>
  /** The numbers of the stages that depend on conditions. */
  readonly conditional: readonly number[]
  /** Whether nobody could approve, not even an admin. */
  readonly nobodyApproves: boolean
}

/** The maximum number of groups on a card. */
const maxNamed = 3

/**
 * Simulates a template for a person, with all stages of its approval, also those that depend on conditions. `example`: the
 * display name instead of a person's answer.
 */
export const simulate = defineUseCase({
  permission: 'request.simulate',
  input: z.object({ templateId: z.string(), personId: z.string(), example: z.string() }),
  async handle(context: Context<RequestPorts>, { templateId, personId, example }): Promise<Simulation> {
    const { ports, actor } = context
    const template = await ports.templates.find(actor.tenantId, templateId)
    if (!template) throw new ProvisioningError('not-found', because('noSuchTemplate'))
    const body = { templateId, displayName: example, ...(isMailboxKind(template.kind) && { name: slug(example) }) }
    const previewOf = (approval: Template['approval']) =>
      previewAs(context, personId, body, (found) => ({ ...found, approval }))
    const stages = template.approval?.stages ?? []
    const conditional = stages.flatMap(({ when }, index) => (when ? [index + 1] : []))
    const always = template.approval && { ...template.approval, stages: stages.map(({ when: _, ...stage }) => stage) }
    const found = await previewOf(always)
    const nobodyApproves = found.outlook.nobodyApproves === true
    const preview = nobodyApproves ? await previewOf(null) : found
    return named(ports, { template, preview, conditional, nobodyApproves })
  },
})

/** Adds the names of the groups. */
async function named({ directory }: RequestPorts, simulation: Omit<Simulation, 'groupNames'>): Promise<Simulation> {
  const shown = simulation.preview.simulated.access.groups.slice(0, maxNamed)
  const names = await asking(() => Promise.all(shown.map(async (id) => [id, await directory.groupName(id)] as const)))
  return { ...simulation, groupNames: Object.fromEntries(names.flatMap(([id, name]) => (name ? [[id, name]] : []))) }
}
