import { createHash } from 'node:crypto'
import { canonical } from '../audit/index.ts'
import { because, type Context, ProvisioningError, type RequestState } from '../shared/index.ts'
import { withoutAbsent } from './applicable-fields.ts'
import type { RequestPorts } from './ports.ts'
import { type Request, referenceOf } from './request.ts'

/**
 * The time in which an equal body of the same person counts as a repeat, in hours. People and scripts that got no answer try again
 * on the same day. On the next day an equal body is more likely a new request or a daily job.
 */
export const repeatHours = 24

/** The states in which the person has the resource or will get it. After any other end, an equal body is a new request. */
const answering: readonly RequestState[] = ['pendingApproval', 'queued', 'provisioning', 'succeeded']

/** Whether an equal body now repeats this request. */
export const isRepeated = ({ status, submittedAt }: Pick<Request, 'status' | 'submittedAt'>, now: Date): boolean =>
  answering.includes(status) && now.getTime() - Date.parse(submittedAt) < repeatHours * 3_600_000

/** Returns a fingerprint that is equal for equal bodies, in any order of fields, with or without nulls for absent ones. */
export function fingerprintOf(resource: 'site' | 'mailbox', body: unknown): string {
  const content = withoutAbsent(resource, body)
  return createHash('sha256')
    .update(canonical([resource, content]))
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
  const { tenantId, id: requesterId } = actor
  const sent = await ports.requests.sentSince({ tenantId, requesterId, fingerprint, since, but: requestId })
  const earlier = sent.find((one) => isRepeated(one, now))
  if (!earlier) return
  const facts = { reference: referenceOf(earlier), hours: repeatHours }
  throw new ProvisioningError('duplicate-request', because('duplicateRequest', facts), {
    context: { requestId: earlier.requestId },
  })
}
