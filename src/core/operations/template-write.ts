import { z } from 'zod'
import { noteAct } from '../audit/index.ts'
import {
  asPerson,
  type Context,
  defineUseCase,
  fault,
  faultsOf,
  ProvisioningError,
  refuseFields,
  type Settings,
} from '../shared/index.ts'
import { type Template, templateWithin, webhookNameFault, withFormerSecrets } from '../templates/index.ts'
import type { OperationPorts } from './ports.ts'

/**
 * Writes a template, by an admin. `expected` is the version that the admin has read (0: there was none); another one in
 * the store is `stale-version`. A template without a secret in its webhook keeps the one it has; a secret that is replaced
 * signs on for a day. A receiver that was switched off is switched on again.
 */
export const putTemplate = defineUseCase({
  permission: 'template.write',
  input: z.object({ id: z.string(), body: z.unknown(), expected: z.number() }),
  async handle({ ports, settings, actor }: Context<OperationPorts>, { id, body, expected }): Promise<Template> {
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
  },
})

/** The parts that are others now, a secret's too; what they hold is told nowhere. */
const changedKeys = (before: Template, written: Template): string[] =>
  Object.entries(written).flatMap(([key, part]) => {
    const isSame = JSON.stringify(part) === JSON.stringify(Reflect.get(before, key))
    return key === 'version' || isSame ? [] : [key]
  })

/** Looks where the webhook's name leads now. A name that leads nowhere yet may come to be later. */
async function refuseBadName(
  { resolveHost }: OperationPorts,
  { webhookAllowCidrs }: Settings,
  url: string,
): Promise<void> {
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
