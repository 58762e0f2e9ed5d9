import { z } from 'zod'
import {
  type Delegation,
  isForMailbox,
  isTakenName,
  isTerminal,
  type ListPage,
  mailboxKind,
  maxCounted,
  missing,
  needsOtherPeople,
  nudgeFrom,
  openStage,
  type Request,
  type RequestState,
  referenceOf,
  requestState,
} from '../../core/index.ts'
import { delegateText } from '../decisions/delegation.ts'
import { alertsOf, notesOf } from '../decisions/row-facts.ts'
import { decidersNow, urgencyOf } from '../decisions/stage-texts.ts'
import { outlookLink, siteAddress } from '../shared/links.ts'
import { type Look, looks, rowLook, shownState, toFix, toKnow } from '../shared/look.ts'
import { format, strings } from '../shared/messages.ts'
import { defineCard, type ViewOf } from '../shared/render.ts'
import { age, rowTitle, shortName, type Viewer } from '../shared/texts.ts'

const row = {
  reference: z.string(),
  displayName: z.string(),
  look: rowLook,
  /** The title of a tap on the row. */
  open: z.string(),
}
/** The range of the rows, and the request numbers of the first and last one. */
const paging = {
  /** The number of rows, or their range. Beyond a limit the service does not count. */
  range: z.string(),
  newer: z.int(),
  older: z.int(),
  newest: z.int(),
  oldest: z.int(),
}

/** The button of a row: it types a command, brings the form back, or opens the place. */
const nextButton = z.strictObject({
  does: z.enum(['types', 'edits', 'opens']),
  label: z.enum(['open', 'nudge', 'edit', 'openSite', 'openMailbox']),
  /** The command that it types, without the reference. */
  command: z.enum(['', 'status', 'nudge']),
  url: z.string(),
  /** The kind of a mailbox, which decides the label of the button that opens it. */
  kind: z.union([mailboxKind, z.literal('')]),
})

export const myRequestsCard = defineCard({
  name: 'my-requests',
  data: z.strictObject({
    ...paging,
    /** The number of the viewer's drafts, as a sentence; `''` without any. */
    drafts: z.string(),
    requests: z
      .array(
        z.strictObject({
          ...row,
          requestId: z.uuid(),
          state: z.enum([...requestState.options, 'address', 'expiring']),
          /** The time since its submission. */
          age: z.string(),
          /** The next person to act, as a sentence; `''` when the request has ended. */
          waits: z.string(),
          next: nextButton,
        }),
      )
      .min(1),
  }),
})
export const approvalsCard = defineCard({
  name: 'approvals',
  data: z.strictObject({
    ...paging,
    /** The viewer's delegate, as a sentence; `''` without one. */
    delegate: z.string(),
    requests: z
      .array(
        z.strictObject({
          ...row,
          age: z.string(),
          asks: z.string(),
          /** The stage and the sensitivity; the results of the checks that need attention. */
          notes: z.string(),
          alert: z.string(),
        }),
      )
      .min(1),
  }),
})

/** The rows of a page, and the names of a row. */
export const rowsOfPage = 6
const maxNames = 3

const rowOf = (request: Request, { mark, color }: Look = looks[shownState(request)]) => {
  const displayName = rowTitle(request.details)
  const reference = referenceOf(request)
  return {
    reference,
    open: format(strings.list.open, { reference }),
    displayName,
    look: { mark, color },
  }
}

/** `all`: the text for a list of one page. `first`: the end of the list that its first page shows. */
function pagingOf({ requests, newer, older }: ListPage, all: string, first: 'newest' | 'oldest') {
  const { range: several, one, many, far, farOlder } = strings.list.shows
  const [passed, left] = first === 'newest' ? [newer, older] : [older, newer]
  const beyond = first === 'newest' ? far : farOlder
  const range = requests.length === 1 ? one : several
  const some = passed >= maxCounted ? beyond : left >= maxCounted ? many : range
  const to = passed + requests.length
  const numbers = requests.map(({ number }) => number)
  return {
    range: passed + left > 0 ? format(some, { from: passed + 1, to, total: to + left, newer, older }) : all,
    newer,
    older,
    newest: Math.max(0, ...numbers),
    oldest: numbers.length > 0 ? Math.min(...numbers) : 0,
  }
}

