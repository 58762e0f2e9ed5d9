import { describe, expect, it } from 'vitest'
import { type CardJson, cards } from '../../src/cards/index.ts'
import { type HealthFacts, judgeHealth } from '../../src/core/index.ts'
import { mailboxes, mailboxStepsUntil } from '../support/card-mailboxes.ts'
import { kim, requests, sam, viewerOf } from '../support/card-requests.ts'
import { queue, stuckEntries } from '../support/card-samples-admin.ts'
import { actionsOf, textOf } from '../support/cards.ts'
import { factsOf } from '../support/health-facts.ts'

const asSam = viewerOf(sam, { isAdmin: true })
const typedBy = (card: CardJson) =>
  actionsOf(card).flatMap(({ data }) => {
    const msteams: unknown = data['msteams']
    return typeof msteams === 'object' && msteams !== null && 'value' in msteams ? [String(msteams.value)] : []
  })

describe('help', () => {
  const me = { displayName: 'Kim Lee', isApprover: false, offers: ['newRoom'] } as const

  it('offers what a person may ask for, and the admins’ commands to admins only', () => {
    expect(typedBy(cards.help({ ...me, isAdmin: false }))).toEqual(['new room', 'my requests'])
    expect(textOf(cards.help({ ...me, isAdmin: false }))).not.toMatch(/admin/i)
    expect(typedBy(cards.help({ ...me, isAdmin: true }))).toEqual([
      ...['new room', 'my requests', 'admin queue', 'admin stuck', 'admin jobs', 'admin health', 'admin stats'],
      ...['admin templates', 'admin webhooks', 'admin help'],
    ])
    expect(textOf(cards.help({ ...me, isAdmin: true }))).toContain('admin help')
  })
})

describe('the queue of the admins', () => {
  it('shows what needs somebody before what is under way, each leading to what mends it or to its status', () => {
    const words = textOf(cards.adminQueue(queue, asSam))
    expect(words).toMatch(/Needs a look[\s\S]*REQ-1029[\s\S]*Creating[\s\S]*REQ-1041[\s\S]*1–6 of 7/)
    expect(words).toContain('4 more')
    expect(words).toContain('Waits for Dana Fox or Omar Haddad')
    expect(words).toContain('3 days')
    expect(typedBy(cards.adminQueue(queue, asSam))).toEqual([
      ...['admin reassign REQ-1031', 'admin retry REQ-1029', 'admin retry REQ-1036', 'admin retry REQ-1038'],
      ...['status REQ-1041', 'status REQ-1042', 'admin stuck', 'admin queue'],
    ])
  })

  it('names who asks, and has pages', () => {
    expect(textOf(cards.adminQueue(queue, asSam))).toContain('Kim Lee · Waits for Dana Fox or Omar Haddad')
    const [first] = actionsOf(cards.adminQueue(queue, asSam)).filter(({ verb }) => verb === 'admin.queue')
    expect(first).toMatchObject({ title: 'Next', data: { from: 6 } })
    const second = cards.adminQueue(queue, asSam, 6)
    expect(textOf(second)).toContain('7–7 of 7')
    expect(textOf(cards.adminQueue(queue, asSam, 999_999))).toBe(textOf(second))
    expect(actionsOf(second)).toEqual(
      expect.arrayContaining([expect.objectContaining({ title: 'Previous', data: { from: 0 } })]),
    )
  })

  it('says so when nothing is open', () => {
    const empty = { counts: { waiting: 0, creating: 0, failed: 0 }, open: 0, entries: [] }
    expect(textOf(cards.adminQueue(empty, asSam))).toContain('Nothing is open just now.')
    expect(typedBy(cards.adminQueue(empty, asSam))).toEqual(['admin queue'])
  })
})

