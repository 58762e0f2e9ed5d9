import { z } from 'zod'
import { cards } from '../../cards/index.ts'
import { openStates, type Request, referencePattern } from '../../core/index.ts'
import { statusOf } from '../actions/request.ts'
import { defineCommand } from '../define-command.ts'
import { isForAdmins, type Turn } from '../turn.ts'
import { confirmCancel } from './admin.ts'

const anything = z.string()
const reference = z.string().regex(referencePattern)
/** The most that a card reads into its lists; it shows fewer and says how many more there are. */
const listed = 100

/** `my requests`. */
export const myRequestsCommand = defineCommand({
  words: 'my requests',
  also: ['requests', 'my request', 'list'],
  menu: 5,
  argument: anything,
  handle: showMine,
  otherwise: showMine,
})

/** `approvals`: what waits for this person. */
export const approvalsCommand = defineCommand({
  words: 'approvals',
  also: ['approval', 'my approvals'],
  menu: 6,
  argument: anything,
  handle: showApprovals,
  otherwise: showApprovals,
})

/** `status REQ-1042`; alone it shows the newest open request. */
export const statusCommand = defineCommand({
  words: 'status',
  menu: 8,
  argument: reference,
  handle: async (turn, argument) =>
    statusOf(turn, (await turn.provisioning.readByReference(turn.actor, argument)).requestId),
  async otherwise(turn, argument) {
    if (argument !== '') return { card: cards.notice({ code: 'noReference' }, turn.viewer) }
    const { requests } = await turn.provisioning.listOwn(turn.actor, listed)
    const newest = requests.find(isOpen) ?? requests[0]
    return newest ? statusOf(turn, newest.requestId) : showMine(turn)
  },
})

/** `cancel REQ-1042`. An admin who ends somebody else's says why first. */
export const cancelCommand = defineCommand({
  words: 'cancel',
  menu: 9,
  argument: reference,
  async handle(turn, argument) {
    const request = await turn.provisioning.readByReference(turn.actor, argument)
    const { requestId, requester } = request
    if (requester.id !== turn.actor.id && isForAdmins(turn.actor)) return confirmCancel(turn, request)
    await turn.provisioning.cancel(turn.actor, requestId)
    return statusOf(turn, requestId)
  },
  otherwise: async (turn) => ({ card: cards.notice({ code: 'noReferenceToCancel' }, turn.viewer) }),
})

const isOpen = ({ status }: Request): boolean => openStates.includes(status)

async function showMine(turn: Turn) {
  const { requests, nextCursor } = await turn.provisioning.listOwn(turn.actor, listed)
  if (requests.length === 0) return { card: cards.notice({ code: 'noRequests' }, turn.viewer) }
  return { card: cards.myRequests(requests, nextCursor === undefined ? 0 : 1, turn.viewer) }
}

async function showApprovals(turn: Turn) {
  const { provisioning, actor, viewer } = turn
  const [{ requests }, { own }] = await Promise.all([
    provisioning.listApprovals(actor, listed),
    provisioning.delegations.read(actor),
  ])
  if (requests.length === 0) return { card: cards.notice({ code: 'noApprovals' }, viewer) }
  return { card: cards.approvals(requests, viewer, own) }
}
