import { z } from 'zod'
import { cardsFor, rowsOfPage } from '../../cards/index.ts'
import { may, openStates, type PageAt, type Request, type RequestState } from '../../core/index.ts'
import { hasRequestNumber, onlyNumberIn, wordsSharedWith } from '../channel/sentences/index.ts'
import { isForAdmins, type Reply, type Turn } from '../channel/turn.ts'
import {
  defineCardAction,
  defineCommand,
  defineShowCommand,
  reference,
  showNotice,
  undefinedIfNotFound,
} from '../define.ts'
import { cancellableStates, confirmCancel, isCancellable } from './admin.ts'
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
    if (hasRequestNumber(argument)) return showNotice(turn, { code: 'noReference' })
    if (argument !== '') return statusMeant(turn, argument)
    const newest = (await newestOf(turn, openStates)) ?? (await newestOf(turn))
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
    const newest = await newestOf(turn, ['pendingApproval'])
    return newest ? nudge(turn, newest.requestId) : showNotice(turn, { code: 'nothingToNudge' })
  },
})

/** Shows the request that a sentence names, the one with its number, or the only open one; otherwise, the list. */
async function statusMeant(turn: Turn, text: string): Promise<Reply> {
  const { core, actor } = turn
  const [{ requests: open }, newest] = await Promise.all([
    core.listOwnRequests(actor, { limit: openSearched, status: openStates }),
    core.listOwnRequests(actor, { limit: newestSearched }),
  ])
  const ended = newest.requests.filter(({ status }) => !openStates.includes(status))
  const only = onlyMeant([...open, ...ended], text) ?? onlyUnnumbered(open, text)
  if (only) return statusOf(turn, only.requestId)
  const number = onlyNumberIn(text)
  return number === undefined
    ? showMine(turn)
    : ofReference(turn, `REQ-${number}`, ({ requestId }) => statusOf(turn, requestId))
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

/** `cancel REQ-1042`: shows a confirmation; the click cancels. */
export const cancelCommand = defineCommand({
  name: 'cancel',
  menu: 9,
  changes: true,
  argument: reference,
  handle: (turn, reference) => ofReference(turn, reference, (request) => cancelOnceConfirmed(turn, request)),
  withoutValidArgument: (turn, argument) => cancelMeant(turn, argument),
})

/**
 * Asks to confirm for the person's open request that a text names, for the one with its number, or for the only one.
 * Otherwise, lists the open requests, each with a button that asks.
 */
async function cancelMeant(turn: Turn, text: string): Promise<Reply> {
  const { core, actor } = turn
  const { requests: open } = await core.listOwnRequests(actor, { limit: openSearched, status: cancellableStates })
  const withNumber = () => open.find(({ number }) => String(number) === onlyNumberIn(text))
  const only = hasRequestNumber(text)
    ? undefined
    : (onlyMeant(open, text) ?? withNumber() ?? onlyUnnumbered(open, text))
  if (only) return cancelOnceConfirmed(turn, only)
  return open.length > 0
    ? { card: cardsFor(turn.viewer).cancelWhich(open) }
    : showNotice(turn, { code: 'nothingToCancel' })
}

/**
 * Cancels a request after a confirmation, and shows its status. An admin gives a reason before they cancel the request of
 * another person. A request that this person cannot cancel gets the refusal of the core at once.
 */
export async function cancelOnceConfirmed(turn: Turn, request: Request, isConfirmed = false): Promise<Reply> {
  const { core, actor, viewer } = turn
  const { requestId, requester } = request
  if (!isConfirmed && requester.id !== actor.id && isForAdmins(actor)) return confirmCancel(turn, request)
  if (!isConfirmed && isCancellable(request) && may(actor, 'request.cancel', request))
    return { card: cardsFor(viewer).cancelRequest(request, viewer) }
  await core.cancelRequest(actor, { requestId })
  return statusOf(turn, requestId)
}

/** How many requests of a person are searched for a name: the newest, and the newest open ones. A batch can add 200. */
const newestSearched = 100
const openSearched = 500

/** Returns the person's newest request: of those in these states, or of all. */
async function newestOf({ core, actor }: Turn, status?: readonly RequestState[]): Promise<Request | undefined> {
  const { requests } = await core.listOwnRequests(actor, { limit: 1, ...(status && { status }) })
  return requests[0]
}

/** Runs a function with the request of a typed number. If the person cannot see one, the card repeats the number. */
export async function ofReference(
  turn: Turn,
  reference: string,
  then: (request: Request) => Promise<Reply>,
): Promise<Reply> {
  const request = await turn.core.readRequestByReference(turn.actor, { reference }).catch(undefinedIfNotFound)
  const digits = /\d+$/.exec(reference)?.[0] ?? ''
  if (request) return then(request)
  return { ...(await showNotice(turn, { code: 'notFound', reference: `REQ-${digits}` })), isRefusal: true }
}

/**
 * Returns the request whose name is most similar to a text, or the only open one of several. Undefined if no name is similar,
 * or if the text can mean several requests.
 */
function onlyMeant(requests: readonly Request[], text: string): Request | undefined {
  const shared = wordsSharedWith(text)
  const ranked = requests.map((request) => ({ request, count: shared(request.details.displayName) }))
  const most = Math.max(1, ...ranked.map(({ count }) => count))
  const similar = ranked.filter(({ count }) => count === most).map(({ request }) => request)
  return onlyOne(similar) ?? onlyOne(similar.filter(({ status }) => openStates.includes(status)))
}

/** Returns the only request of a list. A text with a number, such as “Room 12”, means a request with this number only. */
const onlyUnnumbered = (requests: readonly Request[], text: string): Request | undefined =>
  /\d/.test(text) ? undefined : onlyOne(requests)

/** Returns the only entry of a list; undefined for any other list. */
const onlyOne = <Entry>(list: readonly Entry[]): Entry | undefined => (list.length === 1 ? list[0] : undefined)
