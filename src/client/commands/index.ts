import { commandRegistry } from '../command-line/define-command.ts'
import { createMailbox } from './create-mailbox.ts'
import { createSite } from './create-site.ts'
import { approveRequest, cancelRequest, rejectRequest } from './decide-request.ts'
import { findGroup } from './find-group.ts'
import { listRequests } from './list-requests.ts'
import { listenToWebhooks } from './listen-to-webhooks.ts'
import { login } from './login.ts'
import { logout } from './logout.ts'
import { showRequest } from './show-request.ts'
import { templates } from './templates.ts'
import { testWebhook } from './test-webhook.ts'
import { watchRequest } from './watch-request.ts'
import { whoami } from './whoami.ts'

/** All that can be said, in the order in which the help tells it. */
export const commands = commandRegistry(
  login,
  logout,
  whoami,
  templates,
  createSite,
  createMailbox,
  listRequests,
  showRequest,
  watchRequest,
  cancelRequest,
  approveRequest,
  rejectRequest,
  findGroup,
  listenToWebhooks,
  testWebhook,
)
