import { z } from 'zod'
import { cards, type Notice } from '../../cards/index.ts'
import { isRetryable, isTerminal, type Request, referenceOf, referencePattern } from '../../core/index.ts'
import { showAudit, showOrganisationAudit } from '../audit/audit.ts'
import type { Reply, Turn } from '../channel/turn.ts'
import { defineCommand } from '../define-command.ts'
import { statusOf } from '../requests/actions.ts'
import { ifFound, referenceAndWords, which } from '../requests/admin-target.ts'
import { isCancellable, jobsLeft } from './actions.ts'
import { showDelegations, showQueue, showStuck } from './lists.ts'

const anything = z.string()
const reference = z.string().regex(referencePattern)

/** `admin queue`: all open requests of the organisation. */
export const adminQueueCommand = defineCommand({
  words: 'admin queue',
  forAdmins: true,
  argument: anything,
  handle: (turn) => showQueue(turn),
  otherwise: (turn) => showQueue(turn),
})

/** `admin stuck`: the stuck requests. */
export const adminStuckCommand = defineCommand({
  words: 'admin stuck',
  forAdmins: true,
  argument: anything,
  handle: (turn) => showStuck(turn),
  otherwise: (turn) => showStuck(turn),
})

/** `admin delegations`: the delegations that run now. */
export const adminDelegationsCommand = defineCommand({
  words: 'admin delegations',
  also: ['admin delegation'],
  forAdmins: true,
  argument: anything,
  handle: (turn) => showDelegations(turn),
  otherwise: (turn) => showDelegations(turn),
})

const showHealth = async ({ core, actor, viewer }: Turn): Promise<Reply> => ({
  card: cards.adminHealth(await core.readHealth(actor), viewer),
})

/** `admin health`: the state of the service and of everything that it needs. */
export const adminHealthCommand = defineCommand({
  words: 'admin health',
  forAdmins: true,
  argument: anything,
  handle: showHealth,
  otherwise: showHealth,
})

/** `admin jobs`: what the queue has given up, to run it again. */
export const adminJobsCommand = defineCommand({
  words: 'admin jobs',
  forAdmins: true,
  argument: anything,
  handle: jobsLeft,
  otherwise: jobsLeft,
})

/** `admin retry REQ-1042`: asks first; the click does it. */
export const adminRetryCommand = defineCommand({
  words: 'admin retry',
  forAdmins: true,
  argument: referenceAndWords,
  handle: (turn, { reference }) => ifFound(turn, reference, (request) => confirmRetry(turn, request)),
  otherwise: (turn) => which(turn, 'retry'),
})

/** `admin cancel REQ-1042`: asks first, and why, unless words that follow say it; the click does it. */
export const adminCancelCommand = defineCommand({
  words: 'admin cancel',
  forAdmins: true,
  argument: referenceAndWords,
  handle: (turn, { reference, words }) => ifFound(turn, reference, (request) => confirmCancel(turn, request, words)),
  otherwise: (turn) => which(turn, 'cancel'),
})

/** `admin status REQ-1042`: the same as `status REQ-1042`. */
export const adminStatusCommand = defineCommand({
  words: 'admin status',
  forAdmins: true,
  argument: reference,
  handle: (turn, argument) => ifFound(turn, argument, ({ requestId }) => statusOf(turn, requestId)),
  otherwise: async (turn, argument) => (argument === '' ? showQueue(turn) : notice(turn, { code: 'noReference' })),
})

/** `admin audit REQ-1042`: the request's audit, and whether it is unchanged; alone, the organisation's audit. */
export const adminAuditCommand = defineCommand({
  words: 'admin audit',
  forAdmins: true,
  argument: reference,
  handle: (turn, argument) => ifFound(turn, argument, (request) => showAudit(turn, request)),
  otherwise: async (turn, typed) =>
    typed === '' ? showOrganisationAudit(turn) : notice(turn, { code: 'noReferenceToAudit' }),
})

/** The card that ends a request, with what was typed as its comment; a notice where it can no longer be ended. */
export async function confirmCancel(turn: Turn, request: Request, comment = ''): Promise<Reply> {
  if (isCancellable(request))
    return { card: cards.adminConfirm({ verb: 'admin.cancel', request, comment }, turn.viewer) }
  return notice(turn, { code: isTerminal(request.status) ? 'alreadyEnded' : 'cannotCancel', ...about(request) })
}

async function confirmRetry(turn: Turn, request: Request): Promise<Reply> {
  if (!isRetryable(request, turn.viewer.now)) return notice(turn, { code: 'cannotRetry', ...about(request) })
  if (request.status === 'succeeded') {
    // A look changes nothing, so that nothing has to be confirmed.
    await turn.core.retryRequest(turn.actor, { requestId: request.requestId })
    return statusOf(turn, request.requestId)
  }
  return { card: cards.adminConfirm({ verb: 'admin.retry', request }, turn.viewer) }
}

const notice = ({ viewer }: Turn, what: Notice): Reply => ({ card: cards.notice(what, viewer) })
/** A notice about a request, with a button for its status. */
const about = (request: Request) => ({ reference: referenceOf(request), requestId: request.requestId })
