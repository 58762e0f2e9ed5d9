import {
  adminConfirmCard,
  adminConfirmView,
  adminReassignCard,
  adminReassignView,
  adminWhichCard,
  adminWhichView,
} from '../../src/cards/decisions/admin-decisions.ts'
import { adminStuckCard, adminStuckView } from '../../src/cards/operations/admin-stuck.ts'
import { adminQueueCard, adminQueueView } from '../../src/cards/requests/admin-queue.ts'
import { adminHelpCard, adminHelpView } from '../../src/cards/shared/help.ts'
import {
  attentionOf,
  because,
  type LostPeople,
  type Person,
  problemOf,
  type QueueEntry,
  type Request,
} from '../../src/core/index.ts'
import { mailboxOf, mailboxStepsUntil } from './card-mailboxes.ts'
import { dana, kim, omar, priya, requestOf, requests, sam, stageOf, viewerOf } from './card-requests.ts'
import { type Sample, sample } from './card-sample.ts'
import { queue } from './card-samples-admin.ts'
import { inTime } from './card-stages.ts'
import { faultSaying } from './refusal.ts'

/** Some commands. The list is generated from the existing ones. */
const commandsOfAdmins = [
  ...['admin stuck', 'admin queue', 'admin status', 'admin health', 'admin help', 'admin retry', 'admin cancel'],
  ...['admin jobs', 'admin reassign', 'admin approve', 'admin reject', 'admin delegations', 'admin templates'],
  ...['admin simulate', 'admin audit', 'admin unnamed'],
]
const asSam = viewerOf(sam, { isAdmin: true })
const confirms = (verb: 'admin.approve' | 'admin.reject', request: Request, more: object = {}) =>
  adminConfirmView({ verb, request, ...more }, asSam)
const hands = (request: Request, more: object) =>
  adminReassignView(
    {
      ...{ request, people: [], isChoice: false, values: { from: '', to: '' }, comment: '', remarks: [], faults: [] },
      ...more,
    },
    asSam,
  )
const chosen = (to: Person) => ({ people: [to], values: { from: '', to: to.id } })
const waitingEntries = queue.entries.filter(({ request }) => request.status === 'pendingApproval')
const attended = (request: Request, lost: LostPeople = new Map()): QueueEntry => {
  const attention = attentionOf(request, asSam.now, lost)
  return { request, since: attention?.since ?? request.updatedAt, attention }
}
const throttled = problemOf(
  'TooManyRequests',
  because('serviceAnswered', { service: 'Exchange Online', status: 429, purpose: because('changingMailbox') }),
)
/** One entry for each reason besides the deadlines. */
const blockedEntries: readonly QueueEntry[] = [
  attended({ ...requestOf({ number: 1050 }), approvals: [stageOf(1, [dana])] }, new Map([[dana.id, 'gone']])),
  attended(
    { ...requestOf({ number: 1051 }), approvals: [stageOf(1, [dana, omar], { rule: 'all' })] },
    new Map([[omar.id, 'blocked']]),
  ),
  attended(
    { ...requestOf({ number: 1052 }), approvals: [stageOf(1, [dana, omar])] },
    new Map([dana, omar].map(({ id }) => [id, 'left'])),
  ),
  attended({
    ...inTime.partlyUnreachable,
    number: 1053,
    approvals: [stageOf(1, [dana], { unreachable: [{ person: dana, why: 'NoChat', at: '2026-11-15T09:32:00Z' }] })],
  }),
  {
    ...attended(
      mailboxOf({
        number: 1054,
        updatedAt: '2026-11-20T10:44:00Z',
        status: 'provisioning',
        steps: mailboxStepsUntil(2, {
          status: 'running',
          attempts: 4,
          startedAt: '2026-11-20T10:41:00Z',
          problem: throttled,
        }),
      }),
    ),
    nextTryAt: new Date('2026-11-20T10:47:00Z'),
  },
]
const many = Array.from({ length: 14 }, (_, index) => blockedEntries[index % 5] as QueueEntry)

/** Confirmations of overrides and reassignments. */
export const overrideSamples: readonly Sample[] = [
  sample('', adminHelpCard, () => adminHelpView(commandsOfAdmins)),
  sample('approve', adminConfirmCard, () =>
    confirms('admin.approve', requests.secondStage, { comment: 'Dana has left us.' }),
  ),
  sample('approve-all', adminConfirmCard, () => confirms('admin.approve', requests.waiting, { commentMissing: true })),
  sample('reject', adminConfirmCard, () =>
    confirms('admin.reject', requests.waiting, { comment: 'We close this office.' }),
  ),
  sample('', adminReassignCard, () => hands(inTime.escalatedForOne, chosen(omar))),
  sample('several', adminReassignCard, () =>
    hands(requests.allOfThem, {
      people: [omar, priya],
      isChoice: true,
      remarks: [{ words: 'several', typed: 'O' }],
    }),
  ),
  sample('nobody', adminReassignCard, () =>
    hands(requests.waiting, { remarks: [{ words: 'nobody', typed: 'Omer Hadad' }] }),
  ),
  sample('yourself', adminReassignCard, () =>
    hands(inTime.escalatedForOne, { ...chosen(sam), remarks: [{ words: 'yourself', typed: 'me' }] }),
  ),
  sample('fault', adminReassignCard, () =>
    hands(requests.allOfThem, {
      ...chosen(kim),
      comment: 'Dana has *left* us.',
      faults: [
        faultSaying('/to', 'asked-for-it', 'Kim Lee requested this and cannot approve it. Choose somebody else.'),
        faultSaying(
          '/from',
          'required',
          'Several people have not decided: Omar Haddad, Priya Nair. Name the person to replace.',
        ),
      ],
    }),
  ),
  sample('approve', adminWhichCard, () => adminWhichView('approve', { entries: waitingEntries, total: 9 }, asSam)),
  sample('in-vain', adminStuckCard, () => adminStuckView({ count: 5, entries: blockedEntries, deadLetters: 3 }, asSam)),
  sample('silent', adminStuckCard, () =>
    adminStuckView({ count: 0, entries: [], deadLetters: 1, isDirectorySilent: true }, asSam),
  ),
  sample('page', adminStuckCard, () => adminStuckView({ count: 60, entries: many }, asSam, 6)),
  sample('page', adminQueueCard, () =>
    adminQueueView({ ...queue, entries: [...blockedEntries, ...queue.entries], isDirectorySilent: true }, asSam, 6),
  ),
  sample('nothing', adminWhichCard, () => adminWhichView('reassign', { entries: [], total: 0 }, asSam)),
  sample('retry', adminWhichCard, () =>
    adminWhichView('retry', { entries: queue.entries.slice(0, 2), total: 2 }, asSam),
  ),
]
