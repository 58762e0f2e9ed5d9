import { distance } from 'fastest-levenshtein'
import { z } from 'zod'
import { noteAct } from '../audit/index.ts'
import { likeness, namesFor } from '../naming/index.ts'
import { mostCounted } from '../requests/index.ts'
import {
  type Actor,
  asking,
  asPerson,
  type Context,
  defineUseCase,
  handedBack,
  isMailboxKind,
  openStates,
  type Person,
  ProvisioningError,
} from '../shared/index.ts'
import { type Approver, changedParts, listTemplates, readTemplate, type Template } from '../templates/index.ts'
import type { OperationPorts } from './ports.ts'

/** A template, and how much it is used: both numbers up to {@link mostCounted}, or the quota where that is more. */
export interface TemplateInUse {
  readonly template: Template
  readonly open: number
  /** What was made of it, with what is under way: what its quota counts. */
  readonly resources: number
}
export interface TemplatePage {
  readonly entries: readonly TemplateInUse[]
  /** How many templates stand before these, and how many there are. */
  readonly from: number
  readonly total: number
}
/** Who wrote a version, when, and which parts were others before. */
export interface TemplateEdit {
  readonly version: number
  readonly by: Person | null
  readonly at: string | null
  readonly changed: readonly string[]
}
export interface TemplateReport extends TemplateInUse {
  /** The names of the people and groups that it names, by their id. Whom the directory does not know has none. */
  readonly names: Readonly<Record<string, string>>
  /** What its names would be for the person who asks; undefined when its policy takes no such name. */
  readonly example: { readonly typed: string; readonly displayName: string; readonly address: string } | undefined
  /** The newest first. */
  readonly edits: readonly TemplateEdit[]
}

/** What somebody types, in the example of a report. */
const exampleName = 'Apollo'
const mostEdits = 5
/** A report names so many people and groups of an audience; it counts the others. */
const mostNamed = 20

/** A page of all templates there are, for those who look after them. */
export const listTemplatesInUse = defineUseCase({
  permission: 'template.write',
  input: z.object({ from: z.int(), most: z.int() }),
  async handle(context: Context<OperationPorts>, { from, most }): Promise<TemplatePage> {
    const all = await listTemplates.handle(context, {})
    // A page that is no more, since templates went, is the last one.
    const first = from < all.length ? from : Math.max(0, Math.floor((all.length - 1) / most) * most)
    const entries = await readUseOfTemplates.handle(context, { templates: all.slice(first, first + most) })
    return { entries, from: first, total: all.length }
  },
})

/** How much these are used. */
export const readUseOfTemplates = defineUseCase({
  permission: 'template.write',
  input: z.object({ templates: handedBack<readonly Template[]>() }),
  async handle({ ports, actor }: Context<OperationPorts>, { templates }): Promise<TemplateInUse[]> {
    return Promise.all(templates.map((one) => inUse(ports, actor, one)))
  },
})

async function inUse(ports: OperationPorts, { tenantId }: Actor, template: Template): Promise<TemplateInUse> {
  const of = { tenantId, templateId: template.id, but: [] }
  const [open, resources] = await Promise.all([
    ports.requests.countOfTemplate({ ...of, states: openStates, most: mostCounted }),
    ports.requests.countOfTemplate({
      ...of,
      states: [...openStates, 'succeeded'],
      most: Math.max(mostCounted, template.quota.resources ?? 0),
    }),
  ])
  return { template, open, resources }
}

/** All that a template decides, with names for ids, an example of its names and who changed it. Throws `not-found`. */
export const reportOnTemplate = defineUseCase({
  permission: 'template.write',
  input: z.object({ id: z.string() }),
  async handle(context: Context<OperationPorts>, { id }): Promise<TemplateReport> {
    const { ports, actor } = context
    const template = await readTemplate.handle(context, { id })
    const [used, names, example, versions] = await Promise.all([
      inUse(ports, actor, template),
      asking(() => namesOf(ports, template)),
      asking(() => exampleOf(context, template)),
      ports.templates.versions(actor.tenantId, template.id, mostEdits + 1),
    ])
    const edits = versions.map((one, index) => ({
      version: one.version,
      by: one.by,
      at: one.at,
      changed: changedParts(one, versions[index + 1]),
    }))
    return { ...used, names, example, edits: edits.slice(0, mostEdits) }
  },
})

