import { approvalCard, approvalView } from '../../src/cards/decisions/approval-card.ts'
import { approvalDecidedCard, approvalDecidedView } from '../../src/cards/decisions/approval-decided.ts'
import { requestFormCard, requestFormView } from '../../src/cards/drafts/form-view.ts'
import { reviewCard, reviewView } from '../../src/cards/drafts/review.ts'
import { type Notice, noticeCard, noticeView } from '../../src/cards/notifications/notice.ts'
import { siteReadyCard, siteReadyView } from '../../src/cards/provisioning/index.ts'
import {
  cancelRequestCard,
  cancelRequestView,
  cancelWhichCard,
  cancelWhichView,
} from '../../src/cards/requests/cancel-request.ts'
import { movedCard, movedView } from '../../src/cards/requests/moved.ts'
import { requestStatusCard, requestStatusView } from '../../src/cards/requests/request-card.ts'
import { helpCard, helpView } from '../../src/cards/shared/help.ts'
import { chooseTemplateCard, chooseTemplateView } from '../../src/cards/templates/choose-template.ts'
import { because, type Condition, fault, type JudgedCondition } from '../../src/core/index.ts'
import { requestForm } from './card-forms.ts'
import { foreseen } from './card-preview.ts'
import {
  approvedBy,
  dana,
  draftOf,
  filled,
  kim,
  omar,
  openCommunity,
  planOf,
  priya,
  projectSite,
  requestId,
  requestOf,
  requests,
  sam,
  stageOf,
  viewerOf,
} from './card-requests.ts'
import { type Sample, sample } from './card-sample.ts'
import { adminSamples } from './card-samples-admin.ts'
import { delegationSamples } from './card-samples-delegation.ts'
import { digestSamples } from './card-samples-digest.ts'
import { draftSamples } from './card-samples-drafts.ts'
import { exportSamples } from './card-samples-export.ts'
import { firstDaySamples } from './card-samples-first-day.ts'
import { formSamples } from './card-samples-forms.ts'
import { listSamples } from './card-samples-lists.ts'
import { mailboxSamples } from './card-samples-mailboxes.ts'
import { severalSamples } from './card-samples-several.ts'
import { simulateSamples } from './card-samples-simulate.ts'
import { statsSamples } from './card-samples-stats.ts'
import { overrideSamples } from './card-samples-stuck.ts'
import { timeSamples } from './card-samples-time.ts'
import { timelineSamples } from './card-samples-timeline.ts'
import { watchSamples } from './card-samples-watch.ts'
import { webhookSamples } from './card-samples-webhooks.ts'
import { whySamples } from './card-samples-why.ts'
import { notSimilar, similarSites } from './card-similar.ts'
import { faultSaying } from './refusal.ts'

const offers = ['newSite', 'newSharedMailbox', 'newRoom', 'newEquipment'] as const
const asKim = viewerOf(kim)
const asDana = viewerOf(dana)
const form = (options: Partial<Parameters<typeof requestForm>[0]> & Pick<Parameters<typeof requestForm>[0], 'draft'>) =>
  requestFormView(requestForm({ template: projectSite, ...options }))
const choiceOf = (template: typeof projectSite, more: { id?: string; name?: string; description?: string } = {}) => ({
  ...template,
  ...more,
  approvalRequired: template.approval !== null,
})
const notice = (variant: string, options: Notice) => sample(variant, noticeCard, () => noticeView(options, asDana))
const about = { reference: 'REQ-1042', requestId }

const judged = (condition: Condition, found: string): JudgedCondition => ({ condition, found, holds: true })
/** The second of two stages: it shows a question card, and it was reassigned to the admins. */
const toAdmins = requestOf({
  approvals: [
    stageOf(1, [dana], { decisions: [approvedBy(dana, '09:31')] }),
    stageOf(2, [omar, priya], { resolvedTo: 'admins', resolvedFor: 'onlyRequester' }),
  ],
  policy: [
    { place: 1, stage: 1, conditions: [] },
    {
      place: 2,
      stage: 2,
      conditions: [
        judged({ field: 'labelId', oneOf: ['b2', 'b3'] }, 'b2'),
        judged({ field: 'metadata.audience', oneOf: ['partners'] }, 'partners'),
        judged({ field: 'owners', above: 1 }, '2'),
        judged({ externalOwners: true }, 'Anna Kowalska (Fabrikam)'),
      ],
    },
  ],
})
const withAdmins = requestOf({
  approvals: [
    stageOf(1, [dana, omar, priya], {
      rule: 'quorum',
      quorum: 3,
      resolvedTo: 'peopleAndAdmins',
      resolvedFor: 'tooFew',
    }),
  ],
})

