import { z } from 'zod'
import { type Provisioning, type Request, requestState } from '../../../core/index.ts'

/** API document, "creation response (queued request)" of either resource, and the state that the request is in. */
export const accepted = z.strictObject({
  requestId: z.uuid(),
  tenantId: z.uuid(),
  approvalRequired: z.boolean(),
  status: requestState,
})

/** The answer that both resources have. */
export const accepting = {
  says: 'Accepted: queued, or waiting for approval. Look at `Location` after `Retry-After`, then every ten seconds.',
  body: accepted,
  headers: ['Location', 'Retry-After'],
} as const

/** The answer to a request that was accepted: where it can be read, and when the first look at it makes sense (seconds). */
export function acceptance({ requestId, tenantId, status, approvals }: Request, { settings }: Provisioning) {
  return {
    status: 202,
    headers: { Location: `/requests/v1/${requestId}`, 'Retry-After': String(settings.followUp.firstSeconds) },
    body: { requestId, tenantId, approvalRequired: approvals.length > 0, status },
  } as const
}
