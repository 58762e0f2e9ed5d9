import { describe, expect, it } from 'vitest'
import { type CardJson, cards } from '../../src/cards/index.ts'
import type { Person, Request } from '../../src/core/index.ts'
import { dana, kim, omar, priya, requestOf, requests, sam, stageOf, viewerOf } from '../support/card-requests.ts'
import { inTime } from '../support/card-stages.ts'
import { actionsOf, textOf } from '../support/cards.ts'

const reads = (request: Request, who: Person): string => textOf(cards.approvalNow(request, viewerOf(who)))
const status = (request: Request): string => textOf(cards.requestStatus(request, viewerOf(kim)))
const buttonsOf = (card: CardJson): string[] => actionsOf(card).map(({ title }) => title)

/** What is folded out has them, and what is folded in. */
const approverButtons = ['Details ▾', 'Refresh', 'Details ▴', 'Refresh', 'Approve', 'Reject']

describe('the card of an approver says', () => {
  it.each([
    ['for whom a delegate decides', inTime.delegated, omar, 'You decide for Dana Fox, who is away until 30 Nov.'],
    [
      'for whom the delegate of a delegate decides',
      inTime.delegatedOn,
      sam,
      'You decide for Dana Fox, since Omar Haddad is away until 30 Nov.',
    ],
    ['who decides while they are away', inTime.delegated, dana, 'Omar Haddad can decide for you until 30 Nov.'],
    ['who did not decide', inTime.escalatedForOne, sam, 'Dana Fox has not decided since 15 Nov, so you are asked.'],
    [
      'who of several did not decide',
      inTime.escalated,
      sam,
      'Dana Fox and Priya Nair have not decided since 15 Nov, so you are asked.',
    ],
    [
      'who was asked since they did not decide',
      inTime.escalated,
      dana,
      'This has waited since 15 Nov, so Sam Roy can decide for you now.',
    ],
    ['who could not be reached', inTime.unreachable, sam, 'Dana Fox could not be reached, so you are asked.'],
    ['who gave it to them', inTime.handed, omar, 'Sam Roy asks you to decide in place of Dana Fox.'],
    ['why it was given to them', inTime.handed, omar, 'Dana has left the *Zürich* project.'],
    ['who gave their own part away', inTime.handedOwn, omar, 'Dana Fox asks you to decide instead.'],
    ['that it has waited', inTime.reminded, dana, 'A reminder: this has waited since 15 Nov.'],
    ['who reminds', inTime.nudged, priya, 'Kim Lee reminds you: this has waited since 15 Nov.'],
    ['when it expires', inTime.delegated, omar, 'It expires on 29 Nov, 10:02 if nobody decides.'],
    ['that it expires soon', inTime.expiring, priya, 'It expires on 22 Nov, 10:02. After that nobody can decide.'],
  ])('%s', (_, request, who, words) => {
    expect(reads(request, who)).toContain(words)
    expect(buttonsOf(cards.approvalNow(request, viewerOf(who)))).toEqual(approverButtons)
  })

  it('nothing of a reminder to whoever was asked only after it', () => {
    expect(reads(inTime.escalated, sam)).not.toContain('reminder')
    expect(reads(inTime.escalated, dana)).toContain('A reminder')
  })

  it('in the notification that it is a reminder, or the last one', () => {
    const summary = (request: Request) => cards.approvalNow(request, viewerOf(priya))['fallbackText']
    expect(summary(inTime.delegated)).toBe('REQ-1042 waits for your decision.')
    expect(summary(inTime.reminded)).toBe('REQ-1042 still waits for your decision.')
    expect(summary(inTime.expiring)).toBe('REQ-1042 expires soon and waits for your decision.')
  })

  it('of the others only those for whom the viewer does not speak, where all have to approve', () => {
    expect(reads(inTime.delegatedOn, sam)).toContain('You decide.')
    expect(reads(inTime.delegatedOn, omar)).toContain('You and Priya Nair: all of you have to approve.')
    expect(reads(inTime.delegatedOn, dana)).toContain('You and Priya Nair: all of you have to approve.')
  })
})

