import { approvalCard, approvalView } from '../../src/cards/decisions/approval-card.ts'
import { requestFormCard, requestFormView } from '../../src/cards/drafts/form-view.ts'
import { reviewCard, reviewView } from '../../src/cards/drafts/review.ts'
import { linksCard, linksView, mailboxReadyCard, mailboxReadyView } from '../../src/cards/provisioning/index.ts'
import { cancelRequestCard, cancelRequestView } from '../../src/cards/requests/cancel-request.ts'
import { requestStatusCard, requestStatusView } from '../../src/cards/requests/request-card.ts'
import { chooseTemplateCard, chooseTemplateView } from '../../src/cards/templates/choose-template.ts'
import { requestForm } from './card-forms.ts'
import {
  mailboxes,
  mailboxPlanOf,
  meetingRoom,
  poolEquipment,
  roomAnswers,
  sharedOf,
  supportMailbox,
} from './card-mailboxes.ts'
import { dana, draftOf, kim, omar, projectSite, requests, sam, viewerOf } from './card-requests.ts'
import { type Sample, sample } from './card-sample.ts'
import { notSimilar, similarMailbox, similarRooms } from './card-similar.ts'
import { faultSaying } from './refusal.ts'

const asKim = viewerOf(kim)
const asSam = viewerOf(sam, { isAdmin: true })
const unread = sharedOf({
  ...mailboxes.waiting,
  details: { ...mailboxes.waiting.details, permissions: {}, autoMapping: true },
})
const choiceOf = (template: typeof meetingRoom) => ({ ...template, approvalRequired: template.approval !== null })

export const mailboxSamples: readonly Sample[] = [
  sample('mixed', chooseTemplateCard, () =>
    chooseTemplateView([projectSite, supportMailbox, meetingRoom, poolEquipment].map(choiceOf)),
  ),
  sample('unmatched', chooseTemplateCard, () =>
    chooseTemplateView([supportMailbox, meetingRoom].map(choiceOf), 'printer'),
  ),
  sample('named', chooseTemplateCard, () =>
    chooseTemplateView([supportMailbox, meetingRoom].map(choiceOf), '', 'Project Aurora'),
  ),
  sample('room', requestFormCard, () => requestFormView(requestForm({ template: meetingRoom, draft: draftOf({}) }))),
  sample('shared', requestFormCard, () =>
    requestFormView(requestForm({ template: supportMailbox, draft: draftOf({}) })),
  ),
  sample('equipment', requestFormCard, () =>
    requestFormView(requestForm({ template: poolEquipment, draft: draftOf({}) })),
  ),
  sample('room-returned', requestFormCard, () =>
    requestFormView(
      requestForm({
        template: meetingRoom,
        draft: draftOf({ ...roomAnswers, 'permissions.SendAs': omar.id, country: 'Helvetien' }, { version: 2 }),
        people: [dana, omar],
        faults: [
          faultSaying('/name', 'name-taken', 'room-zrh-aurora@contoso.example is taken.', 'room-zrh-aurora-2'),
          faultSaying(
            `/permissions/${omar.id}`,
            'chosen-twice',
            'A person is in both access fields. Keep this person in one field only.',
          ),
          faultSaying('/country', 'not-a-country', 'Give a country by its English name or its two-letter code.'),
        ],
      }),
    ),
  ),
  sample('room', reviewCard, () =>
    reviewView({ ...similarRooms, draft: draftOf(roomAnswers, { version: 3 }), plan: mailboxPlanOf(mailboxes.ready) }),
  ),
  sample('shared', reviewCard, () =>
    reviewView({
      ...similarMailbox,
      draft: draftOf({ reason: mailboxes.waiting.reason }, { version: 3 }),
      plan: mailboxPlanOf(mailboxes.waiting),
    }),
  ),
  sample('nobody', reviewCard, () =>
    reviewView({
      ...notSimilar,
      draft: draftOf({ reason: unread.reason }, { version: 3 }),
      plan: mailboxPlanOf(unread),
    }),
  ),
  sample('created', cancelRequestCard, () => cancelRequestView(mailboxes.checkFailed, asKim)),
  sample('without-you', reviewCard, () =>
    reviewView({
      ...notSimilar,
      viewer: viewerOf(omar),
      draft: draftOf(
        { reason: mailboxes.sharedReady.reason, 'permissions.FullAccess': `${kim.id},${dana.id}` },
        { version: 3 },
      ),
      plan: mailboxPlanOf(mailboxes.sharedReady),
    }),
  ),
  sample('mailbox-cancelled', requestStatusCard, () => requestStatusView(mailboxes.cancelled, asKim)),
  sample('mailbox-cancelled-admin', requestStatusCard, () => requestStatusView(mailboxes.cancelled, asSam)),
  sample('mailbox-waiting', requestStatusCard, () => requestStatusView(mailboxes.waiting, asKim)),
  sample('mailbox-waiting-admin', requestStatusCard, () => requestStatusView(mailboxes.waiting, asSam)),
  sample('mailbox-creating', requestStatusCard, () => requestStatusView(mailboxes.creating, asKim)),
  sample('mailbox-ready', requestStatusCard, () => requestStatusView(mailboxes.ready, asKim)),
  sample('mailbox-not-visible-yet', requestStatusCard, () => requestStatusView(mailboxes.notVisibleYet, asKim)),
  sample('mailbox-not-visible-yet-admin', requestStatusCard, () => requestStatusView(mailboxes.notVisibleYet, asSam)),
  sample('mailbox-check-failed', requestStatusCard, () => requestStatusView(mailboxes.checkFailed, asKim)),
  sample('mailbox-check-failed-admin', requestStatusCard, () => requestStatusView(mailboxes.checkFailed, asSam)),
  sample('mailbox-name-taken', requestStatusCard, () => requestStatusView(mailboxes.nameTaken, asKim)),
  sample('mailbox-refused', requestStatusCard, () => requestStatusView(mailboxes.refused, asKim)),
  sample('mailbox', approvalCard, () => approvalView(mailboxes.waiting, viewerOf(dana))),
  sample('', linksCard, () =>
    linksView([requests.ready, requests.renamed, mailboxes.ready, mailboxes.sharedReady], asKim),
  ),
  sample('', mailboxReadyCard, () => mailboxReadyView(mailboxes.ready, asKim)),
  sample('not-visible-yet', mailboxReadyCard, () => mailboxReadyView(mailboxes.notVisibleYet, asKim)),
  sample('shared', mailboxReadyCard, () => mailboxReadyView(mailboxes.sharedReady, asKim)),
  sample('others', mailboxReadyCard, () => mailboxReadyView(mailboxes.sharedReady, viewerOf(omar), [sam])),
  sample('nobody', mailboxReadyCard, () =>
    mailboxReadyView(
      sharedOf({
        ...mailboxes.sharedReady,
        details: { ...mailboxes.sharedReady.details, permissions: {} },
        checks: mailboxes.sharedReady.checks.slice(0, 3),
      }),
      asKim,
    ),
  ),
]
