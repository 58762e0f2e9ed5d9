import { z } from 'zod'
import {
  attentionOf,
  fieldWarningsOf,
  isForMailbox,
  isTakenName,
  lastDecision,
  lateStep,
  longestSiteWait,
  may,
  missing,
  needsOtherPeople,
  nudgeFrom,
  openStage,
  type Person,
  type Request,
  type RequestState,
  type RequestStep,
  referenceOf,
  requestState,
  resourceKind,
  transitions,
} from '../../core/index.ts'
import { decidesNow } from '../decisions/approval-decided.ts'
import { decidersNow, expiryOf, line, linesForRequester, urgencyOf } from '../decisions/stage-texts.ts'
import { fieldLines } from '../drafts/field-warnings.ts'
import { readBy } from '../shared/facts.ts'
import { askedAddress, outlookLink, siteAddress, withoutScheme } from '../shared/links.ts'
import { look, looks, shownState, toFix, toKnow } from '../shared/look.ts'
import { format, strings } from '../shared/messages.ts'
import { type CardJson, defineCard, firstThatFits, type ViewOf } from '../shared/render.ts'
import { bound, cut, fullMoment, longest, moment, shortName, type Viewer } from '../shared/texts.ts'
import { titleOf } from './about-request.ts'
import { addressForm, addressFormView, type TypedAddress } from './address-form.ts'
import { checkRow, checkRowsOf } from './checks.ts'
import { stepRow, stepRows } from './steps.ts'
import { type Timeline, timeline, timelineRooms, timelineView } from './timeline.ts'

type Sentence = keyof typeof strings.status.says

export const requestStatusCard = defineCard({
  name: 'request-status',
  data: z.strictObject({
    requestId: z.uuid(),
    reference: z.string(),
    kind: resourceKind,
    templateName: z.string(),
    displayName: z.string(),
    /** The requester, on the card of another person. */
    asks: z.string(),
    /** The request's state, or that it expires soon, is late, needs another address or will be retried. */
    state: z.enum([...requestState.options, 'expiring', 'late', 'address', 'retrying']),
    look,
    mailbox: z.boolean(),
    /** The address for people, requested or created; the target of the button, `''` until the resource is announced. */
    link: z.string(),
    url: z.string(),
    says: z.string(),
    /** Events during the wait, or a name changed by the tenant's naming policy. */
    waits: z.array(line),
    address: addressForm,
    /** When its details were removed; `''` while they are there. */
    reduced: z.string(),
    /** The requested values without effect, while the mailbox may still get the others. */
    warnings: z.array(z.strictObject({ text: z.string() })),
    comment: z.string(),
    wrote: z.string(),
    steps: z.array(stepRow).min(1).max(7),
    hasChecks: z.boolean(),
    checks: z.array(checkRow),
    timeline,
    /** When it was sent, when it was updated, and when it expires. */
    times: z.string(),
    can: z.strictObject({
      edit: z.boolean(),
      rename: z.boolean(),
      retry: z.boolean(),
      decide: z.boolean(),
      remedy: z.boolean(),
      refresh: z.boolean(),
      nudge: z.boolean(),
      again: z.boolean(),
      cancel: z.boolean(),
    }),
  }),
})

/** The status of a request, with the viewer's buttons. `known`: its timeline; without it the card has a button that loads it. */
export function requestStatusView(
  stored: Request,
  viewer: Viewer,
  known?: Timeline,
  typed?: TypedAddress,
): ViewOf<typeof requestStatusCard> {
  const request = readBy(stored, viewer)
  const state = shownState(request)
  const quote = quoteOf(request)
  const { displayName, renamed } = titleOf(request)
  const stage = state === 'pendingApproval' ? openStage(request.approvals) : undefined
  const isExpiring = urgencyOf(stage, viewer) === 'expiring'
  const isTaken = stage !== undefined && request.addressConflict !== undefined
  const late = lateStep(request)
  const willRetry = state === 'failed' && retryTime(request, viewer) !== undefined
  const checks = checkRowsOf(request, state, viewer)
  const texts = strings.status
  const expires = isExpiring ? '' : expiryOf(stage, viewer)
  return {
    requestId: request.requestId,
    reference: referenceOf(request),
    kind: request.kind,
    templateName: request.template.name,
    displayName,
    asks: isOwn(request, viewer) ? '' : format(texts.asks, { name: shortName(request.requester) }),
    state: isTaken ? 'address' : isExpiring ? 'expiring' : late ? 'late' : willRetry ? 'retrying' : state,
    look:
      isTaken && isOwn(request, viewer) ? toFix : isTaken || isExpiring || late || willRetry ? toKnow : looks[state],
    mailbox: isForMailbox(request),
    ...placeOf(request, state, viewer),
    says: format(texts.says[sentenceOf(request, state, viewer)], {
      people: stage ? decidersNow(stage) : '',
      count: stage ? missing(stage) : 0,
      address: askedAddress(request, viewer),
      ...namesOf(request),
      ...timesOf(late, viewer),
      retryAt: request.retryAt === undefined ? '' : moment(request.retryAt, viewer, 'full'),
    }),
    waits: stage ? linesForRequester(request, stage, viewer) : renamed ? [{ text: renamed, weight: 'Default' }] : [],
    address: addressFormView(request, viewer, typed),
    reduced:
      request.reducedAt === undefined ? '' : format(texts.reduced, { date: moment(request.reducedAt, viewer, 'day') }),
    warnings: isOver(state) ? [] : fieldLines(request, fieldWarningsOf(request)).map((text) => ({ text })),
    comment: cut(quote.comment, longest.text),
    wrote:
      quote.by?.id === viewer.id
        ? texts.commentByYou
        : format(texts.commentBy, { name: quote.by ? shortName(quote.by) : '' }),
    steps: stepRows(request, viewer),
    hasChecks: checks.length > 0,
    checks,
    timeline: timelineView(known, viewer),
    times: format(expires === '' ? texts.times : texts.timesExpiring, {
      sent: fullMoment(request.submittedAt, viewer),
      updated: moment(request.updatedAt, viewer, 'full'),
      expires,
    }),
    can: permitted(request, state, viewer),
  }
}

