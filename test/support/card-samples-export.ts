import { approvalDecidedCard, approvalDecidedView } from '../../src/cards/decisions/approval-decided.ts'
import { adminEraseCard, adminEraseView, type ErasureNow } from '../../src/cards/privacy/admin-erase.ts'
import {
  adminExportCard,
  adminExportView,
  adminPersonCard,
  adminPersonView,
  type ExportNow,
} from '../../src/cards/privacy/admin-export.ts'
import { requestStatusCard, requestStatusView } from '../../src/cards/requests/request-card.ts'
import { type Erasure, type ErasureCounts, reduced } from '../../src/core/index.ts'
import { mailboxes } from './card-mailboxes.ts'
import { dana, kim, omar, priya, projectSite, requestOf, requests, sam, siteRoot, viewerOf } from './card-requests.ts'
import { type Sample, sample } from './card-sample.ts'
import { delegationOf } from './card-samples-delegation.ts'
import { faultSaying } from './refusal.ts'

const asSam = viewerOf(sam, { isAdmin: true })
const shown = (variant: string, now: ExportNow) => sample(variant, adminExportCard, () => adminExportView(now, asSam))
const form = (more: Partial<Extract<ExportNow, { step: 'form' }>> = {}): ExportNow => ({
  ...{ step: 'form', days: { from: '2026-11-01', to: '2026-11-20' }, typed: '', faults: [] },
  ...more,
})
const until = '2026-11-20T10:59:00.000Z'
/** The links in samples lead to a host that cards know. Their contents do not matter. */
const url = `${new URL(siteRoot).origin}/exports/v1/${'A'.repeat(86)}`
const links = (['requests', 'audit'] as const).flatMap((what) =>
  (['csv', 'json'] as const).map((format) => ({ what, format, url })),
)
const offer = { from: '2026-11-01', to: '2026-11-20', requests: 312, entries: 12_048, until, links }

const eraseSample = (variant: string, now: ErasureNow) =>
  sample(variant, adminEraseCard, () => adminEraseView(now, asSam))
const nothing = { open: [], waiting: [], named: [], delegations: [], batches: 0 }
const erasure = (more: Partial<Erasure> = {}): Erasure => ({
  ...{
    person: kim,
    isYou: false,
    isBlocked: false,
    blocks: nothing,
    confirmWith: kim.userPrincipalName,
    templates: [],
  },
  erasureId: '55555555-eeee-4eee-8eee-000000000001',
  ...more,
})
const longName = {
  ...omar,
  displayName: 'Maximiliane-Theodora von Hohenstein-Wittelsbach zu Oberammergau und Unterfranken',
  userPrincipalName: 'maximiliane-theodora.von.hohenstein-wittelsbach@subsidiary.contoso.example',
}
const removed: ErasureCounts = {
  ...{ requests: 14, entries: 61, drafts: 2, delegations: 1, batches: 0, chats: 9, copies: 23 },
}
const at = '2026-11-19T03:00:00.000Z'
/** Exports, erasures, and reduced requests. */
export const exportSamples: readonly Sample[] = [
  shown('', form()),
  shown('unclear', form({ typed: 'since Christmas' })),
  shown(
    'returned',
    form({
      days: { from: '2026-11-20', to: '2026-11-01' },
      faults: [faultSaying('/to', 'past', 'The last day is before the first day.')],
    }),
  ),
  shown('links', { step: 'links', offer }),
  shown('links-day', { step: 'links', offer: { ...offer, from: '2026-11-20', requests: 0, entries: 1 } }),
  shown('person', { step: 'person', offer: { person: dana, url, until } }),
  shown('person-gone', {
    step: 'person',
    offer: { person: { ...dana, displayName: '', userPrincipalName: '' }, url, until },
  }),
  sample('', adminPersonCard, () => adminPersonView({ purpose: 'export', typed: '', people: [] })),
  sample('nobody', adminPersonCard, () => adminPersonView({ purpose: 'erase', typed: 'Dnaa', people: [] })),
  sample('which', adminPersonCard, () => adminPersonView({ purpose: 'erase', typed: 'o', people: [omar, longName] })),
  eraseSample('', { step: 'confirm', erasure: erasure({ templates: [projectSite.name] }) }),
  eraseSample('mismatch', {
    step: 'mismatch',
    erasure: erasure({ person: longName, confirmWith: longName.userPrincipalName }),
  }),
  eraseSample('gone', {
    step: 'confirm',
    erasure: erasure({ person: { ...kim, displayName: '', userPrincipalName: '' }, confirmWith: kim.id }),
  }),
  eraseSample('blocked', {
    step: 'blocked',
    erasure: erasure({
      isBlocked: true,
      blocks: {
        open: [requests.waiting, ...Array.from({ length: 6 }, () => requestOf({ number: 1051, status: 'failed' }))],
        waiting: [requestOf({ number: 1040, requester: dana })],
        named: [requestOf({ number: 1041, requester: dana })],
        delegations: [delegationOf(kim, priya)],
        batches: 1,
      },
    }),
  }),
  eraseSample('blocked-delegation', {
    step: 'blocked',
    erasure: erasure({ isBlocked: true, blocks: { ...nothing, delegations: [delegationOf(kim, longName)] } }),
  }),
  eraseSample('you', { step: 'blocked', erasure: erasure({ person: sam, isYou: true }) }),
  eraseSample('ordered', { step: 'ordered', erasure: erasure() }),
  eraseSample('done', { step: 'done', personId: kim.id, removed }),
  eraseSample('done-nothing', {
    step: 'done',
    personId: kim.id,
    removed: { requests: 0, entries: 0, drafts: 0, delegations: 0, batches: 0, chats: 0, copies: 0 },
  }),
  sample('reduced', requestStatusCard, () => requestStatusView(reduced(requests.ready, at), viewerOf(kim))),
  sample('reduced-rejected', requestStatusCard, () => requestStatusView(reduced(requests.rejected, at), viewerOf(kim))),
  sample('reduced-mailbox', requestStatusCard, () => requestStatusView(reduced(mailboxes.ready, at), viewerOf(kim))),
  sample('reduced', approvalDecidedCard, () => approvalDecidedView(reduced(requests.rejected, at), viewerOf(dana))),
]
