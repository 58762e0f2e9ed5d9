/** The audit of one request and of the organisation. */
import type { z } from 'zod'
import { type AuditReport, auditReport } from '../../../core/index.ts'
import { defineRoute } from '../../server/define-route.ts'
import type { ApiTexts } from '../../server/problem.ts'
import { ofOneRequest } from '../shared/index.ts'
import examples from './examples.json' with { type: 'json' }

const readAudit = defineRoute({
  id: 'readAudit',
  tag: 'Administration',
  method: 'GET',
  path: '/audit/v1/requests/:requestId',
  summary: 'Read the audit of a request, and whether any entry was changed',
  description:
    'Returns the audit entries of one request in their order, with the proof that nobody has changed or removed an entry.',
  permission: 'audit.read',
  audience: 'any',
  params: ofOneRequest,
  answers: {
    200: { description: 'The entries, oldest first, and the result of the integrity check.', body: auditReport },
  },
  refusals: ['not-found'],
  examples: examples.readAudit,
  async handle({ actor, services, core }, { params }) {
    const report = await core.readAudit(actor, { requestId: params.requestId })
    return { status: 200, body: showReport(report, services.texts) }
  },
})

/** Returns the audit entries that do not belong to one request. */
const readOrganisationAudit = defineRoute({
  id: 'readOrganisationAudit',
  tag: 'Administration',
  method: 'GET',
  path: '/audit/v1/organisation',
  summary: 'Read the audit of actions that belong to no single request, and whether any entry was changed',
  description:
    'Returns the audit entries about templates, exports, erasures and other actions of the organisation, with their proof.',
  permission: 'audit.read',
  audience: 'any',
  answers: {
    200: { description: 'The entries, oldest first, and the result of the integrity check.', body: auditReport },
  },
  refusals: [],
  examples: examples.readOrganisationAudit,
  async handle({ actor, services, core }) {
    return { status: 200, body: showReport(await core.readOrganisationAudit(actor), services.texts) }
  },
})

const showReport = ({ findings, ...report }: AuditReport, texts: ApiTexts): z.output<typeof auditReport> => ({
  ...report,
  findings: findings.map(({ reason, ...finding }) => ({ ...finding, detail: texts.reason(reason) })),
})

export const requestAuditRoutes = [readAudit] as const
export const organisationAuditRoutes = [readOrganisationAudit] as const
