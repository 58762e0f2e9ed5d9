import { routeRegistry } from '../server/define-route.ts'
import { readAudit, readOrganisationAudit } from './audit/index.ts'
import { cancelBatch, createBatch, listBatchRows, readBatch } from './batches/index.ts'
import { approveRequest, cancelRequest, rejectRequest, retryRequest } from './decisions/index.ts'
import { nudgeRequest, reassignRequest } from './decisions/reassign.ts'
import { explainRequest } from './explanations/index.ts'
import { dismissDeadLetter, listDeadLetters, replayDeadLetter } from './operations/dead-letters.ts'
import { readDocs, readDocsFile, readOpenApi } from './operations/docs.ts'
import { readHealth } from './operations/index.ts'
import { readMetrics } from './operations/metrics.ts'
import { live, ready } from './operations/probes.ts'
import { readStats } from './operations/stats.ts'
import { downloadExport, showExport } from './privacy/index.ts'
import { listRequests, readRequest, readTimeline } from './requests/index.ts'
import { createMailbox } from './requests/mailboxes.ts'
import { previewRequest } from './requests/preview.ts'
import { createSite } from './requests/sites.ts'
import { receiveActivity } from './shared/messages.ts'
import { listTemplates, readTemplate, writeTemplate } from './templates/index.ts'
import { listDeliveries, readDelivery, replayDelivery } from './webhooks/deliveries.ts'
import { receiveWebhook } from './webhooks/index.ts'
import { testWebhook } from './webhooks/webhook-test.ts'

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
