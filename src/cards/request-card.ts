import { z } from 'zod'
import {
  lastDecision,
  may,
  needed,
  openStage,
  type Request,
  type RequestState,
  referenceOf,
  requestKind,
  requestState,
  transitions,
  waitingFor,
} from '../core/index.ts'
import { defineCard } from './define-card.ts'
import { siteLink, withoutScheme } from './links.ts'
import { look, looks, shownState } from './look.ts'
import { stepRow, stepRows } from './steps.ts'
import { cut, decidersOf, fullMoment, longest, moment, type Viewer } from './words.ts'

const sentences = [
  'waiting',
  'waitingQuorum',
  'queued',
  'creating',
  'late',
  'ready',
  'failed',
  'rejected',
  'expired',
  'nothing',
  'kept',
] as const

export const requestStatusCard = defineCard({
  name: 'request-status',
  data: z.strictObject({
    requestId: z.uuid(),
    templateId: z.uuid(),
    reference: z.string(),
    kind: requestKind,
    templateName: z.string(),
    displayName: z.string(),
    state: requestState,
    look,
    /** The site's address for people, and where the button leads; both `''` until the site is announced. */
    link: z.string(),
    url: z.string(),
    says: z.enum(sentences),
    people: z.string(),
    needed: z.int(),
    comment: z.string(),
    commentBy: z.string(),
    steps: z.array(stepRow).min(1).max(7),
    sentAt: z.string(),
    updatedAt: z.string(),
    can: z.strictObject({
      edit: z.boolean(),
      decide: z.boolean(),
      refresh: z.boolean(),
      again: z.boolean(),
      cancel: z.boolean(),
    }),
  }),
})

/** Where a request stands, for whoever may see it; the buttons are those that the viewer may press. */
export function requestStatusView(request: Request, viewer: Viewer): Parameters<typeof requestStatusCard.render>[0] {
  const state = shownState(request)
  const decision = lastDecision(request.approvals)
  const stage = openStage(request.approvals)
  const url = state === 'succeeded' ? siteAddress(request, viewer.siteRoot) : ''
  return {
    requestId: request.requestId,
    templateId: request.template.id,
    reference: referenceOf(request),
    kind: request.kind,
    templateName: request.template.name,
    displayName: cut(request.details.displayName, longest.title),
    state,
    look: looks[state],
    link: withoutScheme(url),
    url,
    says: sentenceOf(request, state),
    people: stage ? decidersOf(stage, waitingFor(request.approvals)) : '',
    needed: stage ? needed(stage) - stage.decisions.length : 0,
    comment: cut(decision?.comment ?? '', longest.text),
    commentBy: cut(decision?.by.displayName ?? '', longest.name),
    steps: stepRows(request, viewer),
    sentAt: fullMoment(request.submittedAt, viewer),
    updatedAt: moment(request.updatedAt, viewer, 'full'),
    can: permitted(request, state, viewer),
  }
}

/** Where an announced site is: as its webhook or the directory said, else as we made it. Elsewhere than the organisation's sites: `''`. */
export const siteAddress = ({ followUp, resource }: Request, siteRoot: string): string =>
  siteLink(followUp.url ?? resource?.url, siteRoot)

function sentenceOf(request: Request, state: RequestState): (typeof sentences)[number] {
  const unfinished = request.followUp.state === 'late' ? 'late' : 'creating'
  const table = {
    pendingApproval: openStage(request.approvals)?.rule === 'quorum' ? 'waitingQuorum' : 'waiting',
    queued: request.followUp.state === 'late' ? 'late' : 'queued',
    provisioning: unfinished,
    succeeded: 'ready',
    failed: 'failed',
    rejected: 'rejected',
    expired: 'expired',
    // A request that failed half way may be cancelled with what it had made until then.
    cancelled: request.steps.some(({ status }) => status === 'done') ? 'kept' : 'nothing',
  } as const satisfies Record<RequestState, (typeof sentences)[number]>
  return table[state]
}

/** The buttons for this viewer. Whether the click is allowed is decided by the core once more. */
function permitted(request: Request, state: RequestState, viewer: Viewer) {
  const actor = { id: viewer.id, displayName: '', userPrincipalName: '', tenantId: request.tenantId, isAdmin: false }
  const own = request.requester.id === viewer.id
  const moves: readonly RequestState[] = transitions[request.status]
  const edit = own && (state === 'rejected' || state === 'expired')
  return {
    edit,
    decide: state === 'pendingApproval' && waitingFor(request.approvals).some(({ id }) => id === viewer.id),
    refresh: moves.length > 0 || state !== request.status,
    again: own && (state === 'succeeded' || state === 'cancelled'),
    cancel: moves.includes('cancelled') && may(actor, 'request.cancel', request),
  }
}
