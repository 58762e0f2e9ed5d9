import { commandRegistry } from '../command-line/define-command.ts'
import { createMailbox, createSite, templates } from './create.ts'
import {
  approveRequest,
  cancelRequest,
  findGroup,
  listRequests,
  rejectRequest,
  showRequest,
  watchRequest,
} from './requests.ts'
import { login, logout, whoami } from './sign-in.ts'
import { listenToWebhooks, sendWaitingWebhooks, testWebhook } from './webhooks.ts'

/** All commands, in the order in which the help lists them. */
export const commands = commandRegistry(
  ...[login, logout, whoami, templates, createSite, createMailbox],
  ...[listRequests, showRequest, watchRequest, cancelRequest, approveRequest, rejectRequest, findGroup],
  ...[listenToWebhooks, testWebhook, sendWaitingWebhooks],
)
