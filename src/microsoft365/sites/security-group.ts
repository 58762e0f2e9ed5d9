import { z } from 'zod'
import { type SiteStepInput, type StepResult, TenantError } from '../../core/index.ts'
import { type FoundGroup, type Graph, needed, notThereYet, refusalOfUpsert } from '../wire/index.ts'
import { ownersOf, type Services } from './site-step.ts'

const linked = z.object({ requestId: z.string(), extensionAttribute1: z.string(), extensionAttribute3: z.string() })

/**
 * The security group linked to the site (API document, "Provisioned group record"). Its extension is written last, by a
 * call of its own: finding the group by request id therefore means that the site is whole. Security groups duplicate in
 * silence, so it is made under a key of the request's.
 */
export async function linkGroup({ graph }: Services, input: SiteStepInput): Promise<StepResult> {
  const { requestId, progress, signal } = input
  const group = await findOrMake(graph, input)
  const value = {
    requestId,
    extensionAttribute1: needed(progress, 'siteId'),
    extensionAttribute3: needed(progress, 'url'),
  }
  const known = linked.safeParse(group.extension).data
  const isLinked =
    known?.requestId === value.requestId &&
    known.extensionAttribute1 === value.extensionAttribute1 &&
    known.extensionAttribute3 === value.extensionAttribute3
  if (!isLinked) await graph.patchExtension(group.id, value, signal)
  return { done: true, made: { securityGroupId: group.id, securityGroupName: group.displayName } }
}

async function findOrMake(graph: Graph, input: SiteStepInput): Promise<FoundGroup> {
  const { requestId, alias, signal } = input
  const key = `${requestId}-access`
  const found = await graph.groupByUniqueName(key, signal)
  if (found) return found
  const group = {
    displayName: `SPO-${alias}`,
    mailNickname: `spo-${alias}`.slice(0, 64),
    groupTypes: [],
    mailEnabled: false,
    securityEnabled: true,
  }
  const owners = ownersOf(input).map(({ id }) => id)
  const answer = await graph.upsertGroup(key, group, { owners }, signal)
  if (answer.status === 400) {
    const refusal = refusalOfUpsert(answer, 'making the security group')
    if (refusal instanceof TenantError) throw refusal
  }
  const made = await graph.groupByUniqueName(key, signal)
  if (!made) throw notThereYet('The new security group')
  return made
}