describe('what is stuck', () => {
  it('comes with what mends it', () => {
    const card = cards.adminStuck({ count: 60, entries: stuckEntries }, asSam)
    expect(typedBy(card)).toEqual(
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
    expect(textOf(card)).toMatch(/60 things are stuck[\s\S]*56 more/)
    expect(textOf(card)).toContain('I keep looking for it.')
    expect(textOf(card)).toContain('Exchange refused Add-MailboxPermission (ServerBusyException)')
  })

  it('is told as nothing when there is nothing', () => {
    expect(textOf(cards.adminStuck({ count: 0, entries: [] }, asSam))).toContain('Nothing is stuck')
  })
})

describe('what an admin is asked to confirm', () => {
  it('says where it stopped, why, and at which step it goes on', () => {
    const card = cards.adminConfirm({ verb: 'admin.retry', request: mailboxes.refused }, asSam)
    expect(textOf(card)).toContain(
      'Exchange refused Add-MailboxPermission (ServerBusyException): the server is too busy',
    )
    expect(textOf(card)).toContain('It goes on at the step “Give access”.')
    const { requestId } = mailboxes.refused
    expect(actionsOf(card)).toMatchObject([
      { title: 'Try again', verb: 'admin.retry', data: { requestId } },
      { title: 'Later', data: { msteams: { value: 'admin queue' } } },
    ])
  })

  it('goes on, after a check that found something wrong, at the step that puts it right', () => {
    const card = cards.adminConfirm({ verb: 'admin.retry', request: mailboxes.checkFailed }, asSam)
    expect(textOf(card)).toContain('It goes on at the step “Give access”.')
  })

  it('says that a cancellation removes nothing that was made, and wants a comment', () => {
    const words = (request: Parameters<typeof cards.adminConfirm>[0]['request'], more = {}) =>
      textOf(cards.adminConfirm({ verb: 'admin.cancel', request, ...more }, asSam))
    expect(words(mailboxes.refused)).toContain('Kim Lee will be told, and nothing that was made is removed.')
    expect(words(requests.waiting)).toContain('Kim Lee will be told. Nothing was made yet.')
    expect(words(requests.waiting)).toContain('Kim Lee will read it.')
    expect(words(requests.waiting, { commentMissing: true })).toContain('Please say why you cancel it.')
    const card = cards.adminConfirm({ verb: 'admin.cancel', request: mailboxes.refused, comment: 'Twice' }, asSam)
    expect(JSON.stringify(card)).toContain('"value":"Twice"')
    expect(actionsOf(card)).toMatchObject([{ title: 'Keep' }, { title: 'Cancel request', verb: 'admin.cancel' }])
  })

  it('starts the work anew of a request that stands still', () => {
    const request = { ...mailboxes.creating, steps: mailboxStepsUntil(2, { status: 'running', attempts: 3 }) }
    const words = textOf(cards.adminConfirm({ verb: 'admin.retry', request }, asSam))
    expect(words).toContain('Its work is started once more, at the step “Apply the settings”.')
  })
})

describe('the health card', () => {
  const report = (own: Partial<HealthFacts['own']>, problem?: string, given = 0) =>
    judgeHealth(
      factsOf(asSam.now, {
        own: { queue: { waiting: 0, oldestSeconds: 0 }, version: '1.4.0', ...own },
        deadLetters: given,
        services: [{ name: 'exchange', milliseconds: 340, ...(problem !== undefined && { problem }) }],
      }),
    )
  const words = (own: Partial<HealthFacts['own']>, problem?: string, given = 0) =>
    textOf(cards.adminHealth(report(own, problem, given), asSam))

  it('says that all is well, how quick everything answers, and how long the service has been up', () => {
    for (const said of [
      'All is well',
      'Answers in 3 ms',
      'Answers in 340 ms',
      'Nothing waits',
      'Version 1.4.0 · up 6 days',
    ])
      expect(words({})).toContain(said)
  })

  it('names what does not answer, what is late and what was given up', () => {
    expect(words({ databaseMilliseconds: null })).toMatch(/One thing needs you[\s\S]*Has not answer/)
    expect(words({ queue: { waiting: 1200, oldestSeconds: 720 } })).toContain(
      'Waiting or at work: 1,200. The oldest has been due for 12 min.',
    )
    const all = words({ watchedAt: null }, 'Exchange answered 401.', 3)
    expect(words({ watchedAt: null })).toContain('Does not look for requests that stand still')
    const halfAnHourAgo = new Date(asSam.now.getTime() - 1_800_000)
    expect(words({ watchedAt: halfAnHourAgo })).toContain('Has not looked for requests that stand still for 30 min')
    expect(all).toContain('3 things need you')
    expect(all).toContain('Exchange answered 401.')
  })
})

describe('a notice to one who is no admin', () => {
  it('is polite and leads on', () => {
    const card = cards.notice({ code: 'notAdmin' }, viewerOf(kim))
    expect(textOf(card)).toContain("This is for the service's admins.")
    expect(textOf(card)).toContain('If something of yours is stuck, type my requests.')
    expect(typedBy(card)).toEqual(['my requests'])
  })
})