/** The comment of the person who ended or decided the request. */
function quoteOf({ status, approvals, cancelComment, cancelledBy }: Request): {
  comment: string
  by: Person | undefined
} {
  if (status === 'cancelled' && cancelComment !== '') return { comment: cancelComment, by: cancelledBy ?? undefined }
  const decision = lastDecision(approvals)
  return { comment: decision?.comment ?? '', by: decision?.by }
}

/**
 * The address for people, and the target of the button. `''` for an address that a sentence names or that never existed,
 * and, for the requester, for a site that is not created yet.
 */
function placeOf(request: Request, state: RequestState, viewer: Viewer): { link: string; url: string } {
  const mailbox = isForMailbox(request)
  if (state === 'succeeded') {
    if (mailbox) return { link: request.address, url: outlookLink(request, viewer) }
    const url = siteAddress(request, viewer)
    return { link: withoutScheme(url), url }
  }
  const isAwaited = !mailbox && isOwn(request, viewer) && (state === 'queued' || state === 'provisioning')
  const isNamed = isTakenName(request.problem) || (state === 'cancelled' && mailbox)
  const never = state === 'rejected' || state === 'expired' || (state === 'cancelled' && !isAnyMade(request))
  return { link: isAwaited || isNamed || never ? '' : askedAddress(request, viewer), url: '' }
}

/** Whether the request ended without a resource. */
const isOver = (state: RequestState): boolean => state === 'rejected' || state === 'expired' || state === 'cancelled'
const isOwn = ({ requester }: Request, { id }: Viewer): boolean => requester.id === id
const isAnyMade = ({ steps }: Request): boolean => steps.some(({ status }) => status === 'done')

/** The name that is taken, and a free one; `''` if the name is not taken. */
function namesOf(request: Request): { taken: string; free: string } {
  const { problem, addressConflict } = request
  if (addressConflict) return { taken: addressConflict.taken, free: addressConflict.suggestion }
  if (!isTakenName(problem)) return { taken: '', free: '' }
  const free = problem.suggestion ?? ''
  if (!isForMailbox(request)) return { taken: request.alias, free }
  if (problem.code === 'alias-taken') return { taken: request.aliasAddress, free }
  const domain = request.address.slice(request.address.indexOf('@'))
  return { taken: request.address, free: free === '' || free.includes('@') ? free : `${free}${domain}` }
}

function sentenceOf(request: Request, state: RequestState, viewer: Viewer): Sentence {
  const { isAdmin } = viewer
  const own = isOwn(request, viewer)
  const mailbox = isForMailbox(request)
  const late = mailbox ? ('lateMailbox' as const) : ('late' as const)
  const creating = mailbox ? ('creatingMailbox' as const) : ('creating' as const)
  const delayed = lateStep(request)
  const unfinished = delayed ? delayedOf(delayed, viewer, own) : request.followUp.state === 'late' ? late : creating
  const { taken, free } = namesOf(request)
  const waiting = openStage(request.approvals)?.rule === 'quorum' ? ('waitingQuorum' as const) : ('waiting' as const)
  // The requester can change it and send it again until its details are removed.
  const isAgain = own && request.reducedAt === undefined
  const table = {
    pendingApproval: request.addressConflict
      ? (`addressTaken${own ? '' : 'Other'}` as const)
      : own
        ? waiting
        : (`${waiting}Other` as const),
    queued: request.followUp.state === 'late' ? late : 'queued',
    provisioning: unfinished,
    succeeded: request.checks.every(({ ok }) => ok) ? 'ready' : 'readyNotVisible',
    failed: taken === '' ? failedOf(request, viewer) : free === '' ? 'nameTakenOnly' : 'nameTaken',
    rejected: isAgain ? 'rejected' : 'nothing',
    expired: isAgain ? 'expired' : request.reducedAt ? 'nothing' : 'expiredOther',
    cancelled: leftOf(request, isAdmin),
  } as const satisfies Record<RequestState, Sentence>
  return table[state]
}

