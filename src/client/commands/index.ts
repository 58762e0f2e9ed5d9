/** The commands of the command line `quartermaster`, in the order of its help. */
import { type Command, commandRegistry } from '../command-line/define-command.ts'
import { completionOf } from './completion.ts'
import { createMailbox, createSite, templates } from './create.ts'
import {
  approveRequest,
  cancelRequest,
  changeAddress,
  findGroup,
  listRequests,
  nudgeRequest,
  reassignRequest,
  rejectRequest,
  retryRequest,
  showRequest,
  showTimeline,
  watchRequest,
} from './requests.ts'
import { login, logout, whoami } from './sign-in.ts'
import { listenToWebhooks, sendWaitingWebhooks, testWebhook } from './webhooks.ts'

/** All commands, in the order in which the help lists them. */
export const commands: readonly Command[] = commandRegistry(
  ...[login, logout, whoami, templates, createSite, createMailbox],
  ...[listRequests, showRequest, showTimeline, watchRequest, cancelRequest, changeAddress, retryRequest],
  ...[approveRequest, rejectRequest, nudgeRequest, reassignRequest, findGroup],
  ...[listenToWebhooks, testWebhook, sendWaitingWebhooks, completionOf(() => commands)],
)
