import { requestStatusCard, requestStatusView } from '../../src/cards/requests/request-card.ts'
import { type AuditAction, type AuditEntry, type Person, system } from '../../src/core/index.ts'
import { at, dana, kim, omar, priya, requestId, requests, sam, tenantId, viewerOf } from './card-requests.ts'
import { type Sample, sample } from './card-sample.ts'

/** Creates an entry of a timeline. */
export const lineOf = (
  action: AuditAction,
  by: Person | typeof system,
  more: Partial<AuditEntry> = {},
  time = '09:02',
): AuditEntry => ({ requestId, tenantId, at: at(time), actor: by, action, ...more })

const yesterday = { at: '2026-11-19T08:00:00Z' }
/** A timeline with more entries than a card can show, and steps that the progress shows. */
export const longTimeline: readonly AuditEntry[] = [
  lineOf('pendingApproval', kim, yesterday),
  lineOf('not-told', system, { ...yesterday, data: { person: dana, card: 'approval:1' } }),
  lineOf('escalated', system, { ...yesterday, data: { to: [{ ...sam, as: 'admin' }] } }),
  lineOf('reminded', system, { data: { people: [dana, omar] } }),
  lineOf('reminded', kim, { data: { people: [dana, omar] } }, '09:10'),
  lineOf('reassigned', omar, { comment: 'You know the move better.', data: { from: [omar], to: priya } }, '09:20'),
  lineOf('approved', priya, { comment: 'Good: but *only* for the move, please.' }, '09:31'),
  lineOf('queued', system, {}, '09:31'),
  lineOf('provisioning', system, {}, '09:32'),
  lineOf('step:create-site', system, {}, '09:41'),
  lineOf('step:wait-for-site', system, {}, '09:42'),
  lineOf('failed', system, {}, '09:44'),
]
const short = longTimeline.slice(0, 1)
const rejected = [
  lineOf('pendingApproval', kim),
  lineOf('rejected', dana, { comment: 'We already have a site for the Zürich move.' }, '09:31'),
]
const asKim = viewerOf(kim)

/** Status cards on request: with their timeline, folded or open. */
export const timelineSamples: readonly Sample[] = [
  sample('timeline-folded', requestStatusCard, () =>
    requestStatusView(requests.waiting, asKim, { entries: short, isOpen: false }),
  ),
  sample('timeline', requestStatusCard, () =>
    requestStatusView(requests.failed, asKim, { entries: longTimeline, isOpen: true }),
  ),
  sample('timeline-rejected', requestStatusCard, () =>
    requestStatusView(requests.rejected, asKim, { entries: rejected, isOpen: true }),
  ),
]
