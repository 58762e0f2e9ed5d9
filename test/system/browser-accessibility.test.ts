import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { expect, it, vi } from 'vitest'
import { inChatWindows, patience, type Window } from '../support/chat-windows.ts'

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** The name of the focused element: what a screen reader says first. */
const focused = `(() => {
  const element = document.activeElement
  const labels = (element.getAttribute('aria-labelledby') ?? '').split(' ').map((id) => document.getElementById(id)?.innerText)
  const own = [...(element.labels ?? [])].map((label) => label.innerText)
  const names = [...labels, ...own, element.getAttribute('aria-label'), element.getAttribute('placeholder'), element.innerText]
  return names.find(Boolean) ?? ''
})()`

/** A person who uses no mouse. */
class Keyboard {
  readonly #window: Window

  constructor(window: Window) {
    this.#window = window
  }

  /** Presses a key, and returns the name of the element that has the focus then. */
  async press(key: string): Promise<string> {
    await this.#window.page.keyboard.press(key)
    return String(await this.#window.page.evaluate(focused))
  }

  /** Presses a key until the element with this name has the focus, and returns the names on the way. */
  async until(name: string, key = 'Tab'): Promise<string[]> {
    const passed: string[] = []
    for (let presses = 1; presses <= 40; presses += 1) {
      const found = await this.press(key)
      passed.push(found)
      if (found === name || found === `${name} *`) return passed
    }
    throw new Error(`${key} does not reach "${name}", only:\n${passed.join('\n')}`)
  }

  async types(text: string): Promise<void> {
    await this.#window.page.keyboard.type(text)
  }
}

inChatWindows('the keyboard alone, in a real browser', {}, (windows) => {
  it(
    'fills in a form in the order of its fields, sends it, and reaches the buttons of a new card',
    async () => {
      const kim = await windows.open('kim')
      const keys = new Keyboard(kim)
      await kim.page.locator('[contenteditable]').first().focus()
      await keys.types('new project')
      await keys.press('Enter')
      await kim.sees('Why do you need it?', 'keyboard-form')

      await keys.until('Site name', 'Shift+Tab')
      await keys.types('Keyboard only')
      const order = await keys.until('Why do you need it?')
      expect(order.map((name) => name.replace(/ \*$/, ''))).toEqual([
        ...['Site address', 'Check name', 'Description', 'People Picker', 'Cost centre', 'Who works in it'],
        ...['Sensitivity', 'Why do you need it?'],
      ])
      await keys.types('No mouse here')
      await keys.until('Who works in it', 'Shift+Tab')
      await keys.press('ArrowDown')
      await keys.press('ArrowDown')
      await keys.press('Enter')
      await keys.until('Cost centre', 'Shift+Tab')
      await keys.types('4711')
      expect((await keys.until('Review')).at(-2)).toContain('Why do you need it?')
      await keys.press('Enter')

      await kim.sees('Is this right?', 'keyboard-review')
      // The review replaces the form, and the focus stays on the first button.
      expect(await kim.page.evaluate(focused)).toBe('Send')
      await keys.press('Enter')
      await kim.sees('Waiting for approval', 'keyboard-waiting')
      await keys.until('Cancel request')
      expect(await keys.until('Nudge', 'Shift+Tab')).toEqual(['Refresh', 'Timeline ▾', 'Nudge'])
    },
    3 * patience,
  )

  it(
    'shows and hides details, and decides',
    async () => {
      const dana = await windows.open('dana')
      const keys = new Keyboard(dana)
      await dana.page.locator('[contenteditable]').first().focus()
      await keys.types('status REQ-1001')
      await keys.press('Enter')
      const card = await dana.sees('Your decision, please', 'keyboard-approval')
      // An update of the card meanwhile closes its details.
      await vi.waitFor(
        async () => {
          await keys.until('Details ▾', 'Shift+Tab')
          await keys.press('Enter')
          await card.getByText('/sites/keyboard-only').waitFor({ state: 'visible', timeout: 5000 })
        },
        { timeout: patience },
      )
      expect(await keys.press('Tab')).toBe('Hide details ▴')
      await keys.press('Enter')
      await card.getByText('/sites/keyboard-only').waitFor({ state: 'hidden' })
      await keys.until('Approve')
      await keys.press('Enter')
      await dana.sees('Approved', 'keyboard-approved')
    },
    2 * patience,
  )

  it(
    'and axe-core find no obstacle on the pages about the service, light and dark, on a small screen',
    async () => {
      const page = await windows.page()
      await page.setViewportSize({ width: 320, height: 800 })
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme })
        for (const path of ['/about', '/privacy', '/terms']) {
          await page.goto(path)
          // The page's policy refuses scripts, but not those of the browser's tools.
          await page.evaluate(axe)
          const found = 'axe.run().then(({ violations }) => violations.map(({ id, nodes }) => [id, nodes[0].html]))'
          expect(await page.evaluate(found), `${path}, ${colorScheme}`).toEqual([])
        }
      }
      await page.close()
    },
    patience,
  )
})
