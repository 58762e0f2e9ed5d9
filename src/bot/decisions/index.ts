/** Approve, reject, reassign, override and delegate, by card and by command. */
import { approveCommand, approveRequest, refreshApproval, rejectCommand, rejectRequest } from './approval.ts'
import {
  adminDelegationsCommand,
  backCommand,
  delegateCommand,
  endDelegation,
  openDelegation,
  pageDelegations,
  saveDelegation,
} from './delegation.ts'
import { adminApproveCommand, adminRejectCommand, approveAsAdmin, rejectAsAdmin } from './override.ts'
import { adminReassignCommand, reassignAsAdmin } from './reassign.ts'
import { approveSeveral, rejectSeveral, showSeveral } from './several.ts'

export const decisionActions = [
  approveRequest,
  rejectRequest,
  refreshApproval,
  showSeveral,
  approveSeveral,
  rejectSeveral,
  openDelegation,
  saveDelegation,
  endDelegation,
  pageDelegations,
  approveAsAdmin,
  rejectAsAdmin,
  reassignAsAdmin,
]
export const decisionCommands = [
  approveCommand,
  rejectCommand,
  delegateCommand,
  backCommand,
  adminDelegationsCommand,
  adminApproveCommand,
  adminRejectCommand,
  adminReassignCommand,
]
