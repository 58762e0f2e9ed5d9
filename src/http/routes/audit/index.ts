/** The audit of one request and of the organisation. */
import { type AuditReport, auditReport } from '../../../core/index.ts'
import { defineRoute } from '../../server/define-route.ts'
import type { ApiTexts } from '../../server/services.ts'
import { ofOneRequest } from '../shared/index.ts'
import examples from './examples.json' with { type: 'json' }

const readAudit = defineRoute({
  id: 'readAudit',
  tag: 'Administration',
  method: 'GET',
  path: '/audit/v1/requests/:requestId',
  summary: 'Who did what with a request, from where, and whether all of it is as it was written',
  permission: 'audit.read',
  audience: 'any',
  params: ofOneRequest,
  answers: { 200: { says: 'The entries, the oldest first, and what the proof has found.', body: auditReport } },
  refusals: ['not-found'],
  examples: examples.readAudit,
  async handle({ actor, services, provisioning }, { params }) {
    const report = await provisioning.readAudit(actor, { requestId: params.requestId })
    return { status: 200, body: showReport(report, services.texts) }
  },
})

/** The chain of what is about no one request. */
const readOrganisationAudit = defineRoute({
  id: 'readOrganisationAudit',
  tag: 'Administration',
  method: 'GET',
  path: '/audit/v1/organisation',
  summary: 'What admins did that is about no one request, and whether all of it is as it was written',
  permission: 'audit.read',
  audience: 'any',
  answers: { 200: { says: 'The entries, the oldest first, and what the proof has found.', body: auditReport } },
  refusals: [],
  examples: examples.readOrganisationAudit,
  async handle({ actor, services, provisioning }) {
    return { status: 200, body: showReport(await provisioning.readOrganisationAudit(actor), services.texts) }
  },
})

const showReport = (report: AuditReport, texts: ApiTexts) => ({
  ...report,
  findings: report.findings.map(({ reason, ...finding }) => ({ ...finding, detail: texts.reason(reason) })),
})

export const requestAuditRoutes = [readAudit] as const
export const organisationAuditRoutes = [readOrganisationAudit] as const
