import { describe, expect, it } from 'vitest'
import type { CardJson } from '../../src/cards/index.ts'
import { asWritten, type HealthFacts, judgeHealth } from '../../src/core/index.ts'
import { mailboxes, mailboxStepsUntil } from '../support/card-mailboxes.ts'
import { kim, requests, sam, viewerOf } from '../support/card-requests.ts'
import { queue, stuckEntries } from '../support/card-samples-admin.ts'
import { actionsOf, textOf } from '../support/cards.ts'
import { cards } from '../support/english-cards.ts'
import { factsOf } from '../support/health-facts.ts'

const asSam = viewerOf(sam, { isAdmin: true })
const commandsOn = (card: CardJson) =>
  actionsOf(card).flatMap(({ data }) => {
    const msteams: unknown = data['msteams']
    return typeof msteams === 'object' && msteams !== null && 'value' in msteams ? [String(msteams.value)] : []
  })

describe('help', () => {
  const me = { displayName: 'Kim Lee', has: { approvals: false, drafts: false }, offers: ['newRoom'] } as const

  it('offers the resources that a person may request, and admin commands only to admins', () => {
    expect(commandsOn(cards.help({ ...me, isAdmin: false }))).toEqual(['new room', 'my requests'])
    expect(textOf(cards.help({ ...me, isAdmin: false }))).not.toMatch(/admin/i)
    expect(commandsOn(cards.help({ ...me, isAdmin: true }))).toEqual([
      ...['new room', 'my requests', 'admin queue', 'admin stuck', 'admin jobs', 'admin health', 'admin stats'],
      ...['admin templates', 'admin webhooks', 'admin help'],
    ])
    expect(textOf(cards.help({ ...me, isAdmin: true }))).toContain('admin help')
  })

  it('shows approvals and drafts to people who have any', () => {
    const commandsOf = (has: { approvals: boolean; drafts: boolean }) =>
      commandsOn(cards.help({ ...me, isAdmin: false, has }))
    expect(commandsOf({ approvals: false, drafts: true })).toEqual(['new room', 'my requests', 'my drafts'])
    expect(commandsOf({ approvals: true, drafts: false })).toEqual([
      ...['approvals', 'new room', 'my requests', 'delegate', 'digest'],
    ])
  })
})

describe('the queue of the admins', () => {
  it('shows requests that need attention first, each with a button for the fix or the status', () => {
    const text = textOf(cards.adminQueue(queue, asSam))
    expect(text).toMatch(/Needs attention[\s\S]*REQ-1029[\s\S]*Creating[\s\S]*REQ-1041[\s\S]*1–6 of 7/)
    expect(text).toContain('4 more')
    expect(text).toContain('Waits for Dana Fox or Omar Haddad')
    expect(text).toContain('3 days')
    expect(commandsOn(cards.adminQueue(queue, asSam))).toEqual([
      ...['admin reassign REQ-1031', 'admin retry REQ-1029', 'admin retry REQ-1036', 'admin retry REQ-1038'],
      ...['status REQ-1041', 'status REQ-1042', 'admin stuck', 'admin queue'],
    ])
  })

  it('names the requester, and has pages', () => {
    expect(textOf(cards.adminQueue(queue, asSam))).toContain('Kim Lee · Waits for Dana Fox or Omar Haddad')
    const [first] = actionsOf(cards.adminQueue(queue, asSam)).filter(({ verb }) => verb === 'admin.queue')
    expect(first).toMatchObject({ title: 'Next', data: { from: 6 } })
    const second = cards.adminQueue(queue, asSam, 6)
    expect(textOf(second)).toContain('7 of 7')
    expect(textOf(cards.adminQueue(queue, asSam, 999_999))).toBe(textOf(second))
    expect(actionsOf(second)).toEqual(
      expect.arrayContaining([expect.objectContaining({ title: 'Previous', data: { from: 0 } })]),
    )
  })

  it('shows that no request is open', () => {
    const empty = { counts: { waiting: 0, creating: 0, failed: 0 }, open: 0, entries: [] }
    expect(textOf(cards.adminQueue(empty, asSam))).toContain('No request is open.')
    expect(commandsOn(cards.adminQueue(empty, asSam))).toEqual(['admin queue'])
  })
})

describe('the card of stuck requests', () => {
  it('offers the commands that fix them', () => {
    const card = cards.adminStuck({ count: 60, entries: stuckEntries }, asSam)
    expect(commandsOn(card)).toEqual(
      expect.arrayContaining([
        ...[
          'admin reassign REQ-1031',
          'admin approve REQ-1031',
          'admin retry REQ-1029',
          'admin retry REQ-1036',
          'admin retry REQ-1038',
        ],
      ]),
    )
    expect(textOf(card)).toMatch(/60 requests are stuck[\s\S]*56 more requests/)
    expect(textOf(card)).toContain('I keep checking the directory.')
    expect(textOf(card)).toContain('Exchange Online answered 400 (ServerBusyException)')
  })

  it('is a notice when nothing is stuck', () => {
    expect(textOf(cards.adminStuck({ count: 0, entries: [] }, asSam))).toContain('Nothing is stuck')
  })
})

