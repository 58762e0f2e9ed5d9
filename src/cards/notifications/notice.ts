import { z } from 'zod'
import type { LostRight, Person, Reason } from '../../core/index.ts'
import { type Look, look, plain, toFix, toKnow } from '../shared/look.ts'
import { commandName, format, strings } from '../shared/messages.ts'
import { reasonText } from '../shared/reasons.ts'
import { defineCard, type ViewOf } from '../shared/render.ts'
import { cut, helpersOf, longest, moment, peopleList, type Viewer } from '../shared/texts.ts'

type Typed =
  | 'newRequest'
  | 'myRequests'
  | 'myDrafts'
  | 'approvals'
  | 'help'
  | 'adminQueue'
  | 'adminTemplates'
  | 'adminStats'
  | 'adminWebhooks'
export type NoticeCode = Exclude<keyof typeof strings.notice, 'trace'>

/** The verbs that a notice can retry: they need only the id of a draft or request. */
export const retryVerbs = [
  'request.submit',
  'request.review',
  'request.refresh',
  'request.edit',
  'request.cancel',
  'request.continue',
  'approval.approve',
  'approval.refresh',
] as const
export type RetryVerb = (typeof retryVerbs)[number]

/** A short answer without a request's card: the event, its meaning, the next action. */
export interface Notice {
  readonly code: NoticeCode
  /** `REQ-1042`, when it is about a request. */
  readonly reference?: string | undefined
  /** The name of the person who acted earlier, and the time (ISO 8601). */
  readonly by?: string | undefined
  readonly at?: string | undefined
  /** The people who can do it instead; the card names two. */
  readonly people?: readonly Person[] | undefined
  /** Of the first run of retention: the days after the end of a request, and the number of requests. */
  readonly days?: number | undefined
  readonly count?: number | undefined
  readonly requestId?: string | undefined
  /** A more exact sentence from the core, which replaces the catalogue's text for the code. */
  readonly detail?: Reason | undefined
  readonly traceId?: string | undefined
  /** The button that sends the click again; after a discarded draft it restores the draft. */
  readonly retry?: { readonly verb: RetryVerb; readonly requestId: string; readonly version?: number | undefined }
  /** Our command that is most similar to the typed one. */
  readonly suggestion?: string | undefined
}

/** The mark and colours of each notice, its button that shows the request's status, and the command that it offers instead. */
const table: Readonly<
  Record<
    NoticeCode,
    { look: Look; show?: 'request.refresh' | 'approval.refresh'; types: Typed | ''; typesToo?: boolean }
  >
> = {
  alreadyDecided: { look: toKnow, show: 'approval.refresh', types: 'myRequests' },
  decidedBefore: { look: toKnow, show: 'request.refresh', types: 'adminQueue' },
  cancelledBefore: { look: toKnow, show: 'request.refresh', types: 'adminQueue' },
  expiredBefore: { look: toKnow, show: 'request.refresh', types: 'adminQueue' },
  nothingToDecide: { look: toKnow, show: 'request.refresh', types: 'adminQueue' },
  ownReassign: { look: toKnow, show: 'request.refresh', types: 'adminQueue' },
  alreadyEnded: { look: toKnow, show: 'request.refresh', types: 'myRequests' },
  secondAdminNeeded: { look: toKnow, show: 'request.refresh', types: 'adminQueue' },
  notApprover: { look: toKnow, types: 'myRequests' },
  selfApproval: { look: toKnow, show: 'request.refresh', types: 'myRequests' },
  notAllowed: { look: toKnow, types: 'myRequests' },
  notFound: { look: toKnow, types: 'myRequests' },
  notFoundToDecide: { look: toKnow, types: 'approvals' },
  oneDecision: { look: toKnow, types: 'approvals' },
  cannotCancel: { look: toKnow, show: 'request.refresh', types: 'myRequests' },
  discarded: { look: { ...plain, mark: '–' }, types: 'newRequest', typesToo: true },
  outdated: { look: toKnow, show: 'request.refresh', types: 'myRequests' },
  unavailable: { look: toFix, types: 'myRequests' },
  unexpected: { look: toFix, types: 'help' },
  unknownCommand: { look: plain, types: 'help' },
  unknownChange: { look: plain, types: 'help' },
  thanks: { look: plain, types: 'newRequest' },
  tooManyOpen: { look: toKnow, types: 'myRequests' },
  unknownNumbered: { look: plain, types: 'help' },
  howLong: { look: plain, types: 'newRequest' },
  whoApproves: { look: plain, types: 'newRequest' },
  cannotChange: { look: toKnow, types: 'help' },
  onlyDrafts: { look: plain, types: 'myDrafts' },
  nothingToCancel: { look: plain, types: 'myRequests' },
  noReferenceToExplain: { look: toKnow, types: 'myRequests' },
  noReferenceToAudit: { look: toKnow, types: 'adminQueue' },
  notFoundForAdmin: { look: toKnow, types: 'adminQueue' },
  noReference: { look: toKnow, types: 'myRequests' },
  noRequests: { look: plain, types: 'newRequest' },
  noDrafts: { look: plain, types: 'newRequest' },
  noApprovals: { look: plain, types: 'myRequests' },
  noReferenceToNudge: { look: toKnow, types: 'myRequests' },
  nothingToNudge: { look: plain, types: 'myRequests' },
  nudgedAlready: { look: toKnow, show: 'request.refresh', types: 'myRequests' },
  noTemplates: { look: toKnow, types: 'myRequests' },
  templateGone: { look: toKnow, types: 'newRequest' },
  noTemplateNamed: { look: toKnow, types: 'adminTemplates' },
  noTemplateLikeIt: { look: toKnow, types: 'adminTemplates' },
  notPersonal: { look: toKnow, types: 'help' },
  notAdmin: { look: toKnow, types: 'myRequests' },
  noLongerAdmin: { look: { ...plain, mark: '–' }, types: '' },
  noLongerApprover: { look: { ...plain, mark: '–' }, types: '' },
  noPeriod: { look: toKnow, types: 'adminStats' },
  nothingStuck: { look: { ...plain, mark: '✓', band: 'good' }, types: 'adminQueue' },
  nothingGivenUp: { look: { ...plain, mark: '✓', band: 'good' }, types: 'adminQueue' },
  cannotRetry: { look: toKnow, show: 'request.refresh', types: 'adminQueue' },
  retentionStarts: { look: toKnow, types: '' },
  webhookUndelivered: { look: toFix, types: 'adminWebhooks' },
  webhookOwn: { look: toFix, types: 'adminWebhooks' },
  webhookGone: { look: toFix, types: 'adminWebhooks' },
  webhookFailing: { look: toFix, types: 'adminWebhooks' },
  noWebhooks: { look: plain, types: 'adminTemplates' },
  webhookGoneForGood: { look: toKnow, types: 'adminWebhooks' },
  deliveryGone: { look: toKnow, types: 'adminWebhooks' },
}
/** The notice that replaces a card when its person has lost the right that it needs. It has no button. */
export const withdrawnCode = {
  admin: 'noLongerAdmin',
  approver: 'noLongerApprover',
} as const satisfies Record<LostRight, NoticeCode>
export const noticeCodes = Object.keys(table) as NoticeCode[]

