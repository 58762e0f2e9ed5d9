import { distance } from 'fastest-levenshtein'
import { z } from 'zod'
import { auditAct } from '../audit/index.ts'
import { likeness, namesFor } from '../naming/index.ts'
import { maxCounted } from '../requests/index.ts'
import {
  type Actor,
  asking,
  asPerson,
  because,
  type Context,
  defineUseCase,
  fault,
  faultsOf,
  handedBack,
  isMailboxKind,
  openStates,
  type Person,
  ProvisioningError,
  type ReasonKey,
  refuseFields,
  type Settings,
} from '../shared/index.ts'
import {
  type Approver,
  allNamesOf,
  changedParts,
  listTemplates,
  readTemplate,
  type Template,
  templateWithin,
  webhookNameFault,
  withFormerSecrets,
} from '../templates/index.ts'
import type { OperationPorts } from './ports.ts'

/** A template and its use; both numbers up to {@link maxCounted}, or the quota if that is more. */
export interface TemplateInUse {
  readonly template: Template
  readonly open: number
  /** Created resources and open requests: the number that the quota limits. */
  readonly resources: number
}
export interface TemplatePage {
  readonly entries: readonly TemplateInUse[]
  /** The index of the first entry, and the number of all templates. */
  readonly from: number
  readonly total: number
}
/** A version of a template: its author, its time and the changed parts. */
export interface TemplateEdit {
  readonly version: number
  readonly by: Person | null
  readonly at: string | null
  readonly changed: readonly string[]
}
export interface TemplateReport extends TemplateInUse {
  /** The names of the people and groups in the template, by id. Ids that the directory does not know are missing. */
  readonly names: Readonly<Record<string, string>>
  /** Example names for the actor; undefined when the naming policy refuses the example. */
  readonly example: { readonly typed: string; readonly displayName: string; readonly address: string } | undefined
  /** The newest first. */
  readonly edits: readonly TemplateEdit[]
}

/** The typed name in the example of a template's names. */
const exampleName = 'Apollo'
const maxEdits = 5
/** The maximum number of people and groups of an audience that a report names. */
const maxNamed = 20

/** Lists all templates in pages. */
export const listTemplatesInUse = defineUseCase({
  permission: 'template.write',
  input: z.object({ from: z.int(), most: z.int() }),
  async handle(context: Context<OperationPorts>, { from, most }): Promise<TemplatePage> {
    const all = await listTemplates.handle(context, {})
    // After deletions a page may no longer exist: then the last page is returned.
    const first = from < all.length ? from : Math.max(0, Math.floor((all.length - 1) / most) * most)
    const entries = await readUseOfTemplates.handle(context, { templates: all.slice(first, first + most) })
    return { entries, from: first, total: all.length }
  },
})

/** Counts the use of templates. */
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
    ports.requests.countOfTemplate({ ...of, states: openStates, most: maxCounted }),
    ports.requests.countOfTemplate({
      ...of,
      states: [...openStates, 'succeeded'],
      most: Math.max(maxCounted, template.quota.resources ?? 0),
    }),
  ])
  return { template, open, resources }
}

/** Returns a template with names for ids, an example of its names, and its latest changes. Throws `not-found`. */
export const reportOnTemplate = defineUseCase({
  permission: 'template.write',
  input: z.object({ id: z.string() }),
  async handle(context: Context<OperationPorts>, { id }): Promise<TemplateReport> {
    const { ports, actor } = context
    const template = await readTemplate.handle(context, { id })
    const [report, used, versions] = await Promise.all([
      describeTemplate(context, template),
      inUse(ports, actor, template),
      ports.templates.versions(actor.tenantId, template.id, maxEdits + 1),
    ])
    const edits = versions.map((one, index) => ({
      version: one.version,
      by: one.by,
      at: one.at,
      changed: changedParts(one, versions[index + 1]),
    }))
    return { ...report, ...used, edits: edits.slice(0, maxEdits) }
  },
})

/** Returns the report on a template that is not stored yet, so it has no use and no edits. */
export async function describeTemplate(context: Context<OperationPorts>, template: Template): Promise<TemplateReport> {
  const [names, example] = await Promise.all([
    asking(() => namesOf(context.ports, template)),
    asking(() => exampleOf(context, template)),
  ])
  return { template, open: 0, resources: 0, names, example, edits: [] }
}

async function namesOf(ports: OperationPorts, { audience, approval }: Template): Promise<Record<string, string>> {
  const approvers: Approver[] = (approval?.stages ?? []).flatMap((stage) => [
    ...stage.approvers,
    ...(stage.backup ?? []),
  ])
  const groups = approvers.flatMap((one) => ('group' in one ? [one.group] : 'ownersOf' in one ? [one.ownersOf] : []))
  const people = approvers.flatMap((one) => ('user' in one ? [one.user] : []))
  const named = (ids: readonly string[], more: readonly string[], name: (id: string) => Promise<string | undefined>) =>
    [...new Set([...ids, ...more.slice(0, maxNamed)])].map(async (id) => [id, await name(id)] as const)
  const found = await Promise.all([
    ...named(groups, audience?.groups ?? [], (id) => ports.directory.groupName(id)),
    ...named(people, audience?.people ?? [], async (id) => (await ports.directory.person(id))?.displayName),
  ])
  return Object.fromEntries(found.flatMap(([id, name]) => (name === undefined ? [] : [[id, name] as const])))
}

