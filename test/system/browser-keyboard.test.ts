import { expect, it } from 'vitest'
import { inChatWindows, patience, type Window } from '../support/chat-windows.ts'

/** The tooltip, name or text of the focused element, as a screen reader would find it. */
const focused = `(() => {
  const element = document.activeElement
  const labels = (element.getAttribute('aria-labelledby') ?? '').split(' ').map((id) => document.getElementById(id)?.innerText)
  const own = [...(element.labels ?? [])].map((label) => label.innerText)
  const name = [...labels, ...own, element.getAttribute('aria-label'), element.getAttribute('placeholder'), element.innerText]
  return element.tagName + ': ' + name.filter(Boolean).join(' | ').slice(0, 120)
})()`

inChatWindows('the keyboard alone, in a real browser', {}, (windows) => {
  it(
    'explores',
    async () => {
      const kim: Window = await windows.open('kim')
      const press = async (key: string, times: number) => {
        for (let i = 0; i < times; i += 1) {
          await kim.page.keyboard.press(key)
          console.log(key, await kim.page.evaluate(focused))
        }
      }
      await press('Tab', 25)
      await kim.page.locator('[contenteditable]').first().focus()
      await kim.page.keyboard.type('new project')
      await kim.page.keyboard.press('Enter')
      await kim.sees('Why do you need it?', 'keyboard-form')
      console.log('after send', await kim.page.evaluate(focused))
      await press('Shift+Tab', 25)
      expect(1).toBe(1)
    },
    3 * patience,
  )
})
