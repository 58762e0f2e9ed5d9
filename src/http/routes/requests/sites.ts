import { siteRequest } from '../../../core/index.ts'
import { createSiteExamples } from '../../examples/sites.ts'
import { checkedWhole, defineRoute } from '../../server/define-route.ts'
import { acceptance, accepting } from './accepted.ts'

/**
 * `POST {base_url}/collab/v1/spo/` (API document, "Create the service site"): queued, not done. What is left open the template
 * decides, so core reads the body itself.
 */
export const createSite = defineRoute({
  id: 'createSite',
  tag: 'Sites',
  method: 'POST',
  path: '/collab/v1/spo',
  summary: 'Ask for a site',
  permission: 'request.create',
  audience: 'collab',
  body: checkedWhole(siteRequest),
  answers: { 202: accepting },
  refusals: ['name-taken', 'too-many-open-requests', 'not-found'],
  examples: createSiteExamples,
  idempotent: true,
  async handle({ actor, provisioning, requestId }, { body }) {
    return acceptance(await provisioning.submitSite(actor, body, requestId), provisioning)
  },
})
