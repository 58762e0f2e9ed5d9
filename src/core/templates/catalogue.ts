import { noteAct } from '../audit/organisation-audit.ts'
import type { Ports } from '../operations/ports.ts'
import { authorize } from '../requests/access.ts'
import type { Actor } from '../shared/access.ts'
import { asking } from '../shared/directory.ts'
import { type Fault, ProvisioningError, refuseFields } from '../shared/errors.ts'
import type { Person } from '../shared/resource.ts'
import type { Settings } from '../shared/settings.ts'
import { fault, faultsOf } from '../shared/validation.ts'
import { withFormerSecrets } from './signing-secrets.ts'
import { mayUse, type Template, templateWithin } from './template.ts'
import { webhookNameFault } from './webhook-address.ts'

/** The templates that this person may use, in their order; an admin sees all. */
export async function listTemplates(ports: Ports, actor: Actor): Promise<Template[]> {
  authorize(actor, 'template.read')
  const all = await ports.templates.list(actor.tenantId)
  if (actor.isAdmin) return all
  return usableOf(ports, actor, all)
}

/** The templates that this person may ask from, admin or not. */
export async function usableTemplates(ports: Ports, actor: Actor): Promise<Template[]> {
  return usableOf(ports, actor, await ports.templates.list(actor.tenantId))
}

/** One template; `not-found` also for one that this person may not use. */
export async function readTemplate(ports: Ports, actor: Actor, id: string): Promise<Template> {
  const found = (await listTemplates(ports, actor)).find((one) => one.id === id)
  if (!found) throw new ProvisioningError('not-found', 'There is no such template, or you may not use it.')
  return found
}

/**
 * Writes a template, by an admin. `expected` is the version that the admin has read (0: there was none); another one in
 * the store is `stale-version`. A template without a secret in its webhook keeps the one it has; a secret that is replaced
 * signs on for a day. A receiver that was switched off is switched on again.
 */
export async function putTemplate(
  ports: Ports,
  settings: Settings,
  actor: Actor,
  id: string,
  body: unknown,
  expected: number,
): Promise<Template> {
  authorize(actor, 'template.write')
  const before = await ports.templates.find(actor.tenantId, id)
  const parsed = templateWithin(settings.webhookAllowCidrs).safeParse(complete(body, id, expected, before))
  if (!parsed.success) return refuseFields(faultsOf(parsed.error, body))
  if (parsed.data.id !== id) return refuseFields([fault('/id', 'invalid', 'id must be the one in the address.')])
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
    await noteAct(ports, actor, 'template-written', { templateId: id, about: name, version, changed })
    return true
  })
  if (!isWritten) {
    throw new ProvisioningError(
      'stale-version',
      'Somebody else has changed this template meanwhile. Read it again, then repeat your change.',
    )
  }
  return written
}

/** The parts that are others now, a secret's too; what they hold is told nowhere. */
const changedKeys = (before: Template, written: Template): string[] =>
  Object.entries(written).flatMap(([key, part]) => {
    const isSame = JSON.stringify(part) === JSON.stringify(Reflect.get(before, key))
    return key === 'version' || isSame ? [] : [key]
  })

/** Who wrote it, as it is kept beside the version. */
export const asPerson = ({ id, displayName, userPrincipalName }: Actor): Person => ({
  id,
  displayName,
  userPrincipalName,
})

/** Looks where the webhook's name leads now. A name that leads nowhere yet may come to be later. */
async function refuseBadName({ resolveHost }: Ports, { webhookAllowCidrs }: Settings, url: string): Promise<void> {
  const addresses = await resolveHost(new URL(url).hostname).catch(() => [])
  const message = webhookNameFault(url, addresses, webhookAllowCidrs)
  if (message !== undefined) refuseFields([fault('/webhook/url', 'invalid', message)])
}

function complete(body: unknown, id: string, expected: number, before: Template | undefined): unknown {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return body
  const given = { id, ...body, version: expected + 1 }
  if (!('webhook' in given) || typeof given.webhook !== 'object' || given.webhook === null || 'secret' in given.webhook)
    return given
  return { ...given, webhook: { ...given.webhook, ...(before?.webhook && { secret: before.webhook.secret }) } }
}

/** Stores the templates of a file where the store has none of that id: a later start never undoes an admin's change. */
export async function seedTemplates(ports: Ports, tenantId: string, templates: readonly Template[]): Promise<void> {
  for (const one of templates) await ports.templates.put(tenantId, { ...one, version: 1 }, 0)
}
/** A template that this person may use, or nothing: who may not use it does not learn that it exists. */

export async function usableTemplate(ports: Ports, actor: Actor, templateId: string): Promise<Template | undefined> {
  const template = await ports.templates.find(actor.tenantId, templateId)
  if (!template) return undefined
  const [usable] = await usableOf(ports, actor, [template])
  return usable
}
/** Those of the templates that this person may use. An application is in no group. */

export async function usableOf(ports: Ports, actor: Actor, templates: readonly Template[]): Promise<Template[]> {
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
