import { z } from 'zod'
import type { OrganisationAction } from './organisation-audit.ts'
import { type ErasureCounts, erasureCounts } from './person-data.ts'
import type { Ports } from './ports.ts'

const said = z.object({ personId: z.uuid(), erasureId: z.uuid(), removed: erasureCounts.optional() })

/** What the organisation's chain says of one erasure; undefined: nothing. */
export async function noted(
  ports: Pick<Ports, 'audit'>,
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

/** What an admin is told when somebody was erased. */
export interface ErasureNotice {
  readonly kind: 'erased'
  readonly personId: string
  readonly removed: ErasureCounts
}

/** Of the notice `erased:<person>:<erasure>`; undefined where the chain says nothing of it. */
export async function erasureNotice(
  ports: Ports,
  tenantId: string,
  notice: string,
): Promise<ErasureNotice | undefined> {
  const [, personId = '', erasureId = ''] = notice.split(':')
  const said = await noted(ports, tenantId, 'person-erased', personId, erasureId)
  return said?.removed && { kind: 'erased', personId, removed: said.removed }
}