const ofSites: readonly Sample[] = [
  sample('', helpCard, () =>
    helpView({ displayName: 'Kim Lee', has: { approvals: false, drafts: false }, isAdmin: false, offers }),
  ),
  sample('approver', helpCard, () =>
    helpView({ displayName: 'Dana Fox', has: { approvals: true, drafts: true }, isAdmin: false, offers }),
  ),
  sample('nothing', helpCard, () =>
    helpView({
      displayName: 'Kim Lee',
      has: { approvals: false, drafts: false },
      isAdmin: false,
      offers: [],
      helpers: [sam, priya],
    }),
  ),
  sample('admin', helpCard, () =>
    helpView({ displayName: 'Sam Roy', has: { approvals: false, drafts: false }, isAdmin: true, offers }),
  ),
  sample('', chooseTemplateCard, () =>
    chooseTemplateView([
      choiceOf(projectSite),
      choiceOf(projectSite, {
        id: 'c3d1e5f7-0b1a-4a3e-b5d4-7e6f5a4b3c33',
        name: 'Department site',
        description: 'The lasting home of a department, with a members group',
      }),
      choiceOf(openCommunity),
    ]),
  ),
  sample('', requestFormCard, () => form({ draft: draftOf({ labelId: 'b2' }) })),
  sample('plain', requestFormCard, () => form({ template: openCommunity, draft: draftOf({}) })),
  sample('returned', requestFormCard, () =>
    form({
      draft: draftOf({ ...filled, 'metadata.costCentre': '47' }, { version: 2 }),
      people: [dana],
      faults: [
        faultSaying('/alias', 'name-taken', 'project-aurora is taken.', 'project-aurora-2'),
        faultSaying('/metadata/costCentre', 'pattern', 'A cost centre has four digits, such as 4711.'),
      ],
    }),
  ),
  sample('stale', requestFormCard, () =>
    form({
      draft: draftOf(filled, { version: 4 }),
      people: [dana],
      notice: 'stale',
    }),
  ),
  sample('', reviewCard, () => reviewView({ ...notSimilar, draft: draftOf(filled, { version: 3 }), plan: planOf() })),
  sample('no-approval', reviewCard, () =>
    reviewView({
      ...notSimilar,
      draft: draftOf({ ...filled, reason: '' }, { version: 3 }),
      plan: planOf({
        kind: 'communicationSite',
        template: openCommunity,
        owners: [kim],
        approvals: [],
        details: { ...planOf().details, metadata: {}, labelId: '', description: '' },
      }),
    }),
  ),
  sample('preview', reviewCard, () =>
    reviewView({ ...notSimilar, draft: draftOf(filled, { version: 3 }), ...foreseen }),
  ),
  sample('similar', reviewCard, () =>
    reviewView({
      ...similarSites,
      draft: draftOf(filled, { version: 3 }),
      plan: planOf({ guests: [dana.id] }),
      waiting: [requestOf({ number: 1040 })],
    }),
  ),
  ...Object.entries(requests).map(([variant, request]) =>
    sample(variant, requestStatusCard, () => requestStatusView(request, asKim)),
  ),
  sample('', cancelRequestCard, () => cancelRequestView(requests.waiting, asKim)),
  sample('', cancelWhichCard, () => cancelWhichView([requests.waiting, requests.creating])),
  sample('', approvalCard, () =>
    approvalView(requests.waiting, asDana, undefined, { address: 'free', duplicates: [] }),
  ),
  sample('duplicate', approvalCard, () =>
    approvalView({ ...requests.waiting, guests: [dana.id] }, asDana, undefined, {
      address: 'free',
      duplicates: [requestOf({ number: 1040, requester: omar }), requestOf({ approvals: [stageOf(1, [priya])] })],
    }),
  ),
  sample('second-stage', approvalCard, () =>
    approvalView(
      requestOf({
        approvals: [
          stageOf(1, [dana], { decisions: [approvedBy(dana, '09:31')] }),
          stageOf(2, [dana, omar], { rule: 'all' }),
        ],
        owners: [kim, omar],
      }),
      asDana,
      undefined,
      { address: 'free', duplicates: [] },
    ),
  ),
  sample('comment-missing', approvalCard, () =>
    approvalView(requests.waiting, asDana, { comment: '', commentMissing: true }),
  ),
  sample('last-of-all', approvalCard, () =>
    approvalView(
      requestOf({
        approvals: [
          stageOf(1, [dana], { decisions: [approvedBy(dana, '09:31')] }),
          stageOf(2, [omar], { rule: 'all' }),
        ],
        owners: [kim],
      }),
      viewerOf(omar),
    ),
  ),
  sample('paused', approvalCard, () =>
    approvalView(requests.addressTaken, asDana, undefined, { address: 'taken', duplicates: [] }),
  ),
  sample('address-changed', approvalCard, () =>
    approvalView(requests.addressChanged, asDana, undefined, { address: 'free', duplicates: [] }),
  ),
  sample('address-wrong', requestStatusCard, () =>
    requestStatusView(requests.addressTaken, asKim, undefined, {
      address: 'project-aurora-2',
      faults: [
        fault(
          '/alias',
          'name-taken',
          because('nameTaken', { name: 'project-aurora-2', remedy: '' }),
          'project-aurora-3',
        ),
      ],
    }),
  ),
  sample('to-admins', approvalCard, () => approvalView(toAdmins, viewerOf(omar))),
  sample('with-admins', approvalCard, () => approvalView(withAdmins, asDana)),
  sample('foreign-address-for-admin', requestStatusCard, () =>
    requestStatusView(requests.foreignAddress, viewerOf(sam, { isAdmin: true })),
  ),
  sample('permission-for-admin', requestStatusCard, () =>
    requestStatusView(requests.permissionMissing, viewerOf(sam, { isAdmin: true })),
  ),
  sample('people-for-admin', requestStatusCard, () =>
    requestStatusView(requests.peopleUnavailable, viewerOf(sam, { isAdmin: true })),
  ),
  sample('to-admins', requestStatusCard, () => requestStatusView(toAdmins, asKim)),
  sample('with-admins', requestStatusCard, () => requestStatusView(withAdmins, asKim)),
  sample('approved-by-you', approvalDecidedCard, () => approvalDecidedView(requests.queued, asDana)),
  sample('approved-stage', approvalDecidedCard, () => approvalDecidedView(requests.secondStage, asDana)),
  sample('approved-partly', approvalDecidedCard, () => approvalDecidedView(requests.allOfThem, asDana)),
  sample('rejected-by-other', approvalDecidedCard, () => approvalDecidedView(requests.rejected, viewerOf(omar))),
  sample('cancelled', approvalDecidedCard, () => approvalDecidedView(requests.cancelled, asDana)),
  sample('expired', approvalDecidedCard, () => approvalDecidedView(requests.expired, asDana)),
  sample('', movedCard, () => movedView(requests.ready, 'finished')),
  sample('stopped', movedCard, () => movedView(requests.failed, 'stopped')),
  sample('forward', movedCard, () => movedView(requests.waiting, 'moved')),
  sample('', siteReadyCard, () => siteReadyView(requests.ready, asKim)),
  sample('commented', siteReadyCard, () =>
    siteReadyView(
      {
        ...requests.ready,
        approvals: [stageOf(1, [dana], { decisions: [approvedBy(dana, '09:31', 'Good,\n\ngo ahead.')] })],
      },
      asKim,
    ),
  ),
  sample('renamed', siteReadyCard, () => siteReadyView(requests.renamed, asKim)),
  notice('already-decided', { code: 'alreadyDecided', by: 'Omar Haddad', at: requests.rejected.updatedAt, ...about }),
  notice('not-approver', { code: 'notApprover', reference: 'REQ-1042' }),
  notice('unavailable', {
    code: 'unavailable',
    reference: 'REQ-1042',
    traceId: '4bf92f3577b34da6a3ce929d0e0e4736',
    retry: { verb: 'request.submit', requestId, version: 3 },
  }),
  notice('discarded', { code: 'discarded', retry: { verb: 'request.continue', requestId } }),
  notice('unknown-command', { code: 'unknownCommand', suggestion: 'my requests' }),
  notice('unknown-change', { code: 'unknownChange', suggestion: 'delegate' }),
  notice('unknown-numbered', { code: 'unknownNumbered', suggestion: 'nudge' }),
  notice('how-long', { code: 'howLong' }),
  notice('who-approves', { code: 'whoApproves' }),
  notice('cannot-change', { code: 'cannotChange', people: [omar] }),
  notice('only-drafts', { code: 'onlyDrafts', count: 2 }),
  notice('nothing-to-cancel', { code: 'nothingToCancel' }),
  notice('thanks', { code: 'thanks' }),
  notice('nudged-already', { code: 'nudgedAlready', at: '2026-11-21T08:00:00Z', ...about }),
  notice('nothing-to-nudge', { code: 'nothingToNudge' }),
  notice('too-many-open', {
    code: 'tooManyOpen',
    detail: because('tooManyOpen', { limit: 25 }),
  }),
  notice('no-requests', { code: 'noRequests' }),
]

/** Every card in every situation with a different look. */
export const samples: readonly Sample[] = [
  ...ofSites,
  ...formSamples,
  ...firstDaySamples,
  ...listSamples,
  ...severalSamples,
  ...draftSamples,
  ...timeSamples,
  ...delegationSamples,
  ...mailboxSamples,
  ...adminSamples,
  ...overrideSamples,
  ...webhookSamples,
  ...exportSamples,
  ...simulateSamples,
  ...statsSamples,
  ...digestSamples,
  ...whySamples,
  ...watchSamples,
  ...timelineSamples,
]
