import { z } from 'zod'
import { cards } from '../../cards/index.ts'
import { openStates, type Request, referencePattern } from '../../core/index.ts'
import { isForAdmins } from '../channel/turn.ts'
import { defineCommand } from '../define-command.ts'
import { confirmCancel } from '../operations/commands.ts'
import { nudged, statusOf } from './actions.ts'
import { showApprovals, showMine } from './lists.ts'

const anything = z.string()
const reference = z.string().regex(referencePattern)
/** The number of a person's newest requests to search for an open one. */
const listed = 100

/** `my requests`. */
export const myRequestsCommand = defineCommand({
  words: 'my requests',
  also: ['requests', 'my request', 'list'],
  menu: 5,
  argument: anything,
  handle: (turn) => showMine(turn),
  otherwise: (turn) => showMine(turn),
})

/** `approvals`: the requests that this person has to decide. */
export const approvalsCommand = defineCommand({
  words: 'approvals',
  also: ['approval', 'my approvals'],
  menu: 6,
  argument: anything,
  handle: (turn) => showApprovals(turn),
  otherwise: (turn) => showApprovals(turn),
})

/** `status REQ-1042`; alone it shows the newest open request. */
export const statusCommand = defineCommand({
  words: 'status',
  menu: 8,
  argument: reference,
  handle: async (turn, argument) =>
    statusOf(turn, (await turn.core.readRequestByReference(turn.actor, { reference: argument })).requestId),
  async otherwise(turn, argument) {
    if (argument !== '') return { card: cards.notice({ code: 'noReference' }, turn.viewer) }
    const { requests } = await turn.core.listOwnRequests(turn.actor, { limit: listed })
    const newest = requests.find(isOpen) ?? requests[0]
    return newest ? statusOf(turn, newest.requestId) : showMine(turn)
  },
})

/** `cancel REQ-1042`. An admin gives a reason before they cancel the request of another person. */
export const cancelCommand = defineCommand({
  words: 'cancel',
  menu: 9,
  argument: reference,
  async handle(turn, argument) {
    const request = await turn.core.readRequestByReference(turn.actor, { reference: argument })
    const { requestId, requester } = request
    if (requester.id !== turn.actor.id && isForAdmins(turn.actor)) return confirmCancel(turn, request)
    await turn.core.cancelRequest(turn.actor, { requestId })
    return statusOf(turn, requestId)
  },
  otherwise: async (turn) => ({ card: cards.notice({ code: 'noReferenceToCancel' }, turn.viewer) }),
})

/** `nudge REQ-1042`: reminds the approvers who have not decided; alone, for the newest own request that is pending. */
export const nudgeCommand = defineCommand({
  words: 'nudge',
  also: ['remind'],
  argument: reference,
  handle: async (turn, argument) =>
    nudged(turn, (await turn.core.readRequestByReference(turn.actor, { reference: argument })).requestId),
  async otherwise(turn, argument) {
    if (argument !== '') return { card: cards.notice({ code: 'noReferenceToNudge' }, turn.viewer) }
    const { requests } = await turn.core.listOwnRequests(turn.actor, { limit: listed })
    const newest = requests.find(({ status }) => status === 'pendingApproval')
    if (newest) return nudged(turn, newest.requestId)
    return { card: cards.notice({ code: 'nothingToNudge' }, turn.viewer) }
  },
})

const isOpen = ({ status }: Request): boolean => openStates.includes(status)
