import { describe, expect, it } from 'vitest'
import { type CardJson, cards } from '../../src/cards/index.ts'
import type { RequestForMailbox } from '../../src/core/index.ts'
import { mailboxes, mailboxOf, mailboxPlanOf, mailboxStepsUntil, sharedOf } from '../support/card-mailboxes.ts'
import { dana, draftOf, kim, omar, sam, viewerOf } from '../support/card-requests.ts'
import { nodesOf } from '../support/card-rules.ts'
import { notSimilar } from '../support/card-similar.ts'
import { textOf } from '../support/cards.ts'

const buttonsOf = (card: CardJson): string[] =>
  (Array.isArray(card['actions']) ? card['actions'] : []).map(({ title }: { title: string }) => title)
const asKim = viewerOf(kim)
const asSam = viewerOf(sam, { isAdmin: true })

describe('what was asked for', () => {
  it('is shown whole at the review and to approvers, toggles in words', () => {
    const request = sharedOf({
      ...mailboxes.waiting,
      details: {
        ...mailboxes.waiting.details,
        hideFromGAL: true,
        autoMapping: false,
        tags: ['north', 'south'],
        capacity: 2000,
        country: 'CH',
      },
    })
    const shown = [
      ...[
        'Switzerland',
        'support@contoso.example',
        'help@contoso.example',
        'Kim Lee and Dana Fox',
        'Omar Haddad',
        '4711',
      ],
      ...['Hidden', 'Is added by hand', 'north, south', '2,000 MB', 'We answer within one working day.'],
      'Customers write to five different people today.',
    ]
    const review = cards.review({
      ...notSimilar,
      draft: draftOf({ reason: request.reason }),
      plan: mailboxPlanOf(request),
    })
    for (const text of shown) {
      expect(textOf(review)).toContain(text)
      expect(textOf(cards.approval(request, viewerOf(dana)))).toContain(text)
    }
  })

  it('is shown whole in the details where the card has room, and also what no form asks a shared mailbox for', () => {
    const long = 'Somebody answers within one working day. '.repeat(20).trim()
    const details = { ...mailboxes.waiting.details, automaticReply: long, audioDeviceName: 'Jabra' }
    const request = sharedOf({ ...mailboxes.waiting, details })
    expect(textOf(cards.approval(request, viewerOf(dana)))).toContain(long)
    expect(textOf(cards.approval(request, viewerOf(dana)))).toContain('Jabra')
  })

  it('can be folded away again, like the further fields of a form', () => {
    const review = cards.review({ ...notSimilar, draft: draftOf({}), plan: mailboxPlanOf(mailboxes.ready) })
    for (const card of [review, cards.approval(mailboxes.waiting, viewerOf(dana))]) {
      const toggles = nodesOf(card).filter(({ type }) => type === 'Action.ToggleVisibility')
      expect(toggles.map(({ title }) => title)).toEqual(['Details ▾', 'Details ▴'])
      const ids = nodesOf(card).flatMap(({ id }) => (String(id).toLowerCase().includes('details') ? [id] : []))
      for (const { targetElements } of toggles) expect(new Set(targetElements as unknown[])).toEqual(new Set(ids))
    }
  })

  it('names its kind once when the template has the same name', () => {
    const template = { ...mailboxes.waiting.template, name: 'Shared mailbox' }
    const shown = textOf(cards.requestStatus({ ...mailboxes.waiting, template }, asKim)).split('\n')
    expect(shown).toContain('Shared mailbox')
    expect(textOf(cards.requestStatus(mailboxes.waiting, asKim))).toContain('Shared mailbox · Team mailbox')
  })

  it('of metadata is shown also where no form asks for it', () => {
    const request = sharedOf({
      details: { ...mailboxes.waiting.details, metadata: { seats: 4, equipmentType: 'none' } },
    })
    const words = textOf(cards.review({ ...notSimilar, draft: draftOf({}), plan: mailboxPlanOf(request) }))
    for (const text of ['seats', '4', 'equipmentType', 'none']) expect(words.split('\n')).toContain(text)
  })

  it('makes a requester think as well, and promises Outlook to nobody', () => {
    const review = (permissions: RequestForMailbox['details']['permissions']) => {
      const request = sharedOf({ details: { ...mailboxes.waiting.details, permissions, autoMapping: true } })
      return textOf(cards.review({ ...notSimilar, draft: draftOf({}), plan: mailboxPlanOf(request) }))
    }
    expect(review({})).toContain('Nobody can open it yet: choose who reads it.')
    expect(review({ [omar.id]: 'SendAs' })).not.toContain('Appears by itself')
    expect(review({ [omar.id]: 'FullAccess' })).not.toContain('Nobody can open it')
    expect(review({ [omar.id]: 'FullAccess' })).toContain('Appears by itself')
  })

  it('makes an approver think about a shared mailbox that nobody gets access to', () => {
    const closed = (of: RequestForMailbox) => ({ ...of, details: { ...of.details, permissions: {} } })
    expect(textOf(cards.approval(closed(mailboxes.waiting), viewerOf(dana)))).toContain('Nobody gets access to it')
  })
})

