import { z } from 'zod'
import { adminsOf, mayTakePart } from '../approvals/index.ts'
import { peopleNamed } from '../requests/index.ts'
import {
  asking,
  asPerson,
  because,
  type Context,
  defineUseCase,
  type Fault,
  fault,
  faultsOf,
  isMailboxKind,
  type Person,
  ProvisioningError,
  refuseFields,
  TenantError,
} from '../shared/index.ts'
import {
  type Approver,
  allNamesOf,
  listTemplates,
  starterKinds,
  starterOf,
  type Template,
  type TemplateDocument,
  templateFromStarter,
  templateWithin,
} from '../templates/index.ts'
import type { OperationPorts } from './ports.ts'
import { describeTemplate, putTemplate, type TemplateReport } from './template-admin.ts'

/** The approvers of a new template. `chosen`: one of the people, or one member of the group. */
export const starterApprovals = ['manager', 'nobody', 'chosen'] as const

/** An admin's answers in the form of a starter. */
export const starterAnswers = z.object({
  name: z.string(),
  description: z.string(),
  prefix: z.string(),
  approvedBy: z.enum(starterApprovals),
  /** Object ids. */
  people: z.array(z.string()),
  /** The id of a group, or the beginning of its name. */
  group: z.string(),
  /** The fewest owners of a site. */
  owners: z.int(),
  /** The maximum storage of a mailbox, in MB. */
  capacity: z.int(),
})
export type StarterAnswers = z.output<typeof starterAnswers>

/** A starter with an admin's answers. `id` is the id of the template from the moment the form opens. */
const startedTemplate = z.object({ kind: z.enum(starterKinds), id: z.uuid().toLowerCase(), answers: starterAnswers })
type StartedTemplate = z.output<typeof startedTemplate>

/** Returns the template that the answers would add, with an example of its names. Throws `validation-failed`. */
export const previewStarter = defineUseCase({
  permission: 'template.write',
  input: startedTemplate,
  async handle(context: Context<OperationPorts>, started): Promise<TemplateReport> {
    const document = await documentOf(context, started)
    return describeTemplate(context, templateWithin([]).parse(document))
  },
})

/**
 * Adds the template of a starter, once: a second call with the same id changes nothing and returns the existing
 * template. Throws `validation-failed`.
 */
export const addFromStarter = defineUseCase({
  permission: 'template.write',
  input: startedTemplate,
  async handle(context: Context<OperationPorts>, started): Promise<{ template: Template; isNew: boolean }> {
    const { ports, actor } = context
    const { id } = started
    const existing = () => ports.templates.find(actor.tenantId, id)
    const before = await existing()
    if (before) return { template: before, isNew: false }
    const body = await documentOf(context, started)
    try {
      return { template: await putTemplate.handle(context, { id, body, expected: 0 }), isNew: true }
    } catch (error) {
      const isOlder = error instanceof ProvisioningError && error.code === 'stale-version'
      const winner = isOlder ? await existing() : undefined
      if (!winner) throw error
      return { template: winner, isNew: false }
    }
  },
})

/** Builds the document of the template. Throws `validation-failed` with a fault for each wrong answer. */
async function documentOf(
  context: Context<OperationPorts>,
  { kind, id, answers }: StartedTemplate,
): Promise<TemplateDocument> {
  const [templates, { approvers, faults }] = await Promise.all([
    listTemplates.handle(context, {}),
    asking(() => approversOf(context, answers)),
  ])
  const { creates } = starterOf(kind)
  const document = templateFromStarter({
    ...{ kind, id, approvers, ownersMinimum: answers.owners, capacityMaximum: answers.capacity },
    ...{ displayName: answers.name.trim(), description: answers.description.trim() },
    prefix: answers.prefix.trim().toLowerCase(),
    default: isMailboxKind(creates) && !templates.some((one) => one.kind === creates && one.default),
  })
  const { error } = templateWithin([]).safeParse(document)
  const wrong = [
    ...(error ? faultsOf(error, document).map(atAnswer) : []),
    ...takenName([answers.name.trim(), document.name], templates),
    ...faults,
  ]
  return wrong.length > 0 ? refuseFields(wrong) : document
}

