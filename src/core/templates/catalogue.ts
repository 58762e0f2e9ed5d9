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

/** Who writes a template, and when; null where nobody was asked, such as for the file of templates. */
export interface TemplateChange {
  readonly by: Person | null
  readonly at: Date
}

/** A version of a template. `at` is null for what is older than this record. */
export const templateVersion = z.strictObject({
  version: z.int(),
  /** The template as it was then, without its webhook's secret. Templates had fewer parts once, so it is not judged anew. */
  body: z.record(z.string(), z.unknown()),
  by: person.nullable(),
  at: instant.nullable(),
})
export type TemplateVersion = z.output<typeof templateVersion>

/** The parts of a template in which a version differs from the one before it: `approval`, `naming`. */
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
   * Writes a template whose version is `expected`+1; false when the stored version is another (0 = there is none). Each version
   * is kept, without its secrets, with who wrote it and when: without `change` nobody, such as the file of templates, just now.
   */
  put(tenantId: string, template: Template, expected: number, change?: TemplateChange): Promise<boolean>
  /** The versions that there were, the newest first. */
  versions(tenantId: string, id: string, limit: number): Promise<TemplateVersion[]>
  /** Forgets the secrets of webhooks that sign no more at this time. */
  forgetOld(at: Date): Promise<void>
}

/** The ports that this room and the rooms above it need. */
export interface TemplatePorts extends AuditPorts {
  readonly templates: TemplateStore
}

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
    if (!found) throw new ProvisioningError('not-found', because('templateUnknown'))
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

export const unknownTemplate = (): Fault => fault('/templateId', 'unknown-template', because('templateNotUsable'))