describe('the status card of a mailbox', () => {
  const words = (request: RequestForMailbox, viewer = asKim) => textOf(cards.requestStatus(request, viewer))

  it('tells its work in four steps, one of them now', () => {
    const request = (steps: RequestForMailbox['steps']) => mailboxOf({ status: 'provisioning', steps })
    for (let done = 0; done <= 8; done += 1) {
      const shown = words(request(mailboxStepsUntil(done))).split('\n')
      expect(shown.filter((line) => line === '●')).toHaveLength(2)
    }
    expect(words(request(mailboxStepsUntil(1)))).toContain('Create the mailbox')
    expect(words(request(mailboxStepsUntil(6)))).toMatch(
      /Settings applied[\s\S]*Give access[\s\S]*Check it[\s\S]*Ready/,
    )
  })

  it('names the step that failed also when another one of its group is still to come', () => {
    const steps = mailboxStepsUntil(6, { status: 'failed', attempts: 1 })
    const reply = { name: 'apply-automatic-reply', status: 'pending', attempts: 0 } as const
    const failed = mailboxOf({ ...mailboxes.refused, steps: [...steps.slice(0, 7), reply, ...steps.slice(7)] })
    const lines = words(failed).split('\n')
    expect(lines[lines.lastIndexOf('✕') + 1]).toBe('Give access')
  })

  it('shows what the ready check has found, and only to admins what was there instead', () => {
    expect(words(mailboxes.checkFailed)).toContain('Not all can send as it: Kim Lee')
    expect(words(mailboxes.checkFailed)).toContain('Full access: Dana Fox and Omar Haddad')
    expect(words(mailboxes.checkFailed)).not.toContain('Nobody has it')
    expect(words(mailboxes.checkFailed, asSam)).toContain('Nobody has it')
    expect(buttonsOf(cards.requestStatus(mailboxes.checkFailed, asSam))).toEqual(['Try again', 'Cancel…'])
  })

  it('names what a cancelled request leaves behind, and tells an admin that nobody else removes it', () => {
    const left = 'The mailbox room-zrh-aurora@contoso.example is still there'
    expect(words(mailboxes.cancelled)).toContain(`${left}; an admin has been told.`)
    expect(words(mailboxes.cancelled, asSam)).toContain(`${left}. It has to be removed by hand.`)
    expect(words({ ...mailboxes.cancelled, steps: mailboxStepsUntil(0) })).toContain('Nothing was created.')
  })

  it('shows what address was asked for, and to others who asks', () => {
    for (const request of [mailboxes.waiting, mailboxes.creating, mailboxes.refused]) {
      expect(words(request)).toContain(request.address)
      expect(words(request)).not.toContain('Kim Lee asks')
      expect(words(request, asSam)).toContain('Kim Lee asks')
    }
  })

  it('offers the free name to who asked for one that somebody else has', () => {
    const said = 'room-zrh-aurora@contoso.example is taken. room-zrh-aurora-2@contoso.example is free.'
    expect(words(mailboxes.nameTaken)).toContain(said)
    expect(cards.requestStatus(mailboxes.nameTaken, asKim)['actions']).toMatchObject([
      { title: 'Choose another name', verb: 'request.edit' },
    ])
    expect(buttonsOf(cards.requestStatus(mailboxes.nameTaken, asSam))).toEqual(['Try again', 'Cancel…'])
    const problem = { code: 'name-taken', detail: 'The name is taken.' }
    expect(words({ ...mailboxes.nameTaken, problem })).toContain('Please choose another name.')
  })

  it('offers a free one also for another address that somebody else has', () => {
    const problem = { code: 'alias-taken', detail: 'It is held.', suggestion: 'help-2@contoso.example' }
    const taken = sharedOf({
      ...mailboxes.nameTaken,
      kind: 'sharedMailbox',
      address: 'support@contoso.example',
      problem,
    })
    const held = { ...taken, aliasAddress: 'help@contoso.example' }
    expect(words(held)).toContain('help@contoso.example is taken. help-2@contoso.example is free.')
    expect(words(held)).toContain('The other address was taken meanwhile')
  })

  it.each([
    ['ServerBusyException', 'Microsoft 365 did not answer'],
    ['BackendCommunicationException', 'Microsoft 365 did not answer'],
    ['ProxyAddressExistsException', 'The address was taken meanwhile'],
    ['WLCDManagedMemberExistsException', 'The address was taken meanwhile'],
    ['ManagementObjectAlreadyExistsException', 'The address was taken meanwhile'],
    ['ManagementObjectNotFoundException', 'It did not become ready in time'],
    ['ParameterBindingException', 'Microsoft 365 refused it'],
  ])('tells the exception %s of Exchange in our own words: %s', (code, said) => {
    expect(words({ ...mailboxes.refused, problem: { code, detail: 'It said no.' } })).toContain(said)
  })
})

