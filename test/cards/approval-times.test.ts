import { describe, expect, it } from 'vitest'
import type { CardJson } from '../../src/cards/index.ts'
import type { Person, Request } from '../../src/core/index.ts'
import { dana, kim, omar, priya, requestOf, requests, sam, stageOf, viewerOf } from '../support/card-requests.ts'
import { inTime } from '../support/card-stages.ts'
import { actionsOf, textOf } from '../support/cards.ts'
import { cards } from '../support/english-cards.ts'

const reads = (request: Request, who: Person): string => textOf(cards.approvalNow(request, viewerOf(who)))
const status = (request: Request): string => textOf(cards.requestStatus(request, viewerOf(kim)))
const buttonsOf = (card: CardJson): string[] => actionsOf(card).map(({ title }) => title)

/** The details have the buttons, both open and folded. */
const approverButtons = ['Details ▾', 'Refresh', 'Hide details ▴', 'Refresh', 'Approve', 'Reject']

describe('the approval card shows', () => {
  it.each([
    ['the absent approver of a delegate', inTime.delegated, omar, 'You decide for Dana Fox, who is away until 30 Nov.'],
    [
      'the absent approver of a delegate’s delegate',
      inTime.delegatedOn,
      sam,
      'Omar Haddad would decide for Dana Fox, but is away until 30 Nov. Please decide instead.',
    ],
    ['the delegate of the viewer', inTime.delegated, dana, 'Omar Haddad can decide for you until 30 Nov.'],
    [
      'the approver who did not decide',
      inTime.escalatedForOne,
      sam,
      'Dana Fox has not decided since 15 Nov. Please decide instead.',
    ],
    [
      'several approvers who did not decide',
      inTime.escalated,
      sam,
      'Dana Fox and Priya Nair have not decided since 15 Nov. Please decide instead.',
    ],
    [
      'the stand-in of a viewer who did not decide',
      inTime.escalated,
      dana,
      'This request has waited since 15 Nov. So Sam Roy can decide too. You can still decide.',
    ],
    ['an unreachable approver', inTime.unreachable, sam, 'I could not reach Dana Fox. Please decide instead.'],
    ['the admin who reassigned the request', inTime.handed, omar, 'Sam Roy reassigned this from Dana Fox to you.'],
    ['the comment of the reassignment', inTime.handed, omar, 'Dana has left the *Zürich* project.'],
    ['the approver who reassigned their own part', inTime.handedOwn, omar, 'Dana Fox reassigned this to you.'],
    ['a reminder', inTime.reminded, dana, 'Reminder: this request has waited since 15 Nov.'],
    ['the person who reminds', inTime.nudged, priya, 'Kim Lee reminds you: this request has waited since 15 Nov.'],
    ['the expiry', inTime.delegated, omar, 'This request expires on 29 Nov, 10:02 if nobody decides.'],
    [
      'an expiry that is near',
      inTime.expiring,
      priya,
      'This request expires on 22 Nov, 10:02. After that, nobody can decide.',
    ],
  ])('%s', (_, request, who, text) => {
    expect(reads(request, who)).toContain(text)
    expect(buttonsOf(cards.approvalNow(request, viewerOf(who)))).toEqual(approverButtons)
  })

  it('no reminder to a person who became a stand-in after it', () => {
    expect(reads(inTime.escalated, sam)).not.toContain('Reminder')
    expect(reads(inTime.escalated, dana)).toContain('Reminder')
  })

  it('a reminder or the last warning in the notification', () => {
    const summary = (request: Request) => cards.approvalNow(request, viewerOf(priya))['fallbackText']
    expect(summary(inTime.delegated)).toBe('REQ-1042 waits for your decision.')
    expect(summary(inTime.reminded)).toBe('REQ-1042 still waits for your decision.')
    expect(summary(inTime.expiring)).toBe('REQ-1042 expires soon and waits for your decision.')
  })

  it('under the rule “all” only the approvers that the viewer does not represent', () => {
    expect(reads(inTime.delegatedOn, sam)).toContain('You decide.')
    expect(reads(inTime.delegatedOn, omar)).toContain('You and Priya Nair must both approve.')
    expect(reads(inTime.delegatedOn, dana)).toContain('You and Priya Nair must both approve.')
  })
})

