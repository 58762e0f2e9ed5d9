import { describe, expect, it } from 'vitest'
import type { CardJson } from '../../src/cards/index.ts'
import type { RequestForMailbox } from '../../src/core/index.ts'
import { mailboxes, mailboxOf, mailboxPlanOf, mailboxStepsUntil, sharedOf } from '../support/card-mailboxes.ts'
import { dana, draftOf, kim, omar, sam, viewerOf } from '../support/card-requests.ts'
import { nodesOf } from '../support/card-rules.ts'
import { notSimilar } from '../support/card-similar.ts'
import { textOf } from '../support/cards.ts'
import { cards } from '../support/english-cards.ts'

const buttonsOf = (card: CardJson): string[] =>
  (Array.isArray(card['actions']) ? card['actions'] : []).map(({ title }: { title: string }) => title)
const asKim = viewerOf(kim)
const asSam = viewerOf(sam, { isAdmin: true })

describe('the requested properties', () => {
  it('are complete in the review and for approvers, with texts for toggles', () => {
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
      ...['Hidden', 'Added manually', 'north, south', '2,000 MB', 'We answer within one working day.'],
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

  it('are complete in the details if the card has room, including properties that no form has', () => {
    const long = 'Somebody answers within one working day. '.repeat(20).trim()
    const details = { ...mailboxes.waiting.details, automaticReply: long, audioDeviceName: 'Jabra' }
    const request = sharedOf({ ...mailboxes.waiting, details })
    expect(textOf(cards.approval(request, viewerOf(dana)))).toContain(long)
    expect(textOf(cards.approval(request, viewerOf(dana)))).toContain('Jabra')
  })

  it('can be folded', () => {
    const review = cards.review({ ...notSimilar, draft: draftOf({}), plan: mailboxPlanOf(mailboxes.ready) })
    for (const card of [review, cards.approval(mailboxes.waiting, viewerOf(dana))]) {
      const toggles = nodesOf(card).filter(({ type }) => type === 'Action.ToggleVisibility')
      expect(toggles.map(({ title }) => title)).toEqual(['Details ▾', 'Hide details ▴'])
      const ids = nodesOf(card).flatMap(({ id }) => (String(id).toLowerCase().includes('details') ? [id] : []))
      for (const { targetElements } of toggles) expect(new Set(targetElements as unknown[])).toEqual(new Set(ids))
    }
  })

  it('show the kind once if the template has the same name', () => {
    const template = { ...mailboxes.waiting.template, name: 'Shared mailbox' }
    const shown = textOf(cards.requestStatus({ ...mailboxes.waiting, template }, asKim)).split('\n')
    expect(shown).toContain('Shared mailbox')
    expect(textOf(cards.requestStatus(mailboxes.waiting, asKim))).toContain('Shared mailbox · Team mailbox')
  })

  it('include metadata that no form has', () => {
    const request = sharedOf({
      details: { ...mailboxes.waiting.details, metadata: { seats: 4, equipmentType: 'none' } },
    })
    const words = textOf(cards.review({ ...notSimilar, draft: draftOf({}), plan: mailboxPlanOf(request) }))
    for (const text of ['seats', '4', 'equipmentType', 'none']) expect(words.split('\n')).toContain(text)
  })

  it('warn the requester if nobody can open the mailbox', () => {
    const review = (permissions: RequestForMailbox['details']['permissions']) => {
      const request = sharedOf({ details: { ...mailboxes.waiting.details, permissions, autoMapping: true } })
      return textOf(cards.review({ ...notSimilar, draft: draftOf({}), plan: mailboxPlanOf(request) }))
    }
    expect(review({})).toContain('If you continue, nobody can open this mailbox. Add at least one person.')
    expect(review({ [omar.id]: 'SendAs' })).not.toContain('Added automatically')
    expect(review({ [omar.id]: 'FullAccess' })).not.toContain('Nobody can open it')
    expect(review({ [omar.id]: 'FullAccess' })).toContain('Added automatically')
  })

  it('warn the approver if nobody gets access to a shared mailbox', () => {
    const closed = (of: RequestForMailbox) => ({ ...of, details: { ...of.details, permissions: {} } })
    expect(textOf(cards.approval(closed(mailboxes.waiting), viewerOf(dana)))).toContain(
      'Nobody gets access to this mailbox',
    )
  })
})

describe('the status card of a mailbox', () => {
  const words = (request: RequestForMailbox, viewer = asKim) => textOf(cards.requestStatus(request, viewer))

  it('shows four steps, one of them current', () => {
    const request = (steps: RequestForMailbox['steps']) => mailboxOf({ status: 'provisioning', steps })
    for (let done = 0; done <= 8; done += 1) {
      const shown = words(request(mailboxStepsUntil(done))).split('\n')
      expect(shown.filter((line) => line === '●')).toHaveLength(2)
    }
    expect(words(request(mailboxStepsUntil(1)))).toContain('Create the mailbox')
    expect(words(request(mailboxStepsUntil(6)))).toMatch(
      /Settings applied[\s\S]*Give access[\s\S]*Check the result[\s\S]*Ready/,
    )
  })

  it('names the failed step even if a later step of its group is pending', () => {
    const steps = mailboxStepsUntil(6, { status: 'failed', attempts: 1 })
    const reply = { name: 'apply-automatic-reply', status: 'pending', attempts: 0 } as const
    const failed = mailboxOf({ ...mailboxes.refused, steps: [...steps.slice(0, 7), reply, ...steps.slice(7)] })
    const lines = words(failed).split('\n')
    expect(lines[lines.lastIndexOf('✕') + 1]).toBe('Give access')
  })

  it('shows the results of the ready check, and the values found only to admins', () => {
    expect(words(mailboxes.checkFailed)).toContain('Some people cannot send as this mailbox: Kim Lee')
    expect(words(mailboxes.checkFailed)).toContain('Full access: Dana Fox and Omar Haddad')
    expect(words(mailboxes.checkFailed)).not.toContain('Dana Fox is missing')
    expect(words(mailboxes.checkFailed, asSam)).toContain('Dana Fox is missing')
    expect(buttonsOf(cards.requestStatus(mailboxes.checkFailed, asSam))).toEqual(['Retry', 'Cancel request…'])
  })

  it('names the mailbox that a cancelled request leaves behind, and asks an admin to remove it', () => {
    const left = 'The mailbox room-zrh-aurora@contoso.example was already created'
    expect(words(mailboxes.cancelled)).toContain(`${left} and still exists. I notified an admin.`)
    expect(words(mailboxes.cancelled, asSam)).toContain(`${left}. Delete it in the Exchange admin center.`)
    expect(words({ ...mailboxes.cancelled, steps: mailboxStepsUntil(0) })).toContain('Nothing was created.')
  })

  it('shows the requested address, and the requester to others', () => {
    for (const request of [mailboxes.waiting, mailboxes.creating, mailboxes.refused]) {
      expect(words(request)).toContain(request.address)
      expect(words(request)).not.toContain('Requested by Kim Lee')
      expect(words(request, asSam)).toContain('Requested by Kim Lee')
    }
  })

  it('offers the requester a free name instead of a taken one', () => {
    const access =
      'The address room-zrh-aurora@contoso.example is taken. The address room-zrh-aurora-2@contoso.example is free.'
    expect(words(mailboxes.nameTaken)).toContain(access)
    expect(cards.requestStatus(mailboxes.nameTaken, asKim)['actions']).toMatchObject([
      { title: 'Change address', verb: 'request.edit' },
    ])
    expect(buttonsOf(cards.requestStatus(mailboxes.nameTaken, asSam))).toEqual(['Retry', 'Cancel request…'])
    const problem = { code: 'name-taken', detail: 'The name is taken.' }
    expect(words({ ...mailboxes.nameTaken, problem })).toContain('Please choose another address.')
  })

  it('also offers a free name instead of a taken other address', () => {
    const problem = { code: 'alias-taken', detail: 'It is held.', suggestion: 'help-2@contoso.example' }
    const taken = sharedOf({
      ...mailboxes.nameTaken,
      kind: 'sharedMailbox',
      address: 'support@contoso.example',
      problem,
    })
    const held = { ...taken, aliasAddress: 'help@contoso.example' }
    expect(words(held)).toContain(
      'The address help@contoso.example is taken. The address help-2@contoso.example is free.',
    )
    expect(words(held)).toContain('The additional address is now taken')
  })

  it.each([
    ['ServerBusyException', 'Microsoft 365 did not answer'],
    ['BackendCommunicationException', 'Microsoft 365 did not answer'],
    ['ProxyAddressExistsException', 'The address is now taken'],
    ['WLCDManagedMemberExistsException', 'The address is now taken'],
    ['ManagementObjectAlreadyExistsException', 'The address is now taken'],
    ['ManagementObjectNotFoundException', 'The resource was not ready in time'],
    ['ParameterBindingException', 'Microsoft 365 refused this step'],
  ])('shows our text for the Exchange exception %s: %s', (code, text) => {
    expect(words({ ...mailboxes.refused, problem: { code, detail: 'It said no.' } })).toContain(text)
  })
})

describe('the card of a ready mailbox', () => {
  const urlOf = (card: CardJson) => nodesOf(card).find(({ type }) => type === 'Action.OpenUrl')?.['url']

  it('links only to Outlook', () => {
    expect(urlOf(cards.ready(mailboxes.sharedReady, asKim))).toBe(
      'https://outlook.office.com/mail/support%40contoso.example/',
    )
    const meeting = new URL(String(urlOf(cards.ready(mailboxes.ready, asKim))))
    expect([meeting.origin, meeting.searchParams.get('to')]).toEqual([
      'https://outlook.office.com',
      'room-zrh-aurora@contoso.example',
    ])
  })

  it('offers to open a shared mailbox only to people with access', () => {
    expect(buttonsOf(cards.ready(mailboxes.sharedReady, viewerOf(omar)))).toEqual([])
    const access = 'Kim Lee and Dana Fox can open it in Outlook. You have no access.'
    expect(textOf(cards.ready(mailboxes.sharedReady, viewerOf(omar)))).toContain(access)
  })

  it('formats numbers and lists for people', () => {
    const { details } = mailboxes.ready
    const large = { ...mailboxes.ready, details: { ...details, metadata: { ...details.metadata, seats: 1000 } } }
    expect(textOf(cards.ready(large, asKim))).toMatch(/Room details: 1,000 seats, [^“”"]+$/m)
    expect(textOf(cards.ready(large, asKim))).not.toMatch(/Room details: .* and /)
  })

  it('shows the next action', () => {
    const next = (more: Partial<RequestForMailbox['details']>) =>
      textOf(cards.ready({ ...mailboxes.sharedReady, details: { ...mailboxes.sharedReady.details, ...more } }, asKim))
    expect(next({})).toContain('Within an hour, Outlook shows it')
    expect(next({ autoMapping: false })).toContain('open it in Outlook on the web')
    expect(next({ permissions: {} })).toContain('Nobody can open it yet.')
    expect(textOf(cards.ready(mailboxes.ready, asKim))).toContain('invite its address to a meeting')
  })

  it('shows seven checks and the number of the others, and no heading without checks', () => {
    expect(textOf(cards.ready(mailboxes.ready, asKim))).toContain('3 more checks passed')
    const eight = { ...mailboxes.ready, checks: mailboxes.ready.checks.slice(0, 8) }
    expect(textOf(cards.ready(eight, asKim))).toContain('1 more check passed')
    expect(textOf(cards.ready({ ...mailboxes.ready, checks: [] }, asKim))).not.toContain('Checked')
  })
})
