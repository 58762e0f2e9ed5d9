import { mailboxRequest } from '../../../core/index.ts'
import { createMailboxExamples } from '../../examples/mailboxes.ts'
import { checkedByCore, defineRoute } from '../../server/define-route.ts'
import { acceptance, accepting } from './accepted.ts'

/**
 * `POST {base_url}/mail/v1/mailboxes/` (API document, "Create mailbox"): queued, not done. What a field means depends on
 * the template's kind, so core reads the body itself and tells all faults at once: of form, kind, template and names.
 */
export const createMailbox = defineRoute({
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
  examples: createMailboxExamples,
  idempotent: true,
  async handle({ actor, provisioning, requestId }, { body }) {
    return acceptance(await provisioning.submitMailbox(actor, body, requestId), provisioning)
  },
})
