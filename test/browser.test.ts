import { type ChildProcess, spawn } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { type Browser, chromium, type Locator, type Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { emptyStore } from './support/database.ts'

const executablePath = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find((path) =>
  existsSync(path),
)
const args = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]
const screenshots = 'test/screenshots'
const patience = 60_000

/** Local mode as `npm start` runs it, in a process of its own; the addresses are those that it prints. */
async function startLocalMode(): Promise<{ child: ChildProcess; windows: string[] }> {
  const dataDir = mkdtempSync(join(inject('runFolder'), 'browser-'))
  cpSync(await emptyStore(), join(dataDir, 'postgres'), { recursive: true })
  // Not our own environment: vitest sets MODE and BASE_URL for its own ends.
  const env = {
    PATH: process.env['PATH'] ?? '',
    PORT: '0',
    SIMULATOR_PORT: '0',
    DATA_DIR: dataDir,
    SIMULATOR_DIRECTORY_SECONDS: '1',
  }
  const child = spawn(process.execPath, ['src/main.ts'], { env, stdio: ['ignore', 'pipe', 'inherit'] })
  const windows: string[] = []
  for await (const line of createInterface({ input: child.stdout })) {
    const url = /^\s+(http:\S+)\s+(Kim|Dana)/.exec(line)?.[1]
    if (url) windows.push(url)
    if (line.startsWith('Ctrl-C')) break
  }
  return { child, windows }
}

/** One window of the Playground, used as a person would. */
class Window {
  readonly page: Page
  readonly #name: string
  #shots = 0

  constructor(page: Page, name: string) {
    this.page = page
    this.#name = name
  }

  async type(text: string): Promise<void> {
    await this.page.locator('[contenteditable]').first().click()
    await this.page.keyboard.type(text)
    await this.page.getByRole('button', { name: 'Send Message' }).click()
  }

  /** Opens a list of the form, searches if a search is given, and takes one entry. */
  async picks(form: Locator, list: string, entry: string, search = ''): Promise<void> {
    const box = form.getByRole('combobox', { name: list })
    await box.click()
    if (search) await box.pressSequentially(search)
    await this.page.getByRole('option', { name: entry }).click()
    await this.page.keyboard.press('Escape')
  }

  /** The newest card that shows this text. */
  card(text: string | RegExp): Locator {
    return this.page.locator('.ac-adaptiveCard').filter({ hasText: text }).last()
  }

  /** Waits for a card, keeps a picture of the window, and gives the card. */
  async sees(text: string | RegExp, picture: string): Promise<Locator> {
    const card = this.card(text)
    await card.waitFor({ timeout: patience })
    await card.scrollIntoViewIfNeeded()
    this.#shots += 1
    await this.page.screenshot({ path: join(screenshots, `${this.#name}-${this.#shots}-${picture}.png`) })
    return card
  }
}

const conversation = (): void => {
  let browser: Browser
  let local: Awaited<ReturnType<typeof startLocalMode>>
  let kim: Window
  let dana: Window

  const open = async (url: string | undefined, name: string): Promise<Window> => {
    const page = await browser.newPage({ viewport: { width: 900, height: 1000 } })
    await page.goto(url ?? '')
    // The log panel of the Playground takes a third of the window.
    await page.getByText('Log Panel').locator('..').getByRole('button').last().click()
    return new Window(page, name)
  }

  beforeAll(async () => {
    mkdirSync(screenshots, { recursive: true })
    ;[local, browser] = await Promise.all([
      startLocalMode(),
      chromium.launch({ executablePath: executablePath ?? '', args }),
    ])
    kim = await open(local.windows[0], 'kim')
    dana = await open(local.windows[1], 'dana')
  }, patience)

  afterAll(async () => {
    await browser?.close()
    local?.child.kill('SIGTERM')
    await new Promise((resolve) =>
      local.child.exitCode === null ? local.child.once('exit', resolve) : resolve(undefined),
    )
  })

  it('greets a person who opens the chat', async () => {
    const help = await kim.sees('what do you need?', 'help')
    expect(await help.innerText()).toContain('New site')
  })

  it(
    'takes a site from a form to a card with its link, over an approval in the second window',
    async () => {
      // A row that types a command: the Playground gets it as data, since it cannot type.
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
      await form.getByRole('button', { name: 'Review' }).click()

      const returned = await kim.sees('One thing to fix', 'form-returned')
      expect(await returned.getByLabel('Description').inputValue()).toBe('Plans and *drawings*')
      await returned.getByLabel('Cost centre').fill('4711')
      await returned.getByRole('button', { name: 'Review' }).click()

      const review = await kim.sees('Is this right?', 'review')
      await review.getByRole('button', { name: 'Send' }).click()
      await kim.sees('Waiting for approval', 'waiting')

      const approval = await dana.sees('Your decision, please', 'approval')
      await approval.getByRole('button', { name: 'Reject' }).click()
      const missing = await dana.sees('Please say why you reject it', 'comment-missing')
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
    'lists requests, shows one, cancels one and helps with a word that it does not know',
    async () => {
      await kim.type('my requests')
      await kim.sees('My requests', 'my-requests')
      await kim.type('status REQ-1001')
      await kim.sees('Ready', 'status')
      await kim.type('statsu')
      await kim.sees('I did not understand', 'unknown')
      await kim.type('cancel REQ-1001')
      await kim.sees(/Too late to cancel|Already over/, 'too-late')
    },
    patience,
  )
}

// Without a browser one test says so and is skipped, not each of them.
if (executablePath) describe('two people in two chat windows, in a real browser', conversation)
else
  it('browser: left out, since there is no Chromium here (apt-get install chromium)', ({ skip }) =>
    skip('there is no Chromium here'))