describe('the card of a finished mailbox', () => {
  const urlOf = (card: CardJson) => nodesOf(card).find(({ type }) => type === 'Action.OpenUrl')?.['url']

  it('leads to Outlook and nowhere else', () => {
    expect(urlOf(cards.ready(mailboxes.sharedReady, asKim))).toBe(
      'https://outlook.office.com/mail/support%40contoso.example/',
    )
    const meeting = new URL(String(urlOf(cards.ready(mailboxes.ready, asKim))))
    expect([meeting.origin, meeting.searchParams.get('to')]).toEqual([
      'https://outlook.office.com',
      'room-zrh-aurora@contoso.example',
    ])
  })

  it('offers to open a shared mailbox only to those who can', () => {
    expect(buttonsOf(cards.ready(mailboxes.sharedReady, viewerOf(omar)))).toEqual(['Another one'])
    const said = 'Kim Lee and Dana Fox can open it in Outlook; you have no access to it.'
    expect(textOf(cards.ready(mailboxes.sharedReady, viewerOf(omar)))).toContain(said)
  })

  it('writes numbers and lists as people read them', () => {
    const { details } = mailboxes.ready
    const large = { ...mailboxes.ready, details: { ...details, metadata: { ...details.metadata, seats: 1000 } } }
    expect(textOf(cards.ready(large, asKim))).toMatch(/Room details: 1,000 seats, [^“”"]+$/m)
    expect(textOf(cards.ready(large, asKim))).not.toMatch(/Room details: .* and /)
  })

  it('says what to do next', () => {
    const next = (more: Partial<RequestForMailbox['details']>) =>
      textOf(cards.ready({ ...mailboxes.sharedReady, details: { ...mailboxes.sharedReady.details, ...more } }, asKim))
    expect(next({})).toContain('Outlook shows it by itself')
    expect(next({ autoMapping: false })).toContain('open it in Outlook on the web')
    expect(next({ permissions: {} })).toContain('Nobody can open it yet.')
    expect(textOf(cards.ready(mailboxes.ready, asKim))).toContain('invite its address to a meeting')
  })

  it('shows seven checks and how many more passed; without any it says nothing of checks', () => {
    expect(textOf(cards.ready(mailboxes.ready, asKim))).toContain('3 more checks passed')
    const eight = { ...mailboxes.ready, checks: mailboxes.ready.checks.slice(0, 8) }
    expect(textOf(cards.ready(eight, asKim))).toContain('1 more check passed')
    expect(textOf(cards.ready({ ...mailboxes.ready, checks: [] }, asKim))).not.toContain('Checked')
  })
})
