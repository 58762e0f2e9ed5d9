import { routeRegistry } from '../server/define-route.ts'
import { readAudit, readOrganisationAudit } from './audit/index.ts'
import { cancelBatch, createBatch, listBatchRows, readBatch } from './batches/index.ts'
import {
  approveRequest,
  cancelRequest,
  nudgeRequest,
  reassignRequest,
  rejectRequest,
  retryRequest,
} from './decisions/index.ts'
import { explainRequest } from './explanations/index.ts'
import { readDocs, readDocsFile, readOpenApi } from './operations/docs.ts'
import { dismissDeadLetter, listDeadLetters, readHealth, readStats, replayDeadLetter } from './operations/index.ts'
import { live, readMetrics, ready } from './operations/probes.ts'
import { downloadExport, showExport } from './privacy/index.ts'
import { listRequests, readRequest, readTimeline } from './requests/read.ts'
import { createMailbox, createSite, previewRequest } from './requests/submit.ts'
import { receiveActivity } from './shared/messages.ts'
import { listTemplates, readTemplate, writeTemplate } from './templates/index.ts'
import { listDeliveries, readDelivery, receiveWebhook, replayDelivery, testWebhook } from './webhooks/index.ts'

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
