import { z } from 'zod'
import { cardsFor, rowsOfPage } from '../../cards/index.ts'
import { openStates, type PageAt } from '../../core/index.ts'
import type { Reply, Turn } from '../channel/turn.ts'
import { defineCardAction, defineCommand, defineShowCommand, reference, showNotice } from '../define.ts'
import { isNumberLike, newestSearched, ofReference, onlyMeant, onlyOne } from './meant.ts'
import { nudge, statusOf } from './status.ts'

/** `my requests`. */
export const myRequestsCommand = defineShowCommand({
  name: 'my requests',
  menu: 5,
  show: (turn) => showMine(turn),
})

/** `approvals`: lists the requests that wait for this person's decision. */
export const approvalsCommand = defineShowCommand({
  name: 'approvals',
  menu: 6,
  show: (turn) => showApprovals(turn),
})

/** `status REQ-1042`; alone, it shows the newest open request. */
export const statusCommand = defineCommand({
  name: 'status',
  menu: 8,
  argument: reference,
  handle: (turn, reference) => ofReference(turn, reference, ({ requestId }) => statusOf(turn, requestId)),
  async withoutValidArgument(turn, argument) {
    if (isNumberLike(argument)) return showNotice(turn, { code: 'noReference' })
    if (argument !== '') return statusMeant(turn, argument)
    const { requests } = await turn.core.listOwnRequests(turn.actor, { limit: newestSearched })
    const newest = requests.find(({ status }) => openStates.includes(status)) ?? requests[0]
    return newest ? statusOf(turn, newest.requestId) : showMine(turn)
  },
})

/** `nudge REQ-1042`: reminds the approvers who have not decided; alone, for the person's newest pending request. */
export const nudgeCommand = defineCommand({
  name: 'nudge',
  changes: true,
  argument: reference,
  handle: (turn, reference) => ofReference(turn, reference, ({ requestId }) => nudge(turn, requestId)),
  async withoutValidArgument(turn, argument) {
    if (argument !== '') return showNotice(turn, { code: 'noReferenceToNudge' })
    const { requests } = await turn.core.listOwnRequests(turn.actor, { limit: newestSearched })
    const newest = requests.find(({ status }) => status === 'pendingApproval')
    return newest ? nudge(turn, newest.requestId) : showNotice(turn, { code: 'nothingToNudge' })
  },
})

/** Shows the request that a sentence names, or the only open one; otherwise, the list. */
async function statusMeant(turn: Turn, text: string): Promise<Reply> {
  const { requests } = await turn.core.listOwnRequests(turn.actor, { limit: newestSearched })
  const only = onlyMeant(requests, text) ?? onlyOne(requests.filter(({ status }) => openStates.includes(status)))
  return only ? statusOf(turn, only.requestId) : showMine(turn)
}

/** The number of the first or last request on the clicked page. */
const edge = z.coerce.number().int().min(0).max(999_999_999).optional()
const data = z.object({ before: edge, after: edge })

/** Shows another page of the person's own requests, on the same card. */
export const pageRequests = defineCardAction({ verb: 'requests.page', data, handle: showMine })

/** Shows another page of the requests that wait for the person's decision, on the same card. */
export const pageApprovals = defineCardAction({ verb: 'approvals.page', data, handle: showApprovals })

/** Shows a page of the person's own requests; without `at`, the newest. */
async function showMine(turn: Turn, at: PageAt = {}): Promise<Reply> {
  const { core, actor, viewer } = turn
  const [page, drafts] = await Promise.all([
    core.pageOfOwnRequests(actor, { limit: rowsOfPage, ...at }),
    core.listDrafts(actor),
  ])
  if (page.requests.length > 0) return { card: cardsFor(viewer).myRequests(page, viewer, drafts.length) }
  const count = drafts.length
  return count > 0 ? showNotice(turn, { code: 'onlyDrafts', count }) : showNotice(turn, { code: 'noRequests' })
}

/** Shows a page of the requests that wait for the person's decision; without `at`, the newest. */
async function showApprovals(turn: Turn, at: PageAt = {}): Promise<Reply> {
  const { core, actor, viewer } = turn
  const [page, { own }] = await Promise.all([
    core.pageOfApprovals(actor, { limit: rowsOfPage, ...at }),
    core.readDelegations(actor),
  ])
  return page.requests.length === 0
    ? showNotice(turn, { code: 'noApprovals' })
    : { card: cardsFor(viewer).approvals(page, viewer, own) }
}
