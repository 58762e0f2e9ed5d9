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
    'chooses a colleague and a day on a card, changes it by a line, and comes back',
    async () => {
      await dana.type('delegate')
      const form = await dana.sees('While you are away', 'delegation-form')
      await dana.picks(form, 'People Picker', 'Omar Haddad', 'Omar')
      await form.getByLabel('Until the end of').fill(inAWeek)
      await form.getByRole('button', { name: 'Save' }).click()
      const saved = await dana.sees('That is arranged', 'delegation-saved')
      expect(await saved.innerText()).toContain('Omar Haddad decides for you until')

      await dana.type('delegate sam until tomorrow')
      const found = await dana.sees('I found Sam Roy', 'delegation-found')
      // The Playground draws nobody in a picker that comes filled, and keeps them all the same.
      await found.getByRole('button', { name: 'Save' }).click()
      await dana.sees(/That is arranged\s*Sam Roy decides for you until/, 'delegation-changed')

      await dana.type('back')
      const back = await dana.sees('Welcome back', 'delegation-ended')
      expect(await back.innerText()).toContain('Sam Roy does not decide for you any more.')
    },
    2 * patience,
  )
})
