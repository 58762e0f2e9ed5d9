/** A person’s requests: status, lists and reminders; retry and cancel by admins; simulation as another person. */
import { adminCancelCommand, adminRetryCommand, adminSimulateCommand, cancelAsAdmin, retryAsAdmin } from './admin.ts'
import {
  approvalsCommand,
  cancelCommand,
  myRequestsCommand,
  nudgeCommand,
  pageApprovals,
  pageRequests,
  statusCommand,
} from './commands.ts'
import { changeAddress, nudgeRequest, refreshRequest, showTimeline } from './status.ts'

export { defineAdminVerb, ifFound, referenceAndText } from './admin.ts'
export { approvalsCommand, cancelOnceConfirmed, ofReference, statusCommand } from './commands.ts'
export { statusOf, unlessWithdrawn } from './status.ts'

export const requestActions = [
  refreshRequest,
  nudgeRequest,
  changeAddress,
  showTimeline,
  pageRequests,
  pageApprovals,
  retryAsAdmin,
  cancelAsAdmin,
]
export const requestCommands = [
  myRequestsCommand,
  approvalsCommand,
  statusCommand,
  cancelCommand,
  nudgeCommand,
  adminRetryCommand,
  adminCancelCommand,
  adminSimulateCommand,
]
