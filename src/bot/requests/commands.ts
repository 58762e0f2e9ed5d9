import { z } from 'zod'
import { cards, rowsOfPage } from '../../cards/index.ts'
import { openStates, type PageAt, referencePattern } from '../../core/index.ts'
import { isForAdmins, type Reply, type Turn } from '../channel/turn.ts'
import { defineCardAction, defineCommand, defineShowCommand, showNotice } from '../define.ts'
import { confirmCancel } from './admin.ts'
import { nudge, statusOf } from './status.ts'

const reference = z.string().regex(referencePattern)
/** The number of a person's newest requests to search for an open one. */
const newestSearched = 100

/** `my requests`. */
export const myRequestsCommand = defineShowCommand({
  words: 'my requests',
  also: ['requests', 'my request', 'list'],
  menu: 5,
  show: (turn) => showMine(turn),
})

/** `approvals`: the requests that this person has to decide. */
export const approvalsCommand = defineShowCommand({
  words: 'approvals',
  also: ['approval', 'my approvals'],
  menu: 6,
  show: (turn) => showApprovals(turn),
})

/** `status REQ-1042`; alone it shows the newest open request. */
export const statusCommand = defineCommand({
  words: 'status',
  menu: 8,
  argument: reference,
  handle: async (turn, reference) =>
    statusOf(turn, (await turn.core.readRequestByReference(turn.actor, { reference })).requestId),
  async otherwise(turn, argument) {
    if (argument !== '') return showNotice(turn, { code: 'noReference' })
    const { requests } = await turn.core.listOwnRequests(turn.actor, { limit: newestSearched })
    const newest = requests.find(({ status }) => openStates.includes(status)) ?? requests[0]
    return newest ? statusOf(turn, newest.requestId) : showMine(turn)
  },
})

/** `cancel REQ-1042`. An admin gives a reason before they cancel the request of another person. */
export const cancelCommand = defineCommand({
  words: 'cancel',
  menu: 9,
  argument: reference,
  async handle(turn, reference) {
    const request = await turn.core.readRequestByReference(turn.actor, { reference })
    const { requestId, requester } = request
    if (requester.id !== turn.actor.id && isForAdmins(turn.actor)) return confirmCancel(turn, request)
    await turn.core.cancelRequest(turn.actor, { requestId })
    return statusOf(turn, requestId)
  },
  otherwise: async (turn) => showNotice(turn, { code: 'noReferenceToCancel' }),
})

/** `nudge REQ-1042`: reminds the approvers who have not decided; alone, for the newest own request that is pending. */
export const nudgeCommand = defineCommand({
  words: 'nudge',
  also: ['remind'],
  argument: reference,
  handle: async (turn, reference) =>
    nudge(turn, (await turn.core.readRequestByReference(turn.actor, { reference })).requestId),
  async otherwise(turn, argument) {
    if (argument !== '') return showNotice(turn, { code: 'noReferenceToNudge' })
    const { requests } = await turn.core.listOwnRequests(turn.actor, { limit: newestSearched })
    const newest = requests.find(({ status }) => status === 'pendingApproval')
    return newest ? nudge(turn, newest.requestId) : showNotice(turn, { code: 'nothingToNudge' })
  },
})

/** The number of the request at the edge of the page that the click was on. */
const edge = z.coerce.number().int().min(0).max(999_999_999).optional()
const data = z.object({ before: edge, after: edge })

/** Turns the page of a person's own requests. The card changes in place. */
export const pageRequests = defineCardAction({ verb: 'requests.page', data, handle: showMine })

/** Turns the page of the requests that a person has to decide. The card changes in place. */
export const pageApprovals = defineCardAction({ verb: 'approvals.page', data, handle: showApprovals })

/** A page of the person's own requests, the newest without `at`. */
async function showMine(turn: Turn, at: PageAt = {}): Promise<Reply> {
  const { core, actor, viewer } = turn
  const page = await core.pageOfOwnRequests(actor, { limit: rowsOfPage, ...at })
  return page.requests.length === 0
    ? showNotice(turn, { code: 'noRequests' })
    : { card: cards.myRequests(page, viewer) }
}

/** A page of the requests that the person has to decide, the newest without `at`. */
async function showApprovals(turn: Turn, at: PageAt = {}): Promise<Reply> {
  const { core, actor, viewer } = turn
  const [page, { own }] = await Promise.all([
    core.pageOfApprovals(actor, { limit: rowsOfPage, ...at }),
    core.readDelegations(actor),
  ])
  return page.requests.length === 0
    ? showNotice(turn, { code: 'noApprovals' })
    : { card: cards.approvals(page, viewer, own) }
}
