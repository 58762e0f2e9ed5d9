import { beforeAll, expect, it } from 'vitest'
import { inChatWindows, patience, type Window } from '../support/chat-windows.ts'

inChatWindows('who is away, in a real browser', {}, (windows) => {
  let dana: Window
  beforeAll(async () => {
    dana = await windows.open('dana')
    await dana.sees('what do you need?', 'delegation-help')
  }, patience)
  const inAWeek = new Date(Date.now() + 7 * 86_400_000).toISOString().slice(0, 10)

  it(
    'chooses a delegate and a day on a card, changes them with a message, and returns',
    async () => {
      await dana.type('delegate')
      const form = await dana.sees('While you are away', 'delegation-form')
      await dana.picks(form, 'People Picker', 'Omar Haddad', 'Omar')
      await form.getByLabel('Last day').fill(inAWeek)
      await form.getByRole('button', { name: 'Save' }).click()
      const saved = await dana.sees('Delegation saved', 'delegation-saved')
      expect(await saved.innerText()).toContain('Omar Haddad can also decide for you until')

      await dana.type('delegate sam until tomorrow')
      const found = await dana.sees('I found Sam Roy', 'delegation-found')
      // The Playground does not show the preselected people of a picker, but keeps them.
      await found.getByRole('button', { name: 'Save' }).click()
      await dana.sees(/Delegation saved\s*Sam Roy can also decide for you until/, 'delegation-changed')

      await dana.type('back')
      const back = await dana.sees('Welcome back', 'delegation-ended')
      expect(await back.innerText()).toContain('Sam Roy no longer decides for you.')
    },
    2 * patience,
  )
})
