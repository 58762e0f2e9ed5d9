import { digestCard, digestChoiceCard, digestChoiceView, digestView } from '../../src/cards/notifications/digest.ts'
import type { AwaitedEntry, Digest, Request } from '../../src/core/index.ts'
import { dana, kim, omar, requestOf, requests, sam, stageOf, viewerOf } from './card-requests.ts'
import { type Sample, sample } from './card-sample.ts'
import { stuckEntries } from './card-samples-admin.ts'

const asDana = viewerOf(dana)
const asSam = viewerOf(sam, { isAdmin: true })
const morning = { hour: 8, isOn: true, remindAfterHours: 24 }

const waitingSince = (request: Request, number: number, since: string, displayName?: string): AwaitedEntry => {
  const details = displayName === undefined ? request.details : { ...request.details, displayName }
  return { since, request: { ...request, number, details } as Request }
}
const times = { reachBy: '2026-11-07T09:12:00Z', warnAt: '2026-11-19T09:02:00Z', expiresAt: '2026-11-21T09:02:00Z' }
const expiring = requestOf({ approvals: [stageOf(1, [dana, omar], { warnedAt: '2026-11-19T09:02:00Z', times })] })
const entries: readonly AwaitedEntry[] = [
  waitingSince(expiring, 1011, '2026-11-07T09:02:00Z', 'Minutes'),
  waitingSince(requests.waiting, 1031, '2026-11-17T08:00:00Z', 'Board of directors, minutes and decisions since 1990'),
  waitingSince(requests.waiting, 1040, '2026-11-19T08:00:00Z'),
  waitingSince(
    { ...requests.waiting, requester: { ...kim, displayName: 'Kimberly-Anne Featherstonehaugh-Lee' } },
    1042,
    '2026-11-20T06:10:00Z',
    'Works council',
  ),
]
const many = Array.from({ length: 9 }, (_, index) =>
  waitingSince(requests.waiting, 1050 + index, '2026-11-18T08:00:00Z', `Team ${index + 1}`),
)
const approving: Digest = { approvals: { entries, more: false } }
const withTaken: Digest = {
  approvals: {
    entries: [waitingSince(requests.addressTaken, 1038, '2026-11-18T08:00:00Z'), ...entries.slice(2, 3)],
    more: false,
  },
}
const all: Digest = {
  approvals: { entries: [...entries, ...many], more: false },
  admin: { stuck: 1207, failed: 1204, givenUp: 3, entries: stuckEntries, health: 'red' },
}
const ofAdmin: Digest = {
  approvals: { entries: [], more: false },
  admin: { stuck: 1, failed: 1, givenUp: 0, entries: stuckEntries.slice(1, 2), health: 'green' },
}
const none: Digest = {
  approvals: { entries: [], more: false },
  admin: { stuck: 0, failed: 0, givenUp: 0, entries: [], health: 'green' },
}

export const digestSamples: readonly Sample[] = [
  sample('', digestCard, () => digestView(approving, morning, asDana)),
  sample('everything', digestCard, () => digestView(all, morning, asSam)),
  sample('address', digestCard, () => digestView(withTaken, morning, asDana)),
  sample('admin', digestCard, () => digestView(ofAdmin, { ...morning, isOn: false }, asSam)),
  sample('nothing', digestCard, () => digestView(none, { hour: null, isOn: false, remindAfterHours: 24 }, asSam)),
  sample('', digestChoiceCard, () => digestChoiceView(morning, asDana)),
  sample('off', digestChoiceCard, () => digestChoiceView({ hour: 17, isOn: false, remindAfterHours: 24 }, asDana)),
  sample('off-for-all', digestChoiceCard, () =>
    digestChoiceView({ hour: null, isOn: false, remindAfterHours: 24 }, asDana),
  ),
]
