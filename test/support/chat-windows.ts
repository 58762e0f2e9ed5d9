import { type ChildProcess, spawn } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { type Browser, chromium, type Locator, type Page } from 'playwright-core'
import { afterAll, beforeAll, describe, inject, it } from 'vitest'
import { z } from 'zod'
import { bareEnvironment } from './bare-environment.ts'
import { emptyStore } from './database.ts'
import { scopes } from './teams-user.ts'

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
export const screenshots = 'test/screenshots'
/** Maximum time until a card arrives, in milliseconds. */
export const patience = 60_000

interface LocalMode {
  readonly dataDir: string
  readonly child: ChildProcess
  /** Addresses of the windows by first names. */
  readonly windows: ReadonlyMap<string, string>
  readonly simulatorUrl: string
  readonly url: string
}

/** Runs local mode like `npm start`, in its own process, and reads the addresses that it prints. */
async function startLocalMode(variables: Record<string, string>, earlier?: LocalMode): Promise<LocalMode> {
  const dataDir = earlier?.dataDir ?? mkdtempSync(join(inject('runFolder'), 'browser-'))
  if (!earlier) cpSync(await emptyStore(), join(dataDir, 'postgres'), { recursive: true })
  // Does not pass the environment of the tests: vitest sets MODE and BASE_URL for its own purposes.
  const env = {
    ...bareEnvironment,
    PORT: '0',
    SIMULATOR_PORT: '0',
    DATA_DIR: dataDir,
    SIMULATOR_DIRECTORY_SECONDS: '1',
    ...variables,
  }
  const child = spawn(process.execPath, ['src/main.ts'], { env, stdio: ['ignore', 'pipe', 'inherit'] })
  const windows = new Map<string, string>()
  let simulatorUrl = ''
  let serviceUrl = ''
  for await (const line of createInterface({ input: child.stdout })) {
    const [, url = '', name = ''] = /^\s+(http:\S+)\s+(\w+)/.exec(line) ?? []
    if (name !== '') windows.set(name.toLowerCase(), url)
    simulatorUrl = /Simulated Microsoft 365: (\S+)/.exec(line)?.[1] ?? simulatorUrl
    serviceUrl = /answers at (\S+)/.exec(line)?.[1] ?? serviceUrl
    if (line.startsWith('Ctrl-C')) break
  }
  return { dataDir, child, windows, simulatorUrl, url: serviceUrl }
}

/** Stops local mode like Ctrl-C, and waits until its process has ended. */
async function stopLocalMode({ child }: LocalMode): Promise<void> {
  child.kill('SIGTERM')
  if (child.exitCode === null) await new Promise((resolve) => child.once('exit', resolve))
}

const tokenAnswer = z.object({ access_token: z.string() })

/** Sends a call, and returns the body of the answer. Throws for an answer without success. */
async function callJson(url: string, method: string, headers: Record<string, string>, body?: object): Promise<unknown> {
  const json = body && { body: JSON.stringify(body) }
  const typed = body && { 'content-type': 'application/json' }
  const response = await fetch(url, { method, headers: { ...headers, ...typed }, ...json })
  if (!response.ok) throw new Error(`${method} ${url}: ${response.status} ${await response.text()}`)
  return response.status === 204 ? undefined : response.json()
}

/** One window of the Playground, used like a person does. */
export class Window {
  readonly page: Page
  readonly #name: string
  #shots = 0

  constructor(page: Page, name: string) {
    this.page = page
    this.#name = name
  }

  async type(text: string): Promise<void> {
    const box = this.page.locator('[contenteditable]').first()
    await box.click()
    await this.page.keyboard.type(text)
    // Without these two waits, a command that the window lost would seem like a bot that does not answer.
    await box.filter({ hasText: text }).waitFor({ timeout: 5000 })
    await this.page.getByRole('button', { name: 'Send Message' }).click()
    await box.filter({ hasNotText: text }).waitFor({ timeout: 5000 })
  }

  /** Opens a list of the form (number `place` with that name), searches if a search is set, and selects one entry. */
  async picks(form: Locator, list: string, entry: string, search = '', place = 0): Promise<void> {
    const box = form.getByRole('combobox', { name: list }).nth(place)
    await box.click()
    if (search) await box.pressSequentially(search)
    await this.page.getByRole('option', { name: entry }).click()
    await this.page.keyboard.press('Escape')
  }

