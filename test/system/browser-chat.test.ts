import { join } from 'node:path'
import { beforeAll, expect, it } from 'vitest'
import { inChatWindows, patience, screenshots, type Window } from '../support/chat-windows.ts'

// All tests share the windows, because the start of a service and a browser takes as long as a test.
inChatWindows('people in chat windows, in a real browser', {}, (windows) => {
  let kim: Window
  let dana: Window
  beforeAll(async () => {
    kim = await windows.open('kim')
    dana = await windows.open('dana')
  }, patience)

  it('greets a person who opens the chat', async () => {
    const help = await kim.sees('what do you need?', 'help')
    expect(await help.innerText()).toContain('New site')
  })

  it(
    'creates a site from a form, with an approval in the second window, and shows its link',
    async () => {
      // The row types a command. The Playground sends it as data, because it cannot type.
      await kim.card('what do you need?').getByText('New site').click()
      const choose = await kim.sees('What kind of site?', 'choose')
      await choose.getByText('Project site').click()

      const form = await kim.sees('Why do you need it?', 'form')
      await form.getByLabel('Site name').fill('Project Aurora')
      await form.getByLabel('Description').fill('Plans and *drawings*')
      await form.getByLabel('Cost centre').fill('47')
      await kim.picks(form, 'Who works in it', 'Only people in Contoso')
      await kim.picks(form, 'People Picker', 'Omar Haddad', 'Omar')
      await form.getByLabel('Why do you need it?').fill('Four companies need one place for drawings.')
      await form.getByLabel('Site address').fill('no address!')
      await form.getByRole('button', { name: 'Review' }).click()
      // The client checks no answer, so all mistakes come back in the same card.
      const returned = await kim.sees('2 things to fix', 'form-returned')
      expect(await returned.innerText()).toContain('four digits')
      expect(await returned.getByLabel('Description').inputValue()).toBe('Plans and *drawings*')
      await returned.getByLabel('Cost centre').fill('4711')
      await returned.getByLabel('Site address').fill('project-aurora')
      await returned.getByRole('button', { name: 'Check name' }).click()
      const checked = await kim.sees('It is free.', 'form-checked')
      expect(await checked.getByLabel('Description').inputValue()).toBe('Plans and *drawings*')
      await checked.getByRole('button', { name: 'Review' }).click()

      const review = await kim.sees('Is this right?', 'review')
      await review.getByRole('button', { name: 'Send' }).click()
      await kim.sees('Waiting for approval', 'waiting')

      const approval = await dana.sees('Your decision, please', 'approval')
      await approval.getByRole('button', { name: 'Reject' }).click()
      const missing = await dana.sees('Explain in a comment', 'comment-missing')
      await missing.getByLabel('Comment').fill('Go ahead')
      await missing.getByRole('button', { name: 'Approve' }).click()
      await dana.sees(/Approved by you/, 'approved')

      const ready = await kim.sees('Your site is ready', 'ready')
      expect(await ready.innerText()).toContain('/sites/project-aurora')
      const [site] = await Promise.all([
        kim.page.context().waitForEvent('page'),
        ready.getByRole('link', { name: 'Open site' }).click(),
      ])
      await site.waitForLoadState()
      expect(await site.locator('body').innerText()).toContain('Project Aurora')
      await site.screenshot({ path: join(screenshots, 'kim-site.png') })
      await site.close()
    },
    2 * patience,
  )

  it(
    'lists, shows and cancels requests, and answers an unknown command with help',
    async () => {
      await kim.type('my requests')
      await kim.sees('My requests', 'my-requests')
      await kim.type('status REQ-1001')
      await kim.sees('Ready', 'status')
      await kim.type('statsu')
      await kim.sees('I did not understand', 'unknown')
      await kim.type('cancel REQ-1001')
      await kim.sees(/Too late to cancel|Already ended/, 'too-late')
    },
    patience,
  )

  it(
    'creates a room from a command after two mistakes, and shows its address and the checks',
    async () => {
      await kim.type('new room')
      const form = await kim.sees('New room', 'room-form')
      await form.getByLabel('Room name').fill('Matterhorn (Zürich, *floor 2*)')
      await form.getByLabel('Address (before the @)').fill('zrh-matterhorn')
      await form.getByLabel('Office location').fill('Zürich HQ, floor 2')
      await form.getByLabel('Seats').fill('12')
      await form.getByText('Whiteboard').click()
      await kim.picks(form, 'People Picker', 'Dana Fox', 'Dana', 0)
      await kim.picks(form, 'People Picker', 'Dana Fox', 'Dana', 1)
      await form.getByRole('button', { name: 'Review' }).click()

      const returned = await kim.sees('2 things to fix', 'room-form-returned')
      const text = await returned.innerText()
      expect(text).toContain('This address is taken. Try room-zrh-matterhorn-2.')
      expect(text).toContain('You chose Dana Fox in both fields')
      expect(await returned.getByLabel('Room name').inputValue()).toBe('Matterhorn (Zürich, *floor 2*)')
      expect(await returned.getByLabel('Whiteboard').isChecked()).toBe(true)
      await returned.getByLabel('Address (before the @)').fill('room-zrh-matterhorn-2')
      await kim.picks(returned, 'People Picker', 'Dana Fox', 'Dana', 0)
      await kim.picks(returned, 'People Picker', 'Omar Haddad', 'Omar', 1)
      await returned.getByRole('button', { name: 'More fields' }).click()
      await returned.getByLabel('Country').fill('Switzerland')
      await kim.page.screenshot({ path: join(screenshots, 'kim-room-form-more.png') })
      await returned.getByRole('button', { name: 'Review' }).click()

      const review = await kim.sees('Is this right?', 'room-review')
      expect(await review.innerText()).toContain('room-zrh-matterhorn-2@contoso.example')
      await review.getByRole('button', { name: 'Create' }).click()
      const ready = await kim.sees('Your room is ready', 'room-ready')
      const checked = await ready.innerText()
      for (const line of ['room-zrh-matterhorn-2@contoso.example', 'Full access: Dana Fox', 'Send as: Omar Haddad'])
        expect(checked).toContain(line)
      const [page] = await Promise.all([
        kim.page.context().waitForEvent('page'),
        ready.getByRole('link', { name: 'Book it' }).click(),
      ])
      await page.waitForLoadState()
      expect(await page.locator('body').innerText()).toContain('Matterhorn (Zürich, *floor 2*)')
      await page.screenshot({ path: join(screenshots, 'kim-room-page.png') })
      await page.close()
    },
    2 * patience,
  )
})
