import { createHash } from 'node:crypto'
import { canonical } from '../audit/index.ts'
import { mailboxRequest, siteRequest } from '../resources/index.ts'
import { because, type Context, ProvisioningError, type RequestState, withoutNulls } from '../shared/index.ts'
import type { RequestPorts } from './ports.ts'
import { type Request, referenceOf } from './request.ts'

/**
 * How long an equal body of the same person counts as a repeat, in hours. People and scripts that saw no answer try again on
 * the same day. On the next day an equal body is more likely a new wish, or a job that runs daily.
 */
export const repeatHours = 24

/** States in which the person has what they asked for, or will have it. After any other end they may ask again. */
const answering: readonly RequestState[] = ['pendingApproval', 'queued', 'provisioning', 'succeeded']

/** Whether an equal body that comes now repeats this request. */
export const isRepeated = ({ status, submittedAt }: Pick<Request, 'status' | 'submittedAt'>, now: Date): boolean =>
  answering.includes(status) && now.getTime() - Date.parse(submittedAt) < repeatHours * 3_600_000

/** Equal for bodies that say the same, in whatever order their fields are, and with or without nulls for absent ones. */
export function fingerprintOf(resource: 'site' | 'mailbox', body: unknown): string {
  const said = withoutNulls(resource === 'site' ? siteRequest : mailboxRequest, body)
  return createHash('sha256')
    .update(canonical([resource, said]))
    .digest('hex')
}

/** Throws `duplicate-request` with the earlier request if the person has sent an equal body within {@link repeatHours}. */
export async function refuseRepeat(
  { ports, actor }: Context<RequestPorts>,
  requestId: string,
  fingerprint: string,
): Promise<void> {
  const now = ports.clock.now()
  const since = new Date(now.getTime() - repeatHours * 3_600_000)
  const sent = await ports.requests.sentSince({ tenantId: actor.tenantId, requesterId: actor.id, fingerprint, since })
  const earlier = sent.find((one) => one.requestId !== requestId && isRepeated(one, now))
  if (!earlier) return
  const facts = { reference: referenceOf(earlier), hours: repeatHours }
  throw new ProvisioningError('duplicate-request', because('duplicateRequest', facts), {
    context: { requestId: earlier.requestId },
  })
}