async function namesOf(ports: OperationPorts, { audience, approval }: Template): Promise<Record<string, string>> {
  const asked: Approver[] = (approval?.stages ?? []).flatMap(({ approvers, backup = [] }) => [...approvers, ...backup])
  const groups = asked.flatMap((one) => ('group' in one ? [one.group] : 'ownersOf' in one ? [one.ownersOf] : []))
  const people = asked.flatMap((one) => ('user' in one ? [one.user] : []))
  const named = (ids: readonly string[], more: readonly string[], name: (id: string) => Promise<string | undefined>) =>
    [...new Set([...ids, ...more.slice(0, mostNamed)])].map(async (id) => [id, await name(id)] as const)
  const found = await Promise.all([
    ...named(groups, audience?.groups ?? [], (id) => ports.directory.groupName(id)),
    ...named(people, audience?.people ?? [], async (id) => (await ports.directory.person(id))?.displayName),
  ])
  return Object.fromEntries(found.flatMap(([id, name]) => (name === undefined ? [] : [[id, name] as const])))
}

/** The names that its policy makes for this person; nobody is asked whether they are free. */
async function exampleOf(
  { ports, settings, actor }: Context<OperationPorts>,
  template: Template,
): Promise<TemplateReport['example']> {
  const inquiry = { ports, settings, actor, requestId: template.id, isSubmission: false, crowded: false }
  const metadata = Object.fromEntries(
    template.fields.map(({ key, label, choices, default: usual }) => [key, usual ?? choices[0]?.value ?? label]),
  )
  const telling = Object.fromEntries(
    Object.entries(template.properties).flatMap(([id, { fixed, default: usual }]) => {
      const value = fixed ?? usual
      return typeof value === 'string' ? [[id, value] as const] : []
    }),
  )
  const typed = { displayName: exampleName, address: '' }
  const { displayName, name, faults } = await namesFor(
    inquiry,
    template,
    typed,
    { ...telling, metadata },
    async () => 'free',
  )
  if (faults.length > 0) return undefined
  if (!isMailboxKind(template.kind))
    return { typed: exampleName, displayName, address: `${ports.tenant.siteRoot}${name}` }
  const domain = telling['domain'] ?? (await ports.directory.mailDomains()).default
  return { typed: exampleName, displayName, address: `${name}@${domain}` }
}

/**
 * Offers a template again, or to nobody any more. `expected` is the version that the admin saw: another one by now is
 * `stale-version`. Requests that are under way keep the version that they were made under.
 */
export const switchTemplate = defineUseCase({
  permission: 'template.write',
  input: z.object({ id: z.string(), expected: z.number(), active: z.boolean() }),
  async handle(context: Context<OperationPorts>, { id, expected, active }): Promise<Template> {
    const { ports, actor } = context
    const before = await readTemplate.handle(context, { id })
    const written = { ...before, active, version: expected + 1 }
    const change = { by: asPerson(actor), at: ports.clock.now() }
    const isWritten = await ports.work.transaction(async () => {
      const isPut =
        before.version === expected && (await ports.templates.put(actor.tenantId, written, expected, change))
      const about = { templateId: id, about: written.name, version: written.version, active }
      if (isPut) await noteAct(ports, actor, 'template-switched', about)
      return isPut
    })
    if (!isWritten) throw new ProvisioningError('stale-version', 'Somebody else has changed this template meanwhile.')
    return written
  },
})

/** What somebody meant by an id, a name or a part of one: `found` has it, or else `near` are those most like it. */
export interface MeantTemplates {
  readonly found: readonly Template[]
  readonly near: readonly Template[]
}
const mostNear = 3
/** Names of which at least so much, of 1, is spelt like what was typed. */
const nearFrom = 0.5

export function meantTemplates(templates: readonly Template[], typed: string): MeantTemplates {
  const wanted = typed.trim().toLowerCase()
  const exact = templates.filter(({ id, name }) => id === wanted || name.toLowerCase() === wanted)
  if (exact.length > 0) return { found: exact, near: [] }
  const within = templates.filter(({ name }) => wanted !== '' && name.toLowerCase().includes(wanted))
  if (within.length > 0) return { found: within, near: [] }
  const ranked = templates
    .map((template) => ({ template, like: nearness(template.name.toLowerCase(), wanted) }))
    .filter(({ like }) => like >= nearFrom)
    .sort((one, other) => other.like - one.like)
  return { found: [], near: ranked.slice(0, mostNear).map(({ template }) => template) }
}

const nearness = (name: string, wanted: string): number =>
  Math.max(likeness(name, wanted), 1 - distance(name, wanted) / Math.max(name.length, wanted.length, 1))