/** The answer that each part of a template comes from. */
const answerOf: Readonly<Record<string, keyof StarterAnswers>> = {
  naming: 'prefix',
  approval: 'people',
}
const atAnswer = (one: Fault): Fault => {
  const answer = answerOf[one.pointer.split('/')[1] ?? '']
  return answer === undefined ? one : { ...one, pointer: `/${answer}` }
}

/**
 * Refuses a name that another template has in any language, because people choose templates by name. `names`: the typed
 * name, and the own name of the template.
 */
function takenName([name, own]: readonly [string, string], templates: readonly Template[]): Fault[] {
  const taken = new Set(templates.flatMap(allNamesOf).map((one) => one.toLowerCase()))
  const isTaken = (one: string) => taken.has(one.toLowerCase())
  if (!isTaken(name) && !isTaken(own)) return []
  let number = 2
  while (isTaken(`${name} ${number}`)) number += 1
  return [fault('/name', 'name-taken', because('nameLost', { name }), `${name} ${number}`)]
}

async function approversOf(
  context: Context<OperationPorts>,
  { approvedBy, people, group }: StarterAnswers,
): Promise<{ approvers: Approver[]; faults: Fault[] }> {
  const isNamed = people.length > 0 || group.trim() !== ''
  if (approvedBy !== 'chosen') {
    const approvers: Approver[] = approvedBy === 'manager' ? [{ manager: true }] : []
    // Approvers that the template would not ask are a mistake.
    return { approvers, faults: isNamed ? [fault('/approvedBy', 'invalid', because('approversUnused'))] : [] }
  }
  if (!isNamed) return { approvers: [], faults: [fault('/people', 'required', because('approversRequired'))] }
  const found = await Promise.all([approvingPeople(context, people), approvingGroup(context, group.trim())])
  return { approvers: found.flatMap((one) => one.approvers), faults: found.flatMap((one) => one.faults) }
}

async function approvingPeople({ ports }: Context<OperationPorts>, ids: readonly string[]) {
  const named = [...new Set(ids.map((id) => id.toLowerCase()))].map((id) => ({
    id,
    pointer: '/people',
    as: 'person' as const,
  }))
  const { accounts, faults } = await peopleNamed(ports, named)
  const unable = accounts
    .filter((account) => !account.unread && !mayTakePart(account))
    .map(({ displayName: name }) => fault('/people', 'cannot-decide', because('cannotDecide', { name })))
  return { approvers: named.map(({ id }): Approver => ({ user: id })), faults: [...faults, ...unable] }
}

/** Finds the group by its id or name, or by the beginning of its name if it is the only such group. */
async function approvingGroup({ ports: { directory } }: Context<OperationPorts>, typed: string) {
  if (typed === '') return { approvers: [], faults: [] }
  const isId = z.uuid().safeParse(typed).success
  const found = isId ? await groupOfId(directory, typed.toLowerCase()) : await directory.findGroups(typed)
  const [only, ...others] = found
  if (only && others.length === 0) return { approvers: [{ group: only.id } satisfies Approver], faults: [] }
  const reason = only
    ? because('groupUnclear', {
        typed,
        names: [only, ...others].slice(0, maxGroups).map(({ displayName }) => displayName),
      })
    : because('groupUnknown', { typed })
  return { approvers: [], faults: [fault('/group', 'invalid', reason)] }
}

async function groupOfId(directory: OperationPorts['directory'], id: string) {
  const displayName = await directory.groupName(id)
  return displayName === undefined ? [] : [{ id, displayName }]
}

/** The maximum number of groups that the answer to an ambiguous name lists. */
const maxGroups = 5

/** The maximum number of admins that a message names as helpers. */
const maxHelpers = 3

/** Returns admins, for people who need one; an empty list while the directory does not answer. */
export const listHelpers = defineUseCase({
  permission: 'template.read',
  input: z.object({}),
  async handle({ ports, settings }: Context<OperationPorts>): Promise<Person[]> {
    const admins = await adminsOf(ports, settings).catch((error: unknown) => {
      if (error instanceof TenantError) return []
      throw error
    })
    return admins.slice(0, maxHelpers).map(asPerson)
  },
})