export const noticeCard = defineCard({
  name: 'notice',
  data: z.strictObject({
    message: z.enum(noticeCodes),
    look,
    reference: z.string(),
    /** The event and the next action; a `detail` replaces both. */
    what: z.string(),
    todo: z.string(),
    detail: z.string(),
    trace: z.string(),
    /** The command that a button types; `''` without one. */
    suggestion: z.string(),
    requestId: z.string(),
    version: z.int(),
    retry: z.enum(['', ...retryVerbs]),
    show: z.enum(['', 'request.refresh', 'approval.refresh']),
    types: z.enum([
      '',
      'newRequest',
      'myRequests',
      'myDrafts',
      'approvals',
      'help',
      'adminQueue',
      'adminTemplates',
      'adminStats',
      'adminWebhooks',
    ]),
  }),
})

export function noticeView(notice: Notice, viewer: Viewer): ViewOf<typeof noticeCard> {
  const { code, retry, requestId = '' } = notice
  const suggestion = notice.suggestion === undefined ? '' : commandName(notice.suggestion)
  const known = table[code]
  const show = retry === undefined && requestId !== '' ? (known.show ?? '') : ''
  const message = messageOf(notice)
  const values = {
    reference: notice.reference ?? '',
    name: notice.people ? peopleList(notice.people.slice(0, 2), 'or') : cut(notice.by ?? '', longest.name),
    helpers: helpersOf(notice.people),
    at: notice.at === undefined ? '' : moment(notice.at, viewer, 'full'),
    suggestion,
    days: notice.days ?? 0,
    count: notice.count ?? 0,
  }
  return {
    message,
    look: known.look,
    reference: notice.reference ?? '',
    what: format(strings.notice[message].what, values),
    todo: format(strings.notice[message].todo, values),
    detail: notice.detail ? cut(reasonText(notice.detail), longest.text) : '',
    trace: notice.traceId ? format(strings.notice.trace, { traceId: notice.traceId }) : '',
    // A command that changes something is not one tap away.
    suggestion: code === 'unknownCommand' ? suggestion : '',
    requestId: retry?.requestId ?? requestId,
    version: retry?.version ?? 0,
    retry: retry?.verb ?? '',
    show,
    // One button is enough for a suggested “help”.
    types: ((retry || show) && !known.typesToo) || suggestion === known.types ? '' : known.types,
  }
}

/** The message of a notice. A decision without a known decider has only ended. */
function messageOf({ code, by, at }: Notice): NoticeCode {
  if (code === 'alreadyDecided' && !(by && at)) return 'alreadyEnded'
  return code
}
