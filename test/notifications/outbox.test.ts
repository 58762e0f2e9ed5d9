import { beforeEach, describe, expect, it } from 'vitest'
import { createOutbox } from '../../src/bot/notifications/outbox.ts'
import type { CardJson } from '../../src/cards/index.ts'
import { type CardKey, type Person, type Request, requestCard } from '../../src/core/index.ts'
import { dana, kim, omar, priya, requestOf, requests, sam, siteRoot, tenantId } from '../support/card-requests.ts'
import { inTime } from '../support/card-stages.ts'
import { actionsOf, textOf } from '../support/cards.ts'

const shown: CardJson[] = []
const taken = async (_: unknown, card: CardJson) => {
  shown.push(card)
  return { state: 'sent' as const, activityId: 'card' }
}
const now = new Date('2026-11-20T10:45:00Z')
const outbox = createOutbox(
  { send: taken, update: () => Promise.reject(new Error('nothing is updated here')) },
  { now: () => now, siteRoot, outlookRoot: 'https://outlook.office.com/' },
)
async function card(request: Request, { id }: Person, key: CardKey): Promise<string> {
  const chat = { conversationId: id, reference: {}, locale: 'en-GB', timeZone: 'Europe/Zurich' }
  await outbox.send({ tenantId, personId: id, ...chat }, requestCard(request, key, id, now), key)
  return textOf(shown.at(-1) ?? {})
}

describe('a card about a waiting approval', () => {
  beforeEach(() => void shown.splice(0))

  it('reminds an approver with buttons to decide, until the request is decided', async () => {
    expect(await card(inTime.nudged, dana, 'reminder:1:2')).toContain('Kim Lee reminds you')
    expect(actionsOf(shown.at(-1) ?? {}).map(({ title }) => title)).toContain('Approve')
    expect(await card(requests.rejected, omar, 'reminder:1:1')).toContain('Rejected by Dana Fox')
    expect(await card(requests.expired, omar, 'reminder:1:1')).toContain('Nobody decided in time.')
  })

  it('warns the requester, and is the status card after the decision or the expiry', async () => {
    expect(await card(inTime.expiring, kim, 'warning:1')).toContain(
      'The request expires on 22 Nov, 10:02 if nobody decides.',
    )
    expect(shown.at(-1)?.['fallbackText']).toBe('REQ-1042: Expires soon')
    expect(actionsOf(shown.at(-1) ?? {}).map(({ title }) => title)).toContain('Nudge')
    expect(await card(requests.expired, kim, 'warning:1')).toContain('You can change the request and send it again.')
    expect(await card(requests.queued, kim, 'warning:1')).toContain('The creation starts in a moment.')
  })

  it('shows an admin the unreachable approver and a button to nudge', async () => {
    const today = { ...inTime.partlyUnreachable, submittedAt: '2026-11-20T09:00:00Z' }
    expect(await card(today, sam, 'status')).toContain('I could not reach Dana Fox.')
    expect(actionsOf(shown.at(-1) ?? {}).map(({ title }) => title)).toEqual(['Nudge', 'Timeline ▾', 'Refresh'])
    expect(await card(inTime.nobodyReached, sam, 'status')).toContain('I could not reach Dana Fox.')
    // The same buttons as on the card of "admin stuck" fix it.
    expect(JSON.stringify(shown.at(-1))).toContain('"admin reassign REQ-')
    expect(actionsOf(shown.at(-1) ?? {}).map(({ title }) => title)).toEqual([
      'Reassign',
      'Override',
      'Nudge',
      'Timeline ▾',
      'Refresh',
    ])
    expect(await card(inTime.nobodyReached, kim, 'status')).not.toContain('Reassign')
    const failed = requestOf({ ...requests.failed, approvals: inTime.escalated.approvals })
    expect(await card(failed, sam, 'status')).toContain('I notified an admin')
    expect(await card(failed, priya, 'status')).toContain('I notified an admin')
  })
})
