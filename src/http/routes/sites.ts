import { z } from 'zod'
import { requestState, siteRequest } from '../../core/index.ts'
import { defineRoute } from '../define-route.ts'

/** API document, "site creation response (queued request)", and the state that it is in. */
const accepted = z.strictObject({
  requestId: z.uuid(),
  tenantId: z.uuid(),
  approvalRequired: z.boolean(),
  status: requestState,
})

/** `POST {base_url}/collab/v1/spo/` (API document, "Create the service site"): queued, not done. */
export const createSite = defineRoute({
  method: 'POST',
  path: '/collab/v1/spo',
  summary: 'Ask for a site',
  permission: 'request.create',
  audience: 'collab',
  body: siteRequest,
  answers: { 202: accepted },
  idempotent: true,
  async handle({ actor, provisioning, requestId }, { body }) {
    const request = await provisioning.submitSite(actor, body, requestId)
    const { tenantId, status, approvals } = request
    return {
      status: 202,
      headers: {
        Location: `/requests/v1/${request.requestId}`,
        'Retry-After': String(provisioning.settings.followUp.firstSeconds),
      },
      body: { requestId: request.requestId, tenantId, approvalRequired: approvals.length > 0, status },
    }
  },
})