/** The message about a late step. Only an admin can fix it, and only if the step has a problem. */
function delayedOf({ problem }: RequestStep, { isAdmin }: Viewer, own: boolean) {
  if (own || !isAdmin) return own ? ('delayed' as const) : ('delayedOther' as const)
  return problem ? ('delayedToFix' as const) : ('delayedForAdmin' as const)
}

/** Since when a late step runs, and until when it is polled. */
function timesOf(step: RequestStep | undefined, viewer: Viewer): { since: string; until: string } {
  if (step?.startedAt === undefined) return { since: '', until: '' }
  const until = new Date(Date.parse(step.startedAt) + longestSiteWait * 1000).toISOString()
  return { since: bound('since', step.startedAt, viewer, 'full'), until: bound('until', until, viewer, 'full') }
}

/** Whether the requester must choose other people. An admin has other buttons. */
const isForOthers = (request: Request, viewer: Viewer): boolean =>
  isOwn(request, viewer) && !viewer.isAdmin && request.reducedAt === undefined && needsOtherPeople(request)

/** The requester can choose other people until something is created; an admin can have the accounts restored. */
function failedOf(request: Request, viewer: Viewer) {
  const { isAdmin } = viewer
  if (isForOthers(request, viewer)) return 'failedPeople' as const
  if (retryTime(request, viewer) !== undefined)
    return isAdmin ? ('failedInterruptedForAdmin' as const) : ('failedInterrupted' as const)
  const isAboutPeople = request.problem?.people !== undefined
  if (isAdmin) return isAboutPeople ? ('failedPeopleForAdmin' as const) : ('failedForAdmin' as const)
  return 'failed' as const
}

/** When the service retries a failed request by itself; undefined: never, or it has done so. */
const retryTime = ({ problem, retryAt }: Request, { now }: Viewer): string | undefined =>
  problem?.code === 'interrupted' && retryAt !== undefined && Date.parse(retryAt) > now.getTime() ? retryAt : undefined

/** A request that failed half way may be cancelled: the service does not remove what it has created. */
function leftOf(request: Request, isAdmin = false) {
  if (!isAnyMade(request)) return 'nothing' as const
  if (isForMailbox(request)) return isAdmin ? ('leftMailboxForAdmin' as const) : ('leftMailbox' as const)
  return isAdmin ? ('leftSiteForAdmin' as const) : ('leftSite' as const)
}

/** The buttons for this viewer. The core checks the permission of each click again. */
function permitted(request: Request, state: RequestState, viewer: Viewer) {
  const actor = { id: viewer.id, displayName: '', userPrincipalName: '', tenantId: request.tenantId, isAdmin: false }
  const admin = { ...actor, isAdmin: viewer.isAdmin === true }
  const own = isOwn(request, viewer)
  const isGone = request.reducedAt !== undefined
  const moves: readonly RequestState[] = transitions[request.status]
  const rename = own && state === 'failed' && isTakenName(request.problem)
  const retry = viewer.isAdmin === true && state === 'failed' && !rename
  const decide = decidesNow(request, viewer)
  const others = isForOthers(request, viewer)
  const cancel = !rename && !others && !retry && moves.includes('cancelled') && may(actor, 'request.cancel', request)
  const isNudgeable = (nudgeFrom(request) ?? '') <= viewer.now.toISOString()
  const waits = state === 'pendingApproval' && !request.addressConflict && !decide
  const nudge = waits && isNudgeable && may(admin, 'request.nudge', request)
  const remedy = viewer.isAdmin === true && !own && !decide && isForAdmin(request, viewer)
  return {
    edit: others || (own && !isGone && isOver(state)),
    rename,
    retry,
    decide,
    // A phone has no room for more; people can type the hidden commands.
    remedy,
    refresh: !rename && !others && !retry && !(decide && cancel) && (moves.length > 0 || state !== request.status),
    nudge,
    again: own && !isGone && state === 'succeeded',
    cancel,
  }
}

/** Whether an admin can reassign or override the request: it waits too long, or for people who cannot decide. */
const isForAdmin = (request: Request, { now }: Viewer): boolean =>
  attentionOf(request, now)?.remedies.includes('reassign') ?? false

/** Characters of each check, shorter for a card that would be too large. */
const shorter = [longest.text, 100, 40, 0]

/** Renders the status card, with shorter checks and a shorter timeline if it would be too large. */
export function renderRequestStatus(
  request: Request,
  viewer: Viewer,
  known?: Timeline,
  typed?: TypedAddress,
): CardJson {
  const view = requestStatusView(request, viewer, known, typed)
  const views = timelineRooms.flatMap((room) =>
    shorter.map((most) => ({
      ...view,
      timeline: timelineView(known, viewer, room),
      checks: checkRowsOf(readBy(request, viewer), shownState(request), viewer, most),
    })),
  )
  return firstThatFits([view, ...views].map((one) => () => requestStatusCard.render(one)))
}