/** Returns the names that the policy makes for this person, without checking whether they are free. */
async function exampleOf(
  { ports, settings, actor }: Context<OperationPorts>,
  template: Template,
): Promise<TemplateReport['example']> {
  const inquiry = { ports, settings, actor, requestId: template.id, isSubmission: false, crowded: false }
  const metadata = Object.fromEntries(
    template.fields.map(({ key, label, choices, default: usual }) => [key, usual ?? choices[0]?.value ?? label]),
  )
  const values = Object.fromEntries(
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
    { ...values, metadata },
    async () => 'free',
  )
  if (faults.length > 0) return undefined
  if (!isMailboxKind(template.kind))
    return { typed: exampleName, displayName, address: `${ports.tenant.siteRoot}${name}` }
  const domain = values['domain'] ?? (await ports.directory.mailDomains()).default
  return { typed: exampleName, displayName, address: `${name}@${domain}` }
}

/**
 * Enables or disables a template. `expected` is the version that the admin saw; throws `stale-version` for another version.
 * Open requests keep their version of the template.
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
      if (isPut) await auditAct(ports, actor, 'template-switched', about)
      return isPut
    })
    if (!isWritten) throw new ProvisioningError('stale-version', because('templateStale'))
    return written
  },
})

/** Templates for a typed id, name or part of a name, in any language. If `found` is empty, `near` has the most similar ones. */
interface MeantTemplates {
  readonly found: readonly Template[]
  readonly near: readonly Template[]
}
const maxNear = 3
/** The least similarity of a name, 0 to 1. */
const nearFrom = 0.5

export function meantTemplates(templates: readonly Template[], typed: string): MeantTemplates {
  const wanted = typed.trim().toLowerCase()
  const hasName = (template: Template, fits: (name: string) => boolean) =>
    allNamesOf(template).some((name) => fits(name.toLowerCase()))
  const exact = templates.filter((one) => one.id === wanted || hasName(one, (name) => name === wanted))
  if (exact.length > 0) return { found: exact, near: [] }
  const within = templates.filter((one) => wanted !== '' && hasName(one, (name) => name.includes(wanted)))
  if (within.length > 0) return { found: within, near: [] }
  const ranked = templates
    .map((template) => ({
      template,
      like: Math.max(...allNamesOf(template).map((name) => nearness(name.toLowerCase(), wanted))),
    }))
    .filter(({ like }) => like >= nearFrom)
    .sort((one, other) => other.like - one.like)
  return { found: [], near: ranked.slice(0, maxNear).map(({ template }) => template) }
}

const nearness = (name: string, wanted: string): number =>
  Math.max(likeness(name, wanted), 1 - distance(name, wanted) / Math.max(name.length, wanted.length, 1))

/**
 * Writes a template for an admin. `expected` is the version that the admin has read (0: a new template); throws
 * `stale-version` if the store has another version. A webhook without a secret keeps its stored secret; a replaced
 * secret continues to sign for a day. Enables a disabled receiver.
 */
export const putTemplate = defineUseCase({
  permission: 'template.write',
  input: z.object({ id: z.string(), body: z.unknown(), expected: z.number() }),
  async handle({ ports, settings, actor }: Context<OperationPorts>, { id, body, expected }): Promise<Template> {
    const before = await ports.templates.find(actor.tenantId, id)
    const parsed = templateWithin(settings.webhookAllowCidrs).safeParse(complete(body, id, expected, before))
    if (!parsed.success) return refuseFields(faultsOf(parsed.error, body))
    if (parsed.data.id !== id) return refuseFields([fault('/id', 'invalid', because('idNotOfAddress'))])
    const { webhook } = parsed.data
    if (webhook) await refuseBadName(ports, settings, webhook.url)
    const written: Template = {
      ...parsed.data,
      webhook: webhook && withFormerSecrets(webhook, before?.webhook ?? null, ports.clock.now()),
    }
    const isWritten = await ports.work.transaction(async () => {
      const change = { by: asPerson(actor), at: ports.clock.now() }
      const isPut = await ports.templates.put(actor.tenantId, written, expected, change)
      if (!isPut) return false
      await ports.endpoints.forget(actor.tenantId, id)
      const { name, version } = written
      const changed = before ? changedKeys(before, written) : []
      await auditAct(ports, actor, 'template-written', { templateId: id, about: name, version, changed })
      return true
    })
    if (!isWritten) throw new ProvisioningError('stale-version', because(staleReason(expected, before)))
    return written
  },
})

/** Returns why a template was not written: it exists already, it does not exist, or somebody else has changed it. */
const staleReason = (expected: number, before: Template | undefined): ReasonKey =>
  before === undefined ? 'templateMissing' : expected === 0 ? 'templateExists' : 'templateStale'

/** Returns the names of the changed parts, a secret included; never their values. */
const changedKeys = (before: Template, written: Template): string[] =>
  Object.entries(written).flatMap(([key, part]) => {
    const isSame = JSON.stringify(part) === JSON.stringify(Reflect.get(before, key))
    return key === 'version' || isSame ? [] : [key]
  })

/**
 * Resolves the webhook's host and refuses a forbidden address. A host without an address is allowed: it may get one
 * later.
 */
async function refuseBadName(
  { resolveHost }: OperationPorts,
  { webhookAllowCidrs }: Settings,
  url: string,
): Promise<void> {
  const addresses = await resolveHost(new URL(url).hostname).catch(() => [])
  const reason = webhookNameFault(url, addresses, webhookAllowCidrs)
  if (reason) refuseFields([fault('/webhook/url', 'invalid', reason)])
}

/** Adds id and version to a body, and the stored secret to a webhook without a secret. */
function complete(body: unknown, id: string, expected: number, before: Template | undefined): unknown {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return body
  const written = { id, ...body, version: expected + 1 }
  const webhook = 'webhook' in written ? written.webhook : null
  if (typeof webhook !== 'object' || webhook === null || 'secret' in webhook) return written
  return { ...written, webhook: { ...webhook, ...(before?.webhook && { secret: before.webhook.secret }) } }
}