/**
 * A page of the viewer's own requests, newest first, each with its state, who must act next, and a button. `drafts`: how many
 * drafts the viewer has.
 */
export function myRequestsView(page: ListPage, viewer: Viewer, drafts = 0): ViewOf<typeof myRequestsCard> {
  const count = page.requests.filter((request) => !isTerminal(shownState(request))).length
  return {
    ...pagingOf(page, format(strings.list.shows.all, { count }), 'newest'),
    drafts: drafts > 0 && page.newer === 0 ? format(strings.list.drafts, { count: drafts }) : '',
    requests: page.requests.map((request) => {
      const state = shownState(request)
      const isTaken = request.addressConflict !== undefined
      const isExpiring = state === 'pendingApproval' && urgencyOf(openStage(request.approvals), viewer) === 'expiring'
      return {
        ...rowOf(request, isTaken ? toFix : isExpiring ? toKnow : looks[state]),
        requestId: request.requestId,
        state: isTaken ? 'address' : isExpiring ? 'expiring' : state,
        age: age(request.submittedAt, viewer),
        waits: waitsFor(request, state),
        next: nextOf(request, viewer),
      }
    }),
  }
}

/** The next to act: people, an admin, the requester, or the service. */
function waitsFor(request: Request, state: RequestState): string {
  const texts = strings.list.waits
  if (request.addressConflict) return texts.name
  const stage = openStage(request.approvals)
  if (state === 'pendingApproval' && stage) {
    const people = decidersNow(stage, maxNames)
    return format(stage.rule === 'quorum' ? texts.several : texts.people, { people, count: String(missing(stage)) })
  }
  if (state === 'queued' || state === 'provisioning') return isForMailbox(request) ? texts.mailbox : texts.site
  if (state === 'failed' && needsOtherPeople(request)) return texts.others
  if (state === 'failed') return isTakenName(request.problem) ? texts.name : texts.admin
  return ''
}

/** A page of the requests that wait for the viewer's decision, oldest first, each with its kind and age, and with the viewer's delegate. */
export function approvalsView(page: ListPage, viewer: Viewer, own?: Delegation): ViewOf<typeof approvalsCard> {
  return {
    ...pagingOf(page, format(strings.approvals.meta, { count: page.requests.length }), 'oldest'),
    delegate: delegateText(own, viewer),
    requests: page.requests.map((request) => ({
      ...rowOf(request, request.addressConflict ? toKnow : looks.pendingApproval),
      age: age(request.submittedAt, viewer),
      notes: notesOf(request, viewer),
      alert: alertsOf(request, viewer),
      asks: format(strings.approvals.asks, {
        kind: strings.kind[request.kind],
        name: shortName(request.requester),
      }),
    })),
  }
}

type Next = z.output<typeof nextButton>

const types = (command: 'status' | 'nudge', label: Next['label']): Next => {
  return { does: 'types', label, command, url: '', kind: '' }
}
const edit: Next = { does: 'edits', label: 'edit', command: '', url: '', kind: '' }
const show = types('status', 'open')

/** The most likely next action of the requester. The core checks its permission again. */
export function nextOf(request: Request, viewer: Viewer): Next {
  switch (shownState(request)) {
    case 'pendingApproval': {
      // Only another address lets the approval continue, and the status card has its input.
      if (request.addressConflict) return show
      const isAllowed = (nudgeFrom(request) ?? '') <= viewer.now.toISOString()
      return isAllowed ? types('nudge', 'nudge') : show
    }
    case 'succeeded':
      return opens(request, viewer)
    case 'rejected':
    case 'expired':
    case 'cancelled':
      return request.reducedAt === undefined ? edit : show
    case 'failed': {
      // A new request would leave the created resource behind; the status shows who continues.
      const isHalfMade = request.steps.some(({ status }) => status === 'done')
      return isHalfMade && !isTakenName(request.problem) ? show : edit
    }
    case 'queued':
    case 'provisioning':
      return show
  }
}

function opens(request: Request, viewer: Viewer): Next {
  const url = isForMailbox(request) ? outlookLink(request, viewer) : siteAddress(request, viewer)
  if (url === '') return show
  const own = isForMailbox(request)
    ? { label: 'openMailbox' as const, kind: request.kind }
    : { label: 'openSite' as const, kind: '' as const }
  return { does: 'opens', command: '', url, ...own }
}
