import { expect, it } from 'vitest'
import { inChatWindows, patience } from '../support/chat-windows.ts'

inChatWindows('an unfinished form, in a real browser with the client’s own checks', {}, (windows) => {
  it(
    'is saved half-filled, survives a restart of the service, and returns with its values',
    async () => {
      const before = await windows.open('kim')
      await before.type('new project')
      const form = await before.sees('Why do you need it?', 'half-form')
      expect(await form.innerText()).toContain('Site name *')
      await form.getByLabel('Site name').fill('Project Borealis')
      await form.getByLabel('Description').fill('Plans and *drawings*')
      // The required reason is empty, and the cost centre is incomplete.
      await form.getByLabel('Cost centre').fill('47')
      await before.picks(form, 'People Picker', 'Omar Haddad', 'Omar')
      await form.getByRole('button', { name: 'Check name' }).click()
      const checked = await before.sees('It is free.', 'half-form-checked')
      expect(await checked.getByLabel('Cost centre').inputValue()).toBe('47')
      await checked.getByRole('button', { name: 'Later' }).click()
      await before.sees('Draft saved', 'half-form-saved')
      await before.page.close()

      await windows.restart()

      const after = await windows.open('kim')
      await after.type('my drafts')
      // The welcome card has a button with the name of the list.
      const list = await after.sees('Project Borealis', 'drafts')
      await list.getByRole('button', { name: 'Continue' }).click()
      const again = await after.sees('Why do you need it?', 'half-form-again')
      expect(await again.getByLabel('Site name').inputValue()).toBe('Project Borealis')
      expect(await again.getByLabel('Description').inputValue()).toBe('Plans and *drawings*')
      expect(await again.getByLabel('Cost centre').inputValue()).toBe('47')

      // Review shows all mistakes in the same card, and keeps the values.
      await again.getByRole('button', { name: 'Review' }).click()
      const returned = await after.sees('things to fix', 'half-form-returned')
      const text = await returned.innerText()
      for (const line of ['four digits', 'Explain why you need it.']) expect(text).toContain(line)
      expect(await returned.getByLabel('Site name').inputValue()).toBe('Project Borealis')
      await returned.getByLabel('Cost centre').fill('4711')
      await after.picks(returned, 'Who works in it', 'Only people in Contoso')
      await returned.getByLabel('Why do you need it?').fill('One place for drawings')
      await returned.getByRole('button', { name: 'Review' }).click()
      const review = await after.sees('Is this right?', 'half-form-review')
      expect(await review.innerText()).toContain('Omar Haddad')
    },
    3 * patience,
  )
})
