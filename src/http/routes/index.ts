/** The registry of all REST routes; each room has the routes of its capability. */
import { routeRegistry } from '../server/define-route.ts'
import { organisationAuditRoutes, requestAuditRoutes } from './audit/index.ts'
import { batchRoutes } from './batches/index.ts'
import { decisionRoutes } from './decisions/index.ts'
import { explanationRoutes } from './explanations/index.ts'
import { deadLetterRoutes, docsRoutes, probeRoutes, reportRoutes } from './operations/index.ts'
import { exportRoutes } from './privacy/index.ts'
import { pageRoutes } from './privacy/pages.ts'
import { readingRoutes, submissionRoutes } from './requests/index.ts'
import { channelRoutes } from './shared/messages.ts'
import { templateRoutes } from './templates/index.ts'
import { deliveryRoutes, receiverRoutes } from './webhooks/index.ts'

/** The REST contract (DESIGN §5), in the order of the API document. */
export const routes = routeRegistry(
  ...submissionRoutes,
  ...batchRoutes,
  ...readingRoutes,
  ...explanationRoutes,
  ...decisionRoutes,
  ...templateRoutes,
  ...requestAuditRoutes,
  ...reportRoutes,
  ...organisationAuditRoutes,
  ...deadLetterRoutes,
  ...deliveryRoutes,
  ...exportRoutes,
  ...receiverRoutes,
  ...channelRoutes,
  ...probeRoutes,
  ...docsRoutes,
  ...pageRoutes,
)
