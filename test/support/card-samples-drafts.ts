import { approvalCard, approvalView } from '../../src/cards/decisions/approval-card.ts'
import { continueDraftCard, continueDraftView } from '../../src/cards/drafts/continue-draft.ts'
import { requestFormCard, requestFormView } from '../../src/cards/drafts/form-view.ts'
import { reviewCard, reviewView } from '../../src/cards/drafts/review.ts'
import type { BasedOn } from '../../src/core/index.ts'
import { requestForm } from './card-forms.ts'
import { supportMailbox } from './card-mailboxes.ts'
import {
  at,
  dana,
  draftOf,
  filled,
  kim,
  openCommunity,
  planOf,
  projectSite,
  requestOf,
  viewerOf,
} from './card-requests.ts'
import { type Sample, sample } from './card-sample.ts'
import { notSimilar } from './card-similar.ts'

const [asKim, asDana] = [viewerOf(kim), viewerOf(dana)]
const earlier = '7d1c2b3a-4e5f-4a6b-8c7d-9e0f1a2b3c41'
const basis = { requestId: earlier, reference: 'REQ-1041' }
const rejected: BasedOn = {
  ...basis,
  how: 'resubmission',
  changed: ['reason', 'owners', 'metadata.audience'],
  ended: { status: 'rejected', by: dana, comment: 'We already have a site for the Zürich move: ask *Priya*, please.' },
}
const internal = { ...requestOf().details, metadata: { costCentre: '4711', audience: 'internal' } }
const repeated: BasedOn = { ...basis, how: 'repeat', changed: ['displayName', 'alias'], ended: { status: 'succeeded' } }

const longNamed = {
  ...planOf().details,
  displayName: `Minutes, plans and *drawings* of the move from Zürich to the new building in Winterthur, with ${'Donaudampfschifffahrt'.repeat(4)}`,
}

const draftWith = (displayName: string, number: number, updatedAt: string) => ({
  draft: draftOf({ ...filled, displayName }, { requestId: `${earlier.slice(0, -1)}${number}`, updatedAt, begun: true }),
  template: number % 2 === 0 ? openCommunity : projectSite,
})
const begun = [
  draftWith('Project Aurora', 1, at('09:12')),
  draftWith('', 2, '2026-11-18T08:00:00Z'),
  draftWith('Board of directors, minutes and decisions since 1990', 3, '2026-11-12T08:00:00Z'),
  draftWith('Choir', 4, '2026-10-12T08:00:00Z'),
]

const twoPages = [...begun, ...begun].map((one, index) => ({
  ...one,
  draft: { ...one.draft, requestId: `${earlier.slice(0, -1)}${index}` },
}))

/** Drafts, and forms from earlier requests. */
export const draftSamples: readonly Sample[] = [
  sample('', continueDraftCard, () =>
    continueDraftView({ says: 'offer', drafts: begun.slice(0, 1), startNew: { templateId: projectSite.id } }, asKim),
  ),
  sample('several', continueDraftCard, () =>
    continueDraftView({ says: 'offer', drafts: begun, startNew: { command: 'new' } }, asKim),
  ),
  sample('list', continueDraftCard, () =>
    continueDraftView({ says: 'list', drafts: begun.slice(1, 2), startNew: { command: 'new' } }, asKim),
  ),
  sample('pages', continueDraftCard, () =>
    continueDraftView({ says: 'list', drafts: twoPages, from: 5, startNew: { command: 'new' } }, asKim),
  ),
  sample('unavailable', continueDraftCard, () =>
    continueDraftView(
      {
        says: 'list',
        drafts: begun.slice(0, 2).map((one, index) => ({ ...one, template: index === 0 ? undefined : one.template })),
        startNew: { command: 'new' },
      },
      asKim,
    ),
  ),
  sample('kept', continueDraftCard, () => continueDraftView({ says: 'kept', drafts: begun.slice(0, 1) }, asKim)),
  sample('repeat', requestFormCard, () =>
    requestFormView(
      requestForm({
        template: projectSite,
        people: [dana],
        draft: draftOf({ ...filled, alias: '' }, { basedOn: { ...basis, how: 'repeat' } }),
      }),
    ),
  ),
  sample('again', requestFormCard, () =>
    requestFormView(
      requestForm({
        template: supportMailbox,
        draft: draftOf({ displayName: 'Help desk' }, { basedOn: { ...basis, how: 'resubmission' } }),
        earlierEnd: rejected.ended,
      }),
    ),
  ),
  sample('changed', reviewCard, () =>
    reviewView({ ...notSimilar, draft: draftOf(filled, { version: 3 }), plan: planOf(), basedOn: rejected }),
  ),
  sample('unchanged', reviewCard, () =>
    reviewView({
      ...notSimilar,
      draft: draftOf(filled, { version: 3 }),
      plan: planOf(),
      basedOn: { ...rejected, changed: [] },
    }),
  ),
  sample('repeat', reviewCard, () =>
    reviewView({ ...notSimilar, draft: draftOf(filled, { version: 3 }), plan: planOf(), basedOn: repeated }),
  ),
  sample('long-name', reviewCard, () =>
    reviewView({ ...notSimilar, draft: draftOf(filled, { version: 3 }), plan: planOf({ details: longNamed }) }),
  ),
  sample('long-name', approvalCard, () => approvalView(requestOf({ details: longNamed }), asDana)),
  sample('next-address', requestFormCard, () =>
    requestFormView(
      requestForm({
        template: openCommunity,
        draft: draftOf({ displayName: 'Orchestra' }),
        names: {
          ...{ displayName: '', status: 'free', isNumbered: false },
          address: 'https://contoso.sharepoint.com/sites/orchestra-2',
          taken: 'https://contoso.sharepoint.com/sites/orchestra',
        },
      }),
    ),
  ),
  sample('sent-again', approvalCard, () => approvalView(requestOf({ basedOn: rejected }), asDana)),
  sample('changes', approvalCard, () =>
    approvalView(requestOf({ basedOn: rejected }), asDana, undefined, {
      address: 'free',
      duplicates: [],
      earlier: requestOf({ requestId: earlier, owners: [kim], reason: 'For the move.', details: internal }),
    }),
  ),
  sample('repeat', approvalCard, () => approvalView(requestOf({ basedOn: repeated }), asDana)),
]
