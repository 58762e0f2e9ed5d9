import { describe, expect, it } from 'vitest'
import { action, actionsOf, textOf, valuesOf } from '../support/cards.ts'
import type { Card } from '../support/connector.ts'
import { withService } from '../support/service.ts'
import { opens } from '../support/site-request.ts'
import { people } from '../support/teams-user.ts'
import { until } from '../support/until.ts'

const room = {
  displayName: 'Aurora (Zürich, floor 3)',
  name: 'zrh-aurora',
  officeLocation: 'Zürich 3.14',
  'metadata.seats': '12',
  'roomMailboxMetadata.hasWhiteboard': 'true',
  'permissions.FullAccess': people.dana.id,
  'permissions.SendAs': people.omar.id,
}

describe('a mailbox request in chat', () => {
  const service = withService()

  it('creates a room and sends one card with its address and the people with access', async () => {
    const { kim, connector } = service
    const form = await opens(kim, 'room')
    const review = await kim.clicks(form, 'Review', room)
    expect(textOf(review.card ?? {})).toContain('room-zrh-aurora@contoso.example')
    await kim.clicks({ id: form.id, card: review.card }, 'Create')
    const ready = await kim.sees(/Your room is ready/)
    for (const part of ['room-zrh-aurora@contoso.example', 'Dana Fox', 'Omar Haddad'])
      expect(textOf(ready.card)).toContain(part)
    const status = await until(
      () => kim.chat().find(({ id, card }) => id === form.id && textOf(card ?? {}).includes('Finished, see below')),
      'the status card to shrink to one line',
    )
    expect(status.updates).toBeGreaterThan(0)
    expect(connector.sent.filter(({ card }) => card && textOf(card).includes('Your room is ready'))).toHaveLength(1)
    expect(connector.unexpected).toEqual([])
  })

  it('creates a shared mailbox after an approval', async () => {
    const { kim, dana } = service
    await dana.installs()
    const choose = await opens(kim, 'shared mailbox')
    const form = await kim.clicks(choose, 'Choose Customer mailbox')
    const filled = {
      displayName: 'Northwind orders',
      name: 'northwind',
      'metadata.customer': 'Northwind Traders',
      'permissions.FullAccess': people.kim.id,
      reason: 'Their orders go to three of us.',
    }
    const review = await kim.clicks({ id: choose.id, card: form.card }, 'Review', filled)
    await kim.clicks({ id: choose.id, card: review.card }, 'Send')
    const approval = await dana.sees(/Your decision, please[\s\S]*Northwind orders/)
    expect(textOf(approval.card)).toContain('cust-northwind@contoso.example')
    await dana.clicks(approval, 'Approve')
    const ready = await kim.sees(/Your mailbox is ready/)
    expect(textOf(ready.card)).toContain('cust-northwind@contoso.example')
  })

  it('tells a requester who has no access so on form and review, adds them with one click, and names the admins', async () => {
    const { kim, dana, omar } = service
    await dana.installs()
    const withoutYou = 'You are not among the people with full access.'
    const titles = (card: Card = {}) => actionsOf(card).map(({ title }) => title)
    const choose = await opens(kim, 'shared mailbox')
    const form = await kim.clicks(choose, 'Choose Customer mailbox')
    expect(titles(form.card)).not.toContain('Add me')
    const on = (card: Card | undefined) => ({ id: choose.id, card: card ?? {} })
    const filled = {
      displayName: 'Fabrikam orders',
      name: 'fabrikam',
      'metadata.customer': 'Fabrikam',
      'permissions.FullAccess': omar.id,
      reason: '',
    }
    const returned = await kim.clicks(on(form.card), 'Review', filled)
    expect(textOf(returned.card ?? {})).toContain(withoutYou)
    const joined = await kim.clicks(on(returned.card), 'Add me', { reason: 'Their orders' })
    expect(textOf(joined.card ?? {})).not.toContain(withoutYou)
    expect(valuesOf(joined.card ?? {})).toMatchObject({
      reason: 'Their orders',
      'permissions.FullAccess': `${omar.id},${kim.id}`,
    })
    // The person leaves the list again: the review also says so, and offers the same button.
    const review = await kim.clicks(on(joined.card), 'Review', { 'permissions.FullAccess': omar.id })
    expect(textOf(review.card ?? {})).toContain(withoutYou)
    const better = await kim.clicks(on(review.card), 'Add me')
    expect(textOf(better.card ?? {})).toContain('Is this right?')
    expect(textOf(better.card ?? {})).not.toContain(withoutYou)
    expect(textOf(better.card ?? {})).toMatch(/Omar Haddad and Kim Lee|Kim Lee and Omar Haddad/)
    const edit = await kim.clicks(on(better.card), 'Edit')
    const last = await kim.clicks(on(edit.card), 'Review', { 'permissions.FullAccess': omar.id })
    await kim.clicks(on(last.card), 'Send')
    await dana.clicks(await dana.sees(/Your decision, please[\s\S]*Fabrikam orders/), 'Approve')
    const ready = await kim.sees(/Your mailbox is ready[\s\S]*Fabrikam/)
    expect(textOf(ready.card)).toContain('Omar Haddad can open it in Outlook. You have no access. Sam Roy can add you.')
  })

  it('fails, is retried by an admin, and sends the requester one card when the equipment is ready', async () => {
    const { kim, sam, connector } = service
    await sam.installs()
    await service.fault({ operation: 'exchange.set-calendarprocessing', kind: 'failBeforeCommit', status: 405 })
    const form = await opens(kim, 'equipment')
    const review = await kim.clicks(form, 'Review', {
      displayName: 'Projector 7',
      name: 'projector-7',
      'metadata.equipmentType': 'Projector',
    })
    await kim.clicks({ id: form.id, card: review.card }, 'Create')
    const failed = await sam.sees(/Failed[\s\S]*Projector 7/)
    const reference = /REQ-\d+/.exec(textOf(failed.card))?.[0] ?? ''
    const stuck = await sam.says('admin stuck')
    expect(textOf(stuck.card)).toContain(reference)
    const confirm = await sam.says(`admin retry ${reference}`)
    const again = await sam.clicks(confirm, 'Retry')
    expect(textOf(again.card ?? {})).toContain(reference)
    const ready = await kim.sees(/Your equipment is ready/)
    expect(textOf(ready.card)).toContain('eq-projector-7@contoso.example')
    const shown = await until(
      () => sam.chat().find(({ id, card }) => id === confirm.id && card && /\bReady\b/.test(textOf(card))),
      'the admin’s card to be ready',
    )
    expect(actionsOf(shown.card ?? {}).map(({ verb }) => verb)).not.toContain('admin.retry')
    expect(connector.sent.filter(({ card }) => card && textOf(card).includes('Your equipment is ready'))).toHaveLength(
      1,
    )
    expect(connector.unexpected).toEqual([])
  })

  it('survives a restart while the form is open', async () => {
    const { kim } = service
    const form = await opens(kim, 'room')
    expect(action(form.card, 'Review').data).toMatchObject({ version: 1 })
    await service.restart()
    const review = await kim.clicks(form, 'Review', { ...room, name: 'zrh-later' })
    expect(textOf(review.card ?? {})).toContain('room-zrh-later@contoso.example')
  })
})