  /** Returns the newest card that shows this text. */
  card(text: string | RegExp): Locator {
    return this.page.locator('.ac-adaptiveCard').filter({ hasText: text }).last()
  }

  /** Waits for a card, stores a picture of the window, and returns the card. */
  async sees(text: string | RegExp, picture: string): Promise<Locator> {
    const card = this.card(text)
    await card.waitFor({ timeout: patience }).catch((error: unknown) => this.#missing(picture, error))
    await card.scrollIntoViewIfNeeded()
    this.#shots += 1
    await this.page.screenshot({ path: join(screenshots, `${this.#name}-${this.#shots}-${picture}.png`) })
    return card
  }

  /** Stores a picture and the text of the window with the error, so that a failure in CI can be analysed. */
  async #missing(picture: string, cause: unknown): Promise<never> {
    await this.page.screenshot({ path: join(screenshots, `${this.#name}-missing-${picture}.png`) })
    const text = await this.page.locator('body').innerText()
    throw new Error(`${this.#name}'s window does not show the card "${picture}". It shows:\n${text.slice(-2000)}`, {
      cause,
    })
  }
}

/** Closes the log panel of the Playground, which covers a third of the window and the button that sends. */
async function closeLogPanel(page: Page): Promise<void> {
  const title = page.getByText('Log Panel')
  for (let attempt = 1; attempt <= 10; attempt += 1) {
    const close = title.locator('..').getByRole('button').last()
    await close.click({ timeout: 2000 }).catch(() => undefined)
    const isClosed = await title.waitFor({ state: 'hidden', timeout: 2000 }).then(
      () => true,
      () => false,
    )
    if (isClosed) return
  }
  throw new Error('The log panel of the Playground does not close.')
}

export interface ChatWindows {
  open(name: string): Promise<Window>
  /** Stops local mode and starts it again with the same data. Its addresses change, so open windows are useless. */
  restart(): Promise<void>
  /** Opens a page of the browser, whose addresses begin at the service. */
  page(): Promise<Page>
  /** Calls the control API of the simulated tenant, and returns the answer's body. */
  control(method: string, path: string, body?: object): Promise<unknown>
  /** Calls the REST API as a person of Contoso, by first name, and returns the answer's body. */
  rest(name: string, method: string, path: string, body?: object): Promise<unknown>
}

/**
 * Starts local mode and a browser for the tests of a block. Without Chromium one test reports this and is skipped,
 * instead of each one.
 */
export function inChatWindows(
  title: string,
  variables: Record<string, string>,
  conversation: (windows: ChatWindows) => void,
): void {
  if (!executablePath) {
    it(`${title}: left out, because there is no Chromium here (apt-get install chromium)`, ({ skip }) =>
      skip('there is no Chromium here'))
    return
  }
  describe(title, () => {
    let browser: Browser
    let local: LocalMode
    beforeAll(async () => {
      mkdirSync(screenshots, { recursive: true })
      ;[local, browser] = await Promise.all([startLocalMode(variables), chromium.launch({ executablePath, args })])
    }, patience)
    afterAll(async () => {
      await browser?.close()
      if (local) await stopLocalMode(local)
    })
    conversation({
      async open(name) {
        const page = await browser.newPage({ viewport: { width: 900, height: 1000 }, reducedMotion: 'reduce' })
        // The window only shows messages that arrive after it has opened its stream.
        const stream = page.waitForEvent('websocket', (socket) => socket.url().includes('/conversations/stream'))
        await page.goto(local.windows.get(name) ?? '')
        await stream
        // A person who opens a window receives a welcome. Before that the window still loads, and may open closed parts
        // again.
        await page.locator('.ac-adaptiveCard').first().waitFor({ timeout: patience })
        await closeLogPanel(page)
        return new Window(page, name)
      },
      async restart() {
        await stopLocalMode(local)
        local = await startLocalMode(variables, local)
      },
      page: () =>
        browser.newPage({ baseURL: local.url, viewport: { width: 1000, height: 1100 }, reducedMotion: 'reduce' }),
      control: (method, path, body) => callJson(`${local.simulatorUrl}/control/${path}`, method, {}, body),
      async rest(name, method, path, body) {
        const person = { userPrincipalName: `${name}@contoso.example`, scope: scopes.collab }
        const token = await callJson(`${local.simulatorUrl}/control/token`, 'POST', {}, person)
        const { access_token } = tokenAnswer.parse(token)
        return callJson(`${local.url}${path}`, method, { authorization: `Bearer ${access_token}` }, body)
      },
    })
  })
}
