import { z } from 'zod'
import { asking, type Context, defineUseCase, type Fault, fault, ProvisioningError } from '../shared/index.ts'
import type { TemplatePorts } from './ports.ts'
import { mayUse, type Template } from './template.ts'

/** The templates that this person may use, in their order; an admin sees all. */
export const listTemplates = defineUseCase({
  permission: 'template.read',
  input: z.object({}),
  async handle(context: Context<TemplatePorts>): Promise<Template[]> {
    const { ports, actor } = context
    const all = await ports.templates.list(actor.tenantId)
    if (actor.isAdmin) return all
    return usableOf(context, all)
  },
})

/** The templates that this person may ask from, admin or not. */
export const listUsableTemplates = defineUseCase({
  permission: 'template.read',
  input: z.object({}),
  async handle(context: Context<TemplatePorts>): Promise<Template[]> {
    const { ports, actor } = context
    return usableOf(context, await ports.templates.list(actor.tenantId))
  },
})

/** One template; `not-found` also for one that this person may not use. */
export const readTemplate = defineUseCase({
  permission: 'template.read',
  input: z.object({ id: z.string() }),
  async handle(context: Context<TemplatePorts>, { id }): Promise<Template> {
    const found = (await listTemplates.handle(context, {})).find((one) => one.id === id)
    if (!found) throw new ProvisioningError('not-found', 'There is no such template, or you may not use it.')
    return found
  },
})

/** Stores the templates of a file where the store has none of that id: a later start never undoes an admin's change. */
export async function seedTemplates(
  ports: TemplatePorts,
  tenantId: string,
  templates: readonly Template[],
): Promise<void> {
  for (const one of templates) await ports.templates.put(tenantId, { ...one, version: 1 }, 0)
}

/** A template that this person may use, or nothing: who may not use it does not learn that it exists. */
export async function usableTemplate(
  context: Context<TemplatePorts>,
  templateId: string,
): Promise<Template | undefined> {
  const { ports, actor } = context
  const template = await ports.templates.find(actor.tenantId, templateId)
  if (!template) return undefined
  const [usable] = await usableOf(context, [template])
  return usable
}

/** Those of the templates that this person may use. An application is in no group. */
export async function usableOf(
  { ports, actor }: Context<TemplatePorts>,
  templates: readonly Template[],
): Promise<Template[]> {
  const byGroup = templates.some(({ audience }) => audience !== null && audience.groups.length > 0)
  const inGroups = byGroup && actor.clientId === undefined
  const groups = inGroups ? await asking(() => ports.directory.groupsOf(actor.id)) : new Set<string>()
  return templates.filter((one) => mayUse(one, actor, groups))
}

export const unknownTemplate = (): Fault =>
  fault(
    '/templateId',
    'unknown-template',
    'There is no such template, or you may not use it. GET /templates/v1/ lists those you may.',
  )
