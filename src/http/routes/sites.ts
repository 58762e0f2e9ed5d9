import { siteRequest } from '../../core/index.ts'
import { defineRoute } from '../define-route.ts'
import { acceptance, accepted } from './accepted.ts'

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
    return acceptance(await provisioning.submitSite(actor, body, requestId), provisioning)
  },
})
