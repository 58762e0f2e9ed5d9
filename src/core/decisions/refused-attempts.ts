import { z } from 'zod'
import { type AuditEntry, system } from '../audit/index.ts'
import { refusedAction } from '../requests/index.ts'
import { type Context, type ErrorCode, type Person, ProvisioningError, type SystemContext } from '../shared/index.ts'
import type { DecisionPorts } from './ports.ts'

/** The attempts to decide whose refusal is audited. */
export type Deciding = 'approve' | 'reject' | 'reassign' | 'override'

/** The codes of refusals because of the person, in contrast to the moment. */
const codesAboutPerson: readonly ErrorCode[] = [
  'not-an-approver',
  'self-approval',
  'second-admin-needed',
  'forbidden',
  'not-found',
]
/** The time in milliseconds in which equal attempts of one person are audited once, so that nobody fills the chain. */
const auditedOnceIn = 3_600_000

/** Runs an attempt to decide. If it is refused because of the person, audits the refusal and throws it. */
export async function auditRefusals<T>(
  { ports, actor }: Context<DecisionPorts>,
  requestId: string,
  tried: Deciding,
  attempt: () => Promise<T>,
): Promise<T> {
  try {
    return await attempt()
  } catch (error) {
    if (error instanceof ProvisioningError && codesAboutPerson.includes(error.code))
      // The refusal stays the answer, even if the store does not answer.
      await auditRefusal(ports, actor, requestId, tried, error.code).catch(() => undefined)
    throw error
  }
}

/** Appends an audit entry about a refused attempt, if the request exists. An unknown person appears as `system` with `who`. */
async function auditRefusal(
  ports: DecisionPorts,
  who: Pick<Person, 'id'> & Partial<Person>,
  requestId: string,
  tried: Deciding,
  code: ErrorCode,
): Promise<void> {
  await ports.work.transaction(async () => {
    const request = await ports.requests.lock(requestId)
    if (!request) return
    const at = ports.clock.now()
    const timeline = await ports.audit.timeline(requestId)
    const since = at.getTime() - auditedOnceIn
    if (timeline.some((one) => isSame(one, who.id, tried, code) && Date.parse(one.at) > since)) return
    const { tenantId, version } = request
    const { id, displayName, userPrincipalName } = who
    const isKnown = displayName !== undefined && userPrincipalName !== undefined
    const actor = isKnown ? { id, displayName, userPrincipalName } : system
    const data = { tried, code, who: id }
    const entry: AuditEntry = { requestId, tenantId, at: at.toISOString(), actor, action: refusedAction, data }
    await ports.audit.append([entry], { version })
  })
}

const isSame = ({ action, data }: AuditEntry, id: string, tried: Deciding, code: ErrorCode): boolean =>
  action === refusedAction && data?.['who'] === id && data['tried'] === tried && data['code'] === code

/**
 * Audits an attempt to decide by a person of the tenant who may not use the bot at all. `requestId` is unchecked input. Ignores
 * people of other tenants.
 */
export async function noteForbidden(
  { ports, settings }: SystemContext<DecisionPorts>,
  who: { readonly tenantId: string; readonly id: string },
  requestId: unknown,
  tried: Deciding,
): Promise<void> {
  const id = z.uuid().safeParse(requestId).data
  if (id !== undefined && who.tenantId === settings.tenantId)
    await auditRefusal(ports, { id: who.id }, id.toLowerCase(), tried, 'forbidden')
}
