import { z } from 'zod'
import { readsOf, simulatedPreview } from '../../../core/index.ts'
import { previewRequestExamples } from '../../examples/preview.ts'
import { checkedByCore, defineRoute } from '../../server/define-route.ts'
import { errorsOf } from '../../server/problem.ts'

/**
 * `POST {base_url}/requests/v1/preview`: what either of the calls that create something would make of a body. Nothing is written.
 * What the call would refuse is part of the answer, so a form can show it while it is being filled in.
 */
export const previewRequest = defineRoute({
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
  examples: previewRequestExamples,
  onlyReads: true,
  extraReads: (body) => readsOf(body) - 1,
  async handle({ actor, provisioning }, { query: { as }, body }) {
    const { outlook: _, ...preview } =
      as === undefined ? await provisioning.preview(actor, body) : await provisioning.previewAs(actor, as, body)
    return { status: 200, body: { ...preview, errors: errorsOf(preview.errors) } }
  },
})
