import { z } from 'zod'
import {
  approvalPolicy,
  check,
  decision,
  deliveryAttempt,
  deliveryDetails,
  deliveryView,
  mailboxRequest,
  mailboxResource,
  person,
  problem,
  requestStep,
  requestView,
  siteRequest,
  siteResource,
  templateField,
  templateForUsers,
  webhookBody,
  webhookTestBody,
  webhookTestResult,
} from '../../core/index.ts'
import { explanationBody } from '../routes/explanations/index.ts'
import { deadLetter, healthBody, healthPartBody } from '../routes/operations/index.ts'
import { accepted } from '../routes/requests/index.ts'
import { templateForAdmins, templateToWrite } from '../routes/templates/index.ts'
import { problemBody } from './problem.ts'

type Named = readonly [name: string, schema: z.ZodType, description: string]

/** The bodies that are taken: what stands in them is another schema than in an answer, for what has a default may be left out. */
const taken: readonly Named[] = [
  ['SiteRequest', siteRequest, 'A wish for a site.'],
  [
    'MailboxRequest',
    mailboxRequest,
    'A wish for a mailbox. The kind of its template decides which fields it may have.',
  ],
  ['TemplateToWrite', templateToWrite, 'A template as it is written. A secret that is left out stays as it is.'],
  ['ProvisioningWebhook', webhookBody, 'What subscribers are told. Whoever needs more reads the request.'],
  ['WebhookTest', webhookTestBody, 'What an admin sends to try a receiver. It is about no request.'],
]

const answered: readonly Named[] = [
  ['Accepted', accepted, 'A request that was accepted: queued, or waiting for approval.'],
  ['Request', requestView, 'A request with all that became of it.'],
  ['Person', person, 'A person of the organisation. `id` is the Entra object id.'],
  [
    'ApprovalStage',
    requestView.options[0].shape.approvals.element,
    'A stage of the approval, with the people who may decide and what they decided.',
  ],
  ['Decision', decision, 'What one approver decided.'],
  ['Explanation', explanationBody, 'One thing that explains a request. Branch on `code`; `detail` is for people.'],
  ['RequestStep', requestStep, 'One durable part of making the resource.'],
  ['RequestProblem', problem, 'Why a step or the request stopped.'],
  ['Check', check, 'One thing that was asked for, read back from the tenant.'],
  ['SiteResource', siteResource, 'A site that is there, with its groups.'],
  ['MailboxResource', mailboxResource, 'A mailbox that is there.'],
  ['Template', templateForAdmins, 'A template with its policies, as an admin sees it; secrets are never shown.'],
  ['TemplateForUsers', templateForUsers, 'A template as those see it who may use it.'],
  ['TemplateField', templateField, 'A question of the template. The answer is kept in `metadata` under its key.'],
  ['ApprovalPolicy', approvalPolicy, 'Who approves, stage by stage.'],
  ['Delivery', deliveryView, 'One webhook to one subscriber. Without a `templateId`: to our own bot.'],
  ['DeliveryDetails', deliveryDetails, 'A delivery with its attempts, its body and how its receiver does.'],
  ['DeliveryAttempt', deliveryAttempt, 'One attempt. `status` is the answer’s, or why there was none.'],
  ['WebhookTestResult', webhookTestResult, 'What came of one try. Branch on `delivered`, or on `meaning`.'],
  ['DeadLetter', deadLetter, 'A job that was given up.'],
  [
    'HealthPart',
    healthPartBody,
    'How one part of the service, or what it needs, does. Which measures there are depends on the part.',
  ],
  ['Health', healthBody, 'How the service does, with a word about each part that it needs.'],
  ['Problem', problemBody, 'Why a call was refused (RFC 9457). Branch on `code`; `detail` is for people.'],
]

function registryOf(all: readonly Named[]) {
  const registry = z.registry<{ id: string; description: string }>()
  for (const [id, schema, description] of all) registry.add(schema, { id, description })
  return registry
}
/** What the API document calls the schemas that stand in it once, and says of them. Others stand where they are used. */
export const schemaNames = { input: registryOf(taken), output: registryOf(answered) } as const