describe('the confirmation of an admin', () => {
  it('shows the failed step, its error, and the step with which a retry continues', () => {
    const card = cards.adminConfirm({ verb: 'admin.retry', request: mailboxes.refused }, asSam)
    expect(textOf(card)).toContain('Exchange Online answered 400 (ServerBusyException) while granting full access.')
    expect(textOf(card)).toContain('The request continues with the step “Give access”.')
    const { requestId } = mailboxes.refused
    expect(actionsOf(card)).toMatchObject([
      { title: 'Retry', verb: 'admin.retry', data: { requestId } },
      { title: 'Back', data: { msteams: { value: 'admin queue' } } },
    ])
  })

  it('names the step that fixes a failed check', () => {
    const card = cards.adminConfirm({ verb: 'admin.retry', request: mailboxes.checkFailed }, asSam)
    expect(textOf(card)).toContain('The request continues with the step “Give access”.')
  })

  it('shows that a cancellation removes nothing, and requires a comment', () => {
    const confirmation = (request: Parameters<typeof cards.adminConfirm>[0]['request'], more = {}) =>
      textOf(cards.adminConfirm({ verb: 'admin.cancel', request, ...more }, asSam))
    expect(confirmation(mailboxes.refused)).toContain('I will notify Kim Lee. Everything that was created stays.')
    expect(confirmation(requests.waiting)).toContain('I will notify Kim Lee. Nothing has been created yet.')
    expect(confirmation(requests.waiting)).toContain('Kim Lee will read it.')
    expect(confirmation(requests.waiting, { commentMissing: true })).toContain('Explain why you cancel the request.')
    const card = cards.adminConfirm({ verb: 'admin.cancel', request: mailboxes.refused, comment: 'Twice' }, asSam)
    expect(JSON.stringify(card)).toContain('"value":"Twice"')
    expect(actionsOf(card)).toMatchObject([{ title: 'Go back' }, { title: 'Cancel request', verb: 'admin.cancel' }])
  })

  it('says that the job of a stuck request starts again', () => {
    const request = { ...mailboxes.creating, steps: mailboxStepsUntil(2, { status: 'running', attempts: 3 }) }
    const text = textOf(cards.adminConfirm({ verb: 'admin.retry', request }, asSam))
    expect(text).toContain('The request starts again with the step “Apply the settings”.')
  })
})

describe('the health card', () => {
  const report = (own: Partial<HealthFacts['own']>, problem?: string, deadLetters = 0) =>
    judgeHealth(
      factsOf(asSam.now, {
        own: { queue: { waiting: 0, oldestSeconds: 0 }, version: '1.4.0', ...own },
        deadLetters,
        services: [
          { name: 'exchange', milliseconds: 340, ...(problem !== undefined && { problem: asWritten(problem) }) },
        ],
      }),
    )
  const textFor = (own: Partial<HealthFacts['own']>, problem?: string, deadLetters = 0) =>
    textOf(cards.adminHealth(report(own, problem, deadLetters), asSam))

  it('shows that all is well, the response times and the uptime', () => {
    for (const text of [
      'Everything is healthy',
      'Answers in 3 ms',
      'Answers in 340 ms',
      'No jobs are waiting',
      'Version 1.4.0 · up 6 days',
    ])
      expect(textFor({})).toContain(text)
  })

  it('names services that do not answer, late work and failed jobs', () => {
    expect(textFor({ databaseMilliseconds: null })).toMatch(/One problem[\s\S]*Has not answer/)
    expect(textFor({ queue: { waiting: 1200, oldestSeconds: 720 } })).toContain(
      'Waiting or running: 1,200. The oldest has been due for 12 min.',
    )
    const all = textFor({ watchedAt: null }, 'Exchange answered 401.', 3)
    expect(textFor({ watchedAt: null })).toContain('No process checks for stuck requests')
    const halfAnHourAgo = new Date(asSam.now.getTime() - 1_800_000)
    expect(textFor({ watchedAt: halfAnHourAgo })).toContain('The last check for stuck requests was 30 min')
    expect(all).toContain('3 problems')
    expect(all).toContain('Exchange answered 401.')
  })
})

describe('the notice to a person who is not an admin', () => {
  it('says that the command is for admins, and offers “my requests”', () => {
    const card = cards.notice({ code: 'notAdmin' }, viewerOf(kim))
    expect(textOf(card)).toContain('Only admins of this service can use this.')
    expect(textOf(card)).toContain('If your request is stuck, type “my requests”.')
    expect(commandsOn(card)).toEqual(['my requests'])
  })
})
