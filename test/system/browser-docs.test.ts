import { join } from 'node:path'
import type { Locator, Page } from 'playwright-core'
import { beforeAll, expect, it } from 'vitest'
import { inChatWindows, patience, screenshots } from '../support/chat-windows.ts'

inChatWindows('the page /docs, in a real browser', { PLAYGROUND: 'off' }, (windows) => {
  let page: Page
  const complaints: string[] = []
  const picture = (name: string) => page.screenshot({ path: join(screenshots, `docs-${name}.png`) })
  beforeAll(async () => {
    page = await windows.page()
    page.setDefaultTimeout(15_000)
    page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()))
    page.on('pageerror', (error) => complaints.push(error.message))
    await page.goto('/docs')
    await page.getByRole('button', { name: 'Authorize' }).first().click()
  }, patience)

  /** Presses Authorize for an entry of the dialog, and signs in on the page of Entra ID. */
  async function signsIn(entry: Locator, person: string, answer = 'Sign in') {
    const opened = page.waitForEvent('popup')
    await entry.getByRole('button', { name: 'Apply given OAuth2 credentials' }).click()
    const popup = await opened
    const people = popup.getByLabel('Sign in as')
    const option = await people.locator('option', { hasText: person }).getAttribute('value')
    await people.selectOption(option)
    await popup.screenshot({ path: join(screenshots, 'docs-sign-in.png') })
    const closed = popup.waitForEvent('close')
    await popup.getByRole('button', { name: answer, exact: true }).click()
    await closed
  }

  it(
    'shows the sign-in of a person first, with all fields filled in',
    async () => {
      const entries = page.locator('.auth-container')
      const titles = await entries.locator('h4').allInnerTexts()
      expect(titles.map((title) => title.replace(/\s+/g, ' ').trim())).toEqual([
        'Sites, on behalf of a person (OAuth2, authorizationCode with PKCE)',
        'Mailboxes, on behalf of a person (OAuth2, authorizationCode with PKCE)',
        'token (http, Bearer)',
        'metrics (http, Bearer)',
      ])
      const sites = entries.first()
      const client = sites.getByLabel('client_id')
      expect(await client.inputValue()).toMatch(/^[0-9a-f-]{36}$/)
      await expect.poll(() => client.evaluate((input) => input === input.ownerDocument.activeElement)).toBe(true)
      expect(await sites.locator('input[type=checkbox]').isChecked()).toBe(true)
      await picture('authorize')

      await signsIn(sites, 'Kim Lee', 'Do not sign in')
      await sites.getByText('access_denied').waitFor()
      await signsIn(sites, 'Kim Lee')
      await sites.getByText('Authorized').waitFor()
      await signsIn(entries.nth(1), 'Kim Lee')
      await entries.nth(1).getByText('Authorized').waitFor()
      await picture('authorized')
      await sites.getByRole('button', { name: 'Close' }).click()
    },
    patience,
  )

  /** Opens a call and presses Try it out. */
  async function tries(call: string): Promise<Locator> {
    const operation = page.locator('.opblock').filter({ has: page.locator(`[data-path="${call.split(' ')[1]}"]`) })
    const own = operation.filter({ hasText: call.split(' ')[0] ?? '' })
    await own.locator('.opblock-summary-control').click()
    await own.getByRole('button', { name: 'Try it out' }).click()
    return own
  }

  /** Sends the call. Returns status and body of its answer from the network. */
  async function executes(operation: Locator) {
    const path = await operation.locator('[data-path]').getAttribute('data-path')
    const answered = page.waitForResponse((response) => new URL(response.url()).pathname === path)
    await operation.locator('button.execute').click()
    const response = await answered
    return {
      status: response.status(),
      body: await response.json(),
      headers: response.request().headers(),
      replayed: response.headers()['idempotency-replayed'],
    }
  }

  it(
    'reads the templates with the token of the sign-in',
    async () => {
      const operation = await tries('GET /templates/v1')
      expect(await operation.locator('.opblock-description').innerText()).toMatch(
        /^Returns the active templates .*\n\nNeeds an access token of a person \(delegated\) for the scope api:\/\/.* or api:\/\/.*An application without a person can use a token/,
      )
      const { status, body } = await executes(operation)
      expect([status, body.value.length > 0]).toEqual([200, true])
      await operation.locator('.live-responses-table').waitFor()
      await picture('templates')
    },
    patience,
  )

  it.each([
    ['POST /collab/v1/spo/', { displayName: 'Apollo', templateId: 'c3d1e5f7-0b1a-4a3e-b5d4-7e6f5a4b3c33' }],
    ['POST /mail/v1/mailboxes/', { name: 'lab-7', displayName: 'Laboratory', officeLocation: 'Basel, floor 3' }],
  ])(
    'sends %s twice, each time as a new call',
    async (call, body) => {
      const operation = await tries(call)
      const names = operation.locator('.parameters-container .parameter__name')
      expect((await names.allInnerTexts()).slice(-2)).toEqual(['Idempotency-Key', 'traceparent'])
      const fields = operation.locator('.parameters-container input')
      for (const field of await fields.all()) expect(await field.inputValue()).toBe('')
      const sends = async (more: object) => {
        await operation.locator('textarea').fill(JSON.stringify({ ...body, ...more }))
        return executes(operation)
      }
      const first = await sends({})
      expect([first.status, first.body.code]).toEqual([202, undefined])
      expect(first.headers).not.toHaveProperty('idempotency-key')
      const second = await sends({ ...('name' in body && { name: 'lab-8' }), displayName: `${body.displayName} two` })
      expect([second.status, second.replayed]).toEqual([202, undefined])
      expect(second.body.requestId).not.toBe(first.body.requestId)
      await operation.locator('.live-responses-table').scrollIntoViewIfNeeded()
      await picture(call.includes('spo') ? 'site' : 'mailbox')
    },
    patience,
  )

  it('loads and calls nothing that the browser blocks', () => {
    expect(complaints).toEqual([])
  })
})
