import { z } from 'zod'
import {
  type Core,
  mailboxRequest,
  type Request,
  readsOf,
  requestState,
  simulatedPreview,
  siteRequest,
} from '../../../core/index.ts'
import { checkedByCore, checkedWhole, defineRoute } from '../../server/define-route.ts'
import { errorsOf } from '../../server/problem.ts'
import examples from './examples.json' with { type: 'json' }

/** API document, "creation response (queued request)" of either resource, and the state that the request is in. */
export const accepted = z.strictObject({
  requestId: z.uuid(),
  tenantId: z.uuid(),
  approvalRequired: z.boolean(),
  status: requestState,
})

/** The answer that both resources have. */
const accepting = {
  says: 'Accepted: queued, or waiting for approval. Look at `Location` after `Retry-After`, then every ten seconds.',
  body: accepted,
  headers: ['Location', 'Retry-After'],
} as const

/** The answer to a request that was accepted: where it can be read, and when the first look at it makes sense (seconds). */
function acceptance({ requestId, tenantId, status, approvals }: Request, { settings }: Core) {
  return {
    status: 202,
    headers: { Location: `/requests/v1/${requestId}`, 'Retry-After': String(settings.followUp.firstSeconds) },
    body: { requestId, tenantId, approvalRequired: approvals.length > 0, status },
  } as const
}

/**
 * `POST {base_url}/collab/v1/spo/` (API document, "Create the service site"): queued, not done. What is left open the template
 * decides, so core reads the body itself.
 */
const createSite = defineRoute({
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
  examples: examples.createSite,
  idempotent: true,
  async handle({ actor, provisioning, requestId }, { body }) {
    return acceptance(await provisioning.submitSite(actor, { body, requestId }), provisioning)
  },
})

/**
 * `POST {base_url}/mail/v1/mailboxes/` (API document, "Create mailbox"): queued, not done. What a field means depends on
 * the template's kind, so core reads the body itself and tells all faults at once: of form, kind, template and names.
 */
const createMailbox = defineRoute({
  id: 'createMailbox',
  tag: 'Mailboxes',
  method: 'POST',
  path: '/mail/v1/mailboxes',
  summary: 'Ask for a mailbox',
  permission: 'request.create',
  audience: 'mail',
  body: checkedByCore(mailboxRequest),
  answers: { 202: accepting },
  refusals: ['name-taken', 'too-many-open-requests', 'not-found'],
  examples: examples.createMailbox,
  idempotent: true,
  async handle({ actor, provisioning, requestId }, { body }) {
    return acceptance(await provisioning.submitMailbox(actor, { body, requestId }), provisioning)
  },
})

/**
 * `POST {base_url}/requests/v1/preview`: what either of the calls that create something would make of a body. Nothing is written.
 * What the call would refuse is part of the answer, so a form can show it while it is being filled in.
 */
const previewRequest = defineRoute({
  id: 'previewRequest',
  tag: 'Requests',
  method: 'POST',
  path: '/requests/v1/preview',
  summary: 'See what a request would be, without sending it',
  permission: 'request.create',
  audience: 'any',
  query: z.strictObject({
    as: z.uuid().toLowerCase().optional().describe('User id of the person who would ask; for admins'),
  }),
  body: checkedByCore(
    z
      .looseObject({})
      .describe('The body of the call that would create it: `POST /collab/v1/spo` or `POST /mail/v1/mailboxes`.'),
  ),
  answers: {
    200: {
      says: 'What it would be, and all that would be refused.',
      body: simulatedPreview.partial({ simulated: true }),
    },
  },
  refusals: [],
  examples: examples.previewRequest,
  onlyReads: true,
  extraReads: (body) => readsOf(body) - 1,
  async handle({ actor, provisioning, services }, { query: { as }, body }) {
    const { outlook: _, ...preview } =
      as === undefined
        ? await provisioning.previewRequest(actor, { body })
        : await provisioning.previewRequestAs(actor, { personId: as, body })
    const warnings = preview.warnings.map(({ reason, ...warning }) => ({
      ...warning,
      detail: services.texts.reason(reason),
    }))
    return { status: 200, body: { ...preview, warnings, errors: errorsOf(services.texts, preview.errors) } }
  },
})

export const submissionRoutes = [createSite, createMailbox, previewRequest] as const
