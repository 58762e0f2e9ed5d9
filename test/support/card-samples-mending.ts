import { adminConfirmCard, adminConfirmView } from '../../src/cards/admin-confirm.ts'
import { adminReassignCard, adminReassignView } from '../../src/cards/admin-reassign.ts'
import { adminWhichCard, adminWhichView } from '../../src/cards/admin-which.ts'
import { fault, type Person, type Request } from '../../src/core/index.ts'
import { kim, omar, priya, requests, sam, viewerOf } from './card-requests.ts'
import { type Sample, sample } from './card-sample.ts'
import { queue } from './card-samples-admin.ts'
import { inTime } from './card-stages.ts'

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
/** Overrides and reassignments, asked for. */
export const mendingSamples: readonly Sample[] = [
  sample(
    'approve',
    adminConfirmCard,
    confirms('admin.approve', requests.secondStage, { comment: 'Dana has left us.' }),
  ),
  sample('approve-all', adminConfirmCard, confirms('admin.approve', requests.waiting, { commentMissing: true })),
  sample('reject', adminConfirmCard, confirms('admin.reject', requests.waiting, { comment: 'We close this office.' })),
  sample('', adminReassignCard, hands(inTime.escalatedForOne, chosen(omar))),
  sample(
    'several',
    adminReassignCard,
    hands(requests.allOfThem, {
      people: [omar, priya],
      isChoice: true,
      remarks: [{ words: 'several', typed: 'O' }],
    }),
  ),
  sample('nobody', adminReassignCard, hands(requests.waiting, { remarks: [{ words: 'nobody', typed: 'Omer Hadad' }] })),
  sample(
    'yourself',
    adminReassignCard,
    hands(inTime.escalatedForOne, { ...chosen(sam), remarks: [{ words: 'yourself', typed: 'me' }] }),
  ),
  sample(
    'fault',
    adminReassignCard,
    hands(requests.allOfThem, {
      ...chosen(kim),
      comment: 'Dana has *left* us.',
      faults: [
        fault('/to', 'asked-for-it', 'Kim Lee asked for it. Please choose somebody else.'),
        fault(
          '/from',
          'required',
          'Several people have not decided: Omar Haddad, Priya Nair. Please say in whose place.',
        ),
      ],
    }),
  ),
  sample('approve', adminWhichCard, adminWhichView('approve', { entries: waitingEntries, total: 9 }, asSam)),
  sample('nothing', adminWhichCard, adminWhichView('reassign', { entries: [], total: 0 }, asSam)),
]
