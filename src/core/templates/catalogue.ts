import { z } from 'zod'
import type { AuditPorts } from '../audit/index.ts'
import {
  asking,
  because,
  type Context,
  defineUseCase,
  type Fault,
  fault,
  instant,
  type Person,
  ProvisioningError,
  person,
} from '../shared/index.ts'
import { mayUse, type Template } from './template.ts'

/** The author and the time of a change. `by` is null for the template file, which has no author. */
export interface TemplateChange {
  readonly by: Person | null
  readonly at: Date
}

/** A version of a template. `at` is null for versions from before this history existed. */
export const templateVersion = z.strictObject({
  version: z.int(),
  /** The template without its webhook's secret. Not validated, because old templates have fewer parts. */
  body: z.record(z.string(), z.unknown()),
  by: person.nullable(),
  at: instant.nullable(),
})
export type TemplateVersion = z.output<typeof templateVersion>

/** Returns the parts that differ from the previous version, for example `approval`, `naming`. */
export function changedParts(now: TemplateVersion, before: TemplateVersion | undefined): string[] {
  if (before === undefined) return []
  const keys = new Set([...Object.keys(now.body), ...Object.keys(before.body)])
  keys.delete('version')
  return [...keys].filter((key) => JSON.stringify(now.body[key]) !== JSON.stringify(before.body[key])).sort()
}

export interface TemplateStore {
  list(tenantId: string): Promise<Template[]>
  find(tenantId: string, id: string): Promise<Template | undefined>
  /**
   * Writes a template with the version `expected`+1 (0: a new template); returns false if another version is stored.
   * Keeps each version without its secrets, with its author and time. Without `change`: no author, and the current
   * time.
   */
  put(tenantId: string, template: Template, expected: number, change?: TemplateChange): Promise<boolean>
  /** Returns the stored versions, newest first. */
  versions(tenantId: string, id: string, limit: number): Promise<TemplateVersion[]>
  /** Deletes the webhook secrets that are no longer used at this time. */
  forgetOld(at: Date): Promise<void>
}

/** The ports that this room and the rooms above it need. */
export interface TemplatePorts extends AuditPorts {
  readonly templates: TemplateStore
}

/** Lists the templates that this person may use, in their order. An admin sees all templates. */
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

/** Lists the templates that this person may request from, admin or not. */
export const listUsableTemplates = defineUseCase({
  permission: 'template.read',
  input: z.object({}),
  async handle(context: Context<TemplatePorts>): Promise<Template[]> {
    const { ports, actor } = context
    return usableOf(context, await ports.templates.list(actor.tenantId))
  },
})

/** Reads one template. Throws `not-found` also for a template that this person may not use. */
export const readTemplate = defineUseCase({
  permission: 'template.read',
  input: z.object({ id: z.string() }),
  async handle(context: Context<TemplatePorts>, { id }): Promise<Template> {
    const found = (await listTemplates.handle(context, {})).find((one) => one.id === id)
    if (!found) throw new ProvisioningError('not-found', because('templateUnknown'))
    return found
  },
})

/** Stores the templates of a file whose ids are not stored yet, so that a restart never undoes an admin's change. */
export async function seedTemplates(
  ports: TemplatePorts,
  tenantId: string,
  templates: readonly Template[],
): Promise<void> {
  for (const one of templates) await ports.templates.put(tenantId, { ...one, version: 1 }, 0)
}

/**
 * Returns a template if this person may use it. Otherwise undefined, so that nothing reveals that the template exists.
 */
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

/** Returns the templates that this person may use. An application is in no group. */
export async function usableOf(
  { ports, actor }: Context<TemplatePorts>,
  templates: readonly Template[],
): Promise<Template[]> {
  const byGroup = templates.some(({ audience }) => audience !== null && audience.groups.length > 0)
  const inGroups = byGroup && actor.clientId === undefined
  const groups = inGroups ? await asking(() => ports.directory.groupsOf(actor.id)) : new Set<string>()
  return templates.filter((one) => mayUse(one, actor, groups))
}

export const unknownTemplate = (): Fault => fault('/templateId', 'unknown-template', because('templateNotUsable'))
