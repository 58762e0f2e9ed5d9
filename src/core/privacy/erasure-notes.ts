import { z } from 'zod'
import type { OrganisationAction } from '../audit/index.ts'
import type { SystemContext } from '../shared/index.ts'
import { type Erasure, readErasure } from './erasure-blocks.ts'
import { type ErasureCounts, erasureCounts, type PrivacyPorts } from './ports.ts'

const said = z.object({ personId: z.uuid(), erasureId: z.uuid(), removed: erasureCounts.optional() })

/** What the organisation's chain says of one erasure; undefined: nothing. */
export async function isErasureNoted(
  ports: Pick<PrivacyPorts, 'audit'>,
  tenantId: string,
  action: OrganisationAction,
  personId: string,
  erasureId: string,
) {
  const entries = (await ports.audit.timeline(tenantId)).filter((entry) => entry.action === action)
  return entries
    .map((entry) => said.safeParse(entry.data).data)
    .find((one) => one?.personId === personId && one.erasureId === erasureId)
}

/** What an admin is told of an erasure that they ordered: what was removed, or what keeps it from being done after all. */
export type ErasureNotice =
  | { readonly kind: 'erased'; readonly personId: string; readonly removed: ErasureCounts }
  | { readonly kind: 'not-erased'; readonly erasure: Erasure }

/** Returns what an admin's card about an erasure says; undefined where the chain says nothing of it. */
export async function erasureNotice(
  context: SystemContext<PrivacyPorts>,
  { tenantId, personId: adminId }: { readonly tenantId: string; readonly personId: string },
  { personId, erasureId }: { readonly personId: string; readonly erasureId: string },
): Promise<ErasureNotice | undefined> {
  const { ports } = context
  const said = await isErasureNoted(ports, tenantId, 'person-erased', personId, erasureId)
  if (said?.removed) return { kind: 'erased', personId, removed: said.removed }
  if (!(await isErasureNoted(ports, tenantId, 'erasure-stopped', personId, erasureId))) return undefined
  const admin = { id: adminId, displayName: '', userPrincipalName: '', tenantId, isAdmin: true }
  return { kind: 'not-erased', erasure: await readErasure.handle({ ...context, actor: admin }, { personId }) }
}
