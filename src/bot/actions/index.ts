import { cardActionRegistry } from '../define-card-action.ts'
import { beginDigest, endDigest, refreshDigest } from '../digest.ts'
import {
  cancelAsAdmin,
  dismissAsAdmin,
  examineAsAdmin,
  readCertificateAsAdmin,
  replayAsAdmin,
  retryAsAdmin,
} from './admin.ts'
import { pageAudit } from './admin-audit.ts'
import { examineDelivery, pageDeliveries, redeliver } from './admin-deliveries.ts'
import { endDelegationsAsAdmin, eraseAsAdmin } from './admin-erase.ts'
import { exportAsAdmin } from './admin-export.ts'
import { pageDelegations, pageQueue, pageStuck } from './admin-lists.ts'
import { approveAsAdmin, rejectAsAdmin } from './admin-override.ts'
import { reassignAsAdmin } from './admin-reassign.ts'
import { disableTemplate, enableTemplate, examineTemplate, pageTemplates } from './admin-templates.ts'
import { examineReceiver, pageReceivers, resendFailed, switchReceiverOn, testReceiver } from './admin-webhooks.ts'
import { approveRequest, refreshApproval, rejectRequest } from './approval.ts'
import { endDelegation, openDelegation, saveDelegation } from './delegation.ts'
import { pageApprovals, pageRequests } from './lists.ts'
import {
  askAgain,
  cancelRequest,
  checkNames,
  chooseTemplate,
  continueRequest,
  editRequest,
  keepRequest,
  nudgeRequest,
  refreshRequest,
  reviewRequest,
  showTimeline,
  submitRequest,
} from './request.ts'

/** Every verb that a card of ours can carry. */
export const cardActions = cardActionRegistry(
  chooseTemplate,
  continueRequest,
  reviewRequest,
  checkNames,
  keepRequest,
  submitRequest,
  editRequest,
  askAgain,
  cancelRequest,
  refreshRequest,
  nudgeRequest,
  showTimeline,
  pageRequests,
  pageApprovals,
  approveRequest,
  rejectRequest,
  refreshApproval,
  openDelegation,
  saveDelegation,
  endDelegation,
  pageQueue,
  pageStuck,
  refreshDigest,
  beginDigest,
  endDigest,
  retryAsAdmin,
  cancelAsAdmin,
  approveAsAdmin,
  rejectAsAdmin,
  reassignAsAdmin,
  examineAsAdmin,
  dismissAsAdmin,
  replayAsAdmin,
  readCertificateAsAdmin,
  pageTemplates,
  examineTemplate,
  enableTemplate,
  disableTemplate,
  pageReceivers,
  examineReceiver,
  testReceiver,
  switchReceiverOn,
  pageDeliveries,
  examineDelivery,
  redeliver,
  resendFailed,
  pageAudit,
  exportAsAdmin,
  eraseAsAdmin,
  endDelegationsAsAdmin,
  pageDelegations,
)
