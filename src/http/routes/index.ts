import { routeRegistry } from '../define-route.ts'
import { readHealth } from './admin-health.ts'
import { readAudit, readOrganisationAudit } from './audit.ts'
import { cancelBatch, createBatch, listBatchRows, readBatch } from './batches.ts'
import { dismissDeadLetter, listDeadLetters, replayDeadLetter } from './dead-letters.ts'
import { approveRequest, cancelRequest, rejectRequest, retryRequest } from './decisions.ts'
import { listDeliveries, readDelivery, replayDelivery } from './deliveries.ts'
import { readDocs, readDocsFile, readOpenApi } from './docs.ts'
import { explainRequest } from './explanation.ts'
import { downloadExport, showExport } from './exports.ts'
import { live, ready } from './health.ts'
import { createMailbox } from './mailboxes.ts'
import { receiveActivity } from './messages.ts'
import { readMetrics } from './metrics.ts'
import { previewRequest } from './preview.ts'
import { nudgeRequest, reassignRequest } from './reassign.ts'
import { listRequests, readRequest, readTimeline } from './requests.ts'
import { createSite } from './sites.ts'
import { readStats } from './stats.ts'
import { listTemplates, readTemplate, writeTemplate } from './templates.ts'
import { testWebhook } from './webhook-test.ts'
import { receiveWebhook } from './webhooks.ts'

/** The REST contract (DESIGN §5). */
export const routes = routeRegistry(
  createSite,
  createMailbox,
  previewRequest,
  createBatch,
  readBatch,
  listBatchRows,
  cancelBatch,
  listRequests,
  readRequest,
  readTimeline,
  explainRequest,
  approveRequest,
  rejectRequest,
  cancelRequest,
  retryRequest,
  reassignRequest,
  nudgeRequest,
  listTemplates,
  readTemplate,
  writeTemplate,
  readAudit,
  readStats,
  readHealth,
  readOrganisationAudit,
  listDeadLetters,
  replayDeadLetter,
  dismissDeadLetter,
  listDeliveries,
  readDelivery,
  replayDelivery,
  testWebhook,
  showExport,
  downloadExport,
  receiveWebhook,
  receiveActivity,
  live,
  ready,
  readMetrics,
  readOpenApi,
  readDocs,
  readDocsFile,
)