describe('the card of a person who cannot decide shows', () => {
  const after = requestOf({ ...requests.queued, approvals: inTime.approvedFor.approvals.slice(0, 1) })
  it.each([
    ['the viewer’s decision on behalf of an approver', after, omar, 'Approved by you on behalf of Dana Fox, 10:31.'],
    ['a decision on the viewer’s behalf', after, dana, 'Approved by Omar Haddad on your behalf, 10:31.'],
    [
      'a decision on behalf of another approver',
      after,
      sam,
      'Approved by Omar Haddad on behalf of Dana Fox, 10:31. You do not need to do anything.',
    ],
    [
      'a rejection on behalf of another approver',
      inTime.rejectedFor,
      priya,
      'Rejected by Omar Haddad on behalf of Dana Fox, 10:31.',
    ],
    ['a rejection on the viewer’s behalf', inTime.rejectedFor, dana, 'Rejected by Omar Haddad on your behalf, 10:31.'],
    ['the reassignment by an admin', inTime.handed, dana, 'Sam Roy reassigned this from you to Omar Haddad.'],
    ['the viewer’s own reassignment', inTime.handedOwn, dana, 'Omar Haddad is now the approver instead of you.'],
    [
      'the approvers after the end of a delegation',
      inTime.delegated,
      sam,
      'This request now waits for Dana Fox or Priya Nair.',
    ],
    ['an expiry without a decision', requests.expired, dana, 'Nobody decided in time.'],
  ])('%s', (_, request, who, text) => {
    expect(reads(request, who)).toContain(text)
    expect(buttonsOf(cards.approvalNow(request, viewerOf(who)))).toEqual([])
  })

  it('the new approvers as soon as a delegation ends', () => {
    const at = (now: string) => textOf(cards.approvalNow(inTime.delegated, viewerOf(omar, { now: new Date(now) })))
    expect(at('2026-11-30T22:59:59Z')).toContain('You decide for Dana Fox')
    expect(at('2026-11-30T23:00:00.000Z')).toContain('Others decide now')
  })
})

describe('the status card of a waiting request shows', () => {
  it.each([
    [
      'who decides while somebody is away',
      inTime.delegated,
      'Dana Fox is away until 30 Nov. Omar Haddad can also decide.',
    ],
    ['all who can decide', inTime.delegated, 'Waiting for Dana Fox, Priya Nair, or Omar Haddad.'],
    ['who was asked too', inTime.escalated, 'No decision since 15 Nov, so I asked Sam Roy too.'],
    ['who was asked instead', inTime.unreachable, 'I also asked Sam Roy.'],
    ['that nobody could be told', inTime.nobodyReached, 'I could not reach Dana Fox. I notified an admin.'],
    ['who gave it to whom', inTime.handed, 'Sam Roy reassigned this from Dana Fox to Omar Haddad.'],
    ['that they were reminded', inTime.reminded, 'Last reminder: 17 Nov, 10:02.'],
    ['that one reminded them', inTime.nudged, 'Your last reminder: 11:31.'],
    ['when it expires', inTime.delegated, 'expires 29 Nov, 10:02'],
    ['that it expires soon', inTime.expiring, 'The request expires on 22 Nov, 10:02 if nobody decides.'],
    ['who approved for whom', inTime.approvedFor, 'Approved by Omar Haddad for Dana Fox'],
    ['who rejected for whom', inTime.rejectedFor, 'Rejected by Omar Haddad for Dana Fox'],
  ])('%s', (_, request, words) => {
    expect(status(request)).toContain(words)
  })

  it.each([
    ['another person was asked', inTime.unreachable, 'I could not reach Dana Fox, so I asked Sam Roy.'],
    [
      'another approver can decide',
      inTime.partlyUnreachable,
      'I could not reach Dana Fox. You can reassign the request, or override the approvers.',
    ],
  ])('an unreachable approver only to admins if %s', (_, request, words) => {
    expect(status(request)).not.toContain('I could not reach')
    expect(textOf(cards.requestStatus(request, viewerOf(sam, { isAdmin: true })))).toContain(words)
  })

  it('that approvers find it in their daily summary, but not while the address is taken', () => {
    const reminders = [{ at: '2026-11-20T08:00:00Z', by: null, inDigest: true as const }]
    const waiting = requestOf({ approvals: [stageOf(1, [dana, omar], { reminders })] })
    const { addressConflict } = requests.addressTaken
    expect(status(waiting)).toContain('They see it in their daily summary.')
    expect(status({ ...waiting, addressConflict })).not.toContain('daily summary')
  })

  it('no expiry after the end of the request', () => {
    const { approvals } = inTime.expiring
    for (const state of ['expired', 'cancelled'] as const) {
      const words = status(requestOf({ ...requests[state], approvals }))
      expect(words).not.toContain('22 Nov')
      expect(words).not.toContain('Expires soon')
    }
  })

  it('buttons to nudge, and to send the request again after its end', () => {
    const buttons = (request: Request, who = kim) => buttonsOf(cards.requestStatus(request, viewerOf(who)))
    expect(buttons(inTime.expiring)).toEqual(['Nudge', 'Timeline ▾', 'Refresh', 'Cancel request'])
    expect(buttons(inTime.expiring, dana)).toEqual(['Timeline ▾', 'Decide', 'Refresh'])
    expect(buttons(inTime.delegated, omar)).toEqual(['Timeline ▾', 'Decide', 'Refresh'])
    expect(buttonsOf(cards.requestStatus(inTime.expiring, viewerOf(sam, { isAdmin: true })))).toEqual([
      'Reassign',
      'Override',
      'Nudge',
      'Timeline ▾',
      'Refresh',
    ])
    expect(buttons(requests.expired)).toEqual(['Timeline ▾', 'Edit and send again'])
    expect(status(requests.expired)).toContain('You can change the request and send it again.')
    const own = requestOf({ approvals: [stageOf(1, [kim, dana], { selfApproval: true })] })
    expect(buttons(own)).toEqual(['Timeline ▾', 'Decide', 'Cancel request'])
  })
})