describe('the card of whoever has nothing to decide says', () => {
  const after = requestOf({ ...requests.queued, approvals: inTime.approvedFor.approvals.slice(0, 1) })
  it.each([
    ['that they decided for somebody', after, omar, 'Approved by you for Dana Fox, 10:31.'],
    ['who decided in their place', after, dana, 'Approved by Omar Haddad in your place, 10:31.'],
    ['who decided for whom', after, sam, 'Approved by Omar Haddad for Dana Fox, 10:31. Nothing left for you to do.'],
    ['who rejected for whom', inTime.rejectedFor, priya, 'Rejected by Omar Haddad for Dana Fox, 10:31.'],
    ['who rejected in their place', inTime.rejectedFor, dana, 'Rejected by Omar Haddad in your place, 10:31.'],
    [
      'to whom it was given, and by whom',
      inTime.handed,
      dana,
      'Sam Roy asked Omar Haddad to decide this in your place.',
    ],
    ['to whom they gave it', inTime.handedOwn, dana, 'Omar Haddad decides this in your place now.'],
    ['whose decision it is when a delegation ended', inTime.delegated, sam, 'It waits for Dana Fox or Priya Nair now.'],
    ['that nobody decided', requests.expired, dana, 'Nobody decided in time.'],
  ])('%s', (_, request, who, words) => {
    expect(reads(request, who)).toContain(words)
    expect(buttonsOf(cards.approvalNow(request, viewerOf(who)))).toEqual([])
  })

  it('so from the moment on that a delegation ends', () => {
    const at = (now: string) => textOf(cards.approvalNow(inTime.delegated, viewerOf(omar, { now: new Date(now) })))
    expect(at('2026-11-30T22:59:59Z')).toContain('You decide for Dana Fox')
    expect(at('2026-11-30T23:00:00.000Z')).toContain('Others decide now')
  })
})

describe('the status card of a request that waits says', () => {
  it.each([
    [
      'who decides while somebody is away',
      inTime.delegated,
      'Dana Fox is away until 30 Nov; Omar Haddad can decide instead.',
    ],
    ['all who can decide', inTime.delegated, 'Waiting for Dana Fox, Priya Nair, or Omar Haddad.'],
    ['who was asked too', inTime.escalated, 'No decision since 15 Nov, so I asked Sam Roy too.'],
    ['who was asked instead', inTime.unreachable, 'I could not reach Dana Fox, so I asked Sam Roy.'],
    ['who could not be told', inTime.partlyUnreachable, 'I could not reach Dana Fox. An admin has been told.'],
    ['who gave it to whom', inTime.handed, 'Sam Roy asked Omar Haddad to decide in place of Dana Fox.'],
    ['that they were reminded', inTime.reminded, 'I reminded them, 17 Nov, 10:02.'],
    ['that one reminded them', inTime.nudged, 'You reminded them, 11:31.'],
    ['when it expires', inTime.delegated, 'expires 29 Nov, 10:02'],
    ['that it expires soon', inTime.expiring, 'It expires on 22 Nov, 10:02 if nobody decides.'],
    ['who approved for whom', inTime.approvedFor, 'Approved by Omar Haddad for Dana Fox'],
    ['who rejected for whom', inTime.rejectedFor, 'Rejected by Omar Haddad for Dana Fox'],
  ])('%s', (_, request, words) => {
    expect(status(request)).toContain(words)
  })

  it('nothing of all that once it is over', () => {
    const { approvals } = inTime.expiring
    for (const state of ['expired', 'cancelled'] as const) {
      const words = status(requestOf({ ...requests[state], approvals }))
      expect(words).not.toContain('22 Nov')
      expect(words).not.toContain('Expires soon')
    }
  })

  it('what can be done: remind them, or send it again once it is over', () => {
    const buttons = (request: Request, who = kim) => buttonsOf(cards.requestStatus(request, viewerOf(who)))
    expect(buttons(inTime.expiring)).toEqual(['Nudge', 'Timeline ▾', 'Refresh', 'Cancel request'])
    expect(buttons(inTime.expiring, dana)).toEqual(['Timeline ▾', 'Decide', 'Refresh'])
    expect(buttons(inTime.delegated, omar)).toEqual(['Timeline ▾', 'Decide', 'Refresh'])
    expect(buttonsOf(cards.requestStatus(inTime.expiring, viewerOf(sam, { isAdmin: true })))).toEqual([
      'Ask somebody else',
      'Decide it',
      'Nudge',
      'Timeline ▾',
      'Refresh',
    ])
    expect(buttons(requests.expired)).toEqual(['Timeline ▾', 'Edit and send again'])
    expect(status(requests.expired)).toContain('You can change it and send it again.')
    const own = requestOf({ approvals: [stageOf(1, [kim, dana], { selfApproval: true })] })
    expect(buttons(own)).toEqual(['Timeline ▾', 'Decide', 'Cancel request'])
  })
})
