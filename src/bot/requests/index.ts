/** A person’s requests: status, lists and reminders; retry and cancel by admins; simulation as another person. */
import { adminCancelCommand, adminRetryCommand, cancelAsAdmin, retryAsAdmin } from './admin.ts'
import { cancelCommand } from './cancel.ts'
import {
  approvalsCommand,
  myRequestsCommand,
  nudgeCommand,
  pageApprovals,
  pageRequests,
  statusCommand,
} from './commands.ts'
import { adminSimulateCommand } from './simulate.ts'
import { changeAddress, nudgeRequest, refreshRequest, showTimeline } from './status.ts'

export { defineAdminVerb, ifFound, referenceAndText } from './admin.ts'
export { cancelOnceConfirmed } from './cancel.ts'
export { approvalsCommand, statusCommand } from './commands.ts'
export { ofReference } from './meant.ts'
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
