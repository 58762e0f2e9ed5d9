import { describe, expect, it } from 'vitest'
import {
  type CardSubject,
  cardKey,
  cardSubject,
  isForApprover,
  jobPayloads,
  type NoticeSubject,
  noticeKey,
  noticeSubject,
} from '../../src/core/index.ts'
import { kim, tenantId } from '../support/core.ts'

const since = '2026-11-20T10:00:00.000Z'
const [personId, erasureId] = ['11111111-aaaa-4aaa-8aaa-000000000001', '22222222-bbbb-4bbb-8bbb-000000000002']

/** The keys in stores and queued jobs of earlier versions. */
const cards: [string, CardSubject][] = [
  ['status', { kind: 'status' }],
  ['approval:2', { kind: 'approval', stage: 2 }],
  ['reminder:1:3', { kind: 'reminder', stage: 1 }],
  ['warning:1', { kind: 'warning', stage: 1 }],
  ['warning:1:2', { kind: 'warning', stage: 1 }],
  ['outcome:succeeded', { kind: 'outcome', state: 'succeeded' }],
  [`outcome:failed:${since}`, { kind: 'outcome', state: 'failed' }],
  [`stuck:queued:${since}`, { kind: 'stuck', state: 'queued' }],
  [`webhook:gone:${since}`, { kind: 'webhook', event: 'gone' }],
]
const notices: [string, NoticeSubject][] = [
  [`erased:${personId}:${erasureId}`, { kind: 'erased', personId, erasureId }],
  [`health:red:${since}`, { kind: 'health', turned: 'red', since }],
  [`health:well:${since}`, { kind: 'health', turned: 'well', since }],
  ['digest:2026-11-30', { kind: 'digest', day: '2026-11-30' }],
  [`retention:${since}`, { kind: 'retention', startsAt: since }],
  [`health:more:${since}`, { kind: 'health', turned: 'more', since }],
  [`health:less:${since}`, { kind: 'health', turned: 'less', since }],
]

describe('the key of a sent card', () => {
  it.each(cards)('reads %s', (key, subject) => {
    expect(cardSubject(cardKey.parse(key))).toEqual(subject)
    const payload = { v: 1, requestId: personId, personId: kim.id, card: key }
    expect(jobPayloads.notify.parse(payload)).toEqual(payload)
  })

  it.each(notices)('reads %s', (key, subject) => {
    expect(noticeSubject(noticeKey.parse(key))).toEqual(subject)
    const payload = { v: 1, tenantId, personId: kim.id, notice: key }
    expect(jobPayloads.tell.parse(payload)).toEqual(payload)
  })

  it('is for an approver only in the approval card and in reminders', () => {
    const decided = cards.map(([key]) => cardKey.parse(key)).filter(isForApprover)
    expect(decided).toEqual(['approval:2', 'reminder:1:3'])
  })
})
