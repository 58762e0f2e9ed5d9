import { readFileSync } from 'node:fs'
import { parse } from 'csv-parse/sync'
import { beforeAll, expect, it } from 'vitest'
import { inChatWindows, patience, screenshots, type Window } from '../support/chat-windows.ts'

inChatWindows('what an admin sees and fixes, in a real browser', { PLAYGROUND: 'admin' }, (windows) => {
  let kim: Window
  let sam: Window
  beforeAll(async () => {
    kim = await windows.open('kim')
    sam = await windows.open('sam')
  }, patience)

  it(
    'shows a refused mailbox in "admin stuck" with the reason, and its button creates the mailbox',
    async () => {
      const fault = { operation: 'exchange.set-place', kind: 'failBeforeCommit', status: 405, count: 1 }
      await windows.control('POST', 'faults', fault)
      await kim.type('new room')
      const form = await kim.sees('Seats', 'room-form')
      await form.getByLabel('Room name').fill('Eiger')
      await form.getByLabel('Address (before the @)').fill('zrh-eiger')
      await form.getByLabel('Seats').fill('4')
      await form.getByRole('button', { name: 'Review' }).click()
      const review = await kim.sees('room-zrh-eiger@contoso.example', 'room-review')
      await review.getByRole('button', { name: 'Create' }).click()
      await sam.sees(/Failed[\s\S]*Eiger/, 'told')

      await sam.type('admin stuck')
      const stuck = await sam.sees('One request is stuck', 'stuck')
      await stuck.getByRole('button', { name: 'Retry REQ-1001' }).click()
      const confirm = await sam.sees('Retry this request?', 'confirm')
      await confirm.getByRole('button', { name: 'Retry' }).click()
      await kim.sees('Your room is ready', 'ready')
      await sam.type('admin stuck')
      await sam.sees('Nothing is stuck', 'stuck-nothing')
    },
    2 * patience,
  )

  it(
    'shows the health of the service in figures and bars, and the audit',
    async () => {
      await sam.type('admin health')
      const health = await sam.sees(/parts are healthy: Database[\s\S]*Microsoft Graph/, 'admin-health')
      const graph = health.getByText(/^Microsoft Graph: Answers in [\d,]+ ms/)
      expect(await graph.isVisible()).toBe(false)
      await health.getByRole('button', { name: 'Details' }).click()
      await graph.waitFor({ state: 'visible' })
      for (const [typed, shown] of [
        ['admin stats week', /Failures by reason[\s\S]*Microsoft 365 refused this step/],
        ['admin queue', 'No request is open.'],
        ['admin templates', /Partner site[\s\S]*2 approvals/],
        ['admin webhooks', 'My own receiver'],
        ['admin jobs', 'No job waits for an admin.'],
        ['admin audit REQ-1001', /All \d+ entries are unchanged/],
        ['admin audit', 'No entries yet'],
        ['admin help', /admin reassign/],
      ] as const) {
        await sam.type(typed)
        await sam.sees(shown, typed.replaceAll(' ', '-'))
      }
    },
    2 * patience,
  )

  it(
    'returns the requests of a month as a table, by a link whose page downloads it once, at a click',
    async () => {
      await sam.type('admin export this month')
      const links = await sam.sees('Your links are ready', 'export-links')
      const [page] = await Promise.all([sam.page.waitForEvent('popup'), links.getByText('Requests, CSV').click()])
      const button = page.getByRole('button', { name: 'Download' })
      await button.waitFor()
      for (const [name, width, colorScheme] of [
        ['light', 900, 'light'],
        ['narrow-dark', 320, 'dark'],
      ] as const) {
        await page.setViewportSize({ width, height: 640 })
        await page.emulateMedia({ colorScheme })
        await page.screenshot({ path: `${screenshots}/export-page-${name}.png` })
        const overflow = await page.evaluate('document.documentElement.scrollWidth - innerWidth')
        expect(overflow).toBeLessThanOrEqual(0)
      }
      const [download] = await Promise.all([page.waitForEvent('download'), button.click()])
      const rows: Record<string, string>[] = parse(readFileSync(await download.path(), 'utf8'), {
        columns: true,
        bom: true,
      })
      expect(rows).toMatchObject([{ reference: 'REQ-1001', status: 'succeeded' }])
      await button.click()
      await page.getByText('This link was already used. It works only once.').waitFor()
    },
    patience,
  )

  it(
    'lets an admin find a failed request, read the reason, and retry it until it is ready',
    async () => {
      await windows.control('POST', 'faults', {
        operation: 'exchange.set-place',
        kind: 'failBeforeCommit',
        status: 403,
        count: 3,
      })
      await kim.type('new room')
      const form = await kim.sees('Seats', 'second-form')
      await form.getByLabel('Room name').fill('Jungfrau')
      await form.getByLabel('Address (before the @)').fill('zrh-jungfrau')
      await form.getByLabel('Seats').fill('4')
      await form.getByRole('button', { name: 'Review' }).click()
      const review = await kim.sees('room-zrh-jungfrau@contoso.example', 'second-review')
      await review.getByRole('button', { name: 'Create' }).click()
      const failed = await kim.sees(/Failed[\s\S]*Jungfrau/, 'failed')
      expect(await failed.innerText()).toContain('I notified an admin')

      await sam.sees(/Failed[\s\S]*Jungfrau/, 'told-of-failure')
      await sam.type('admin queue')
      const queue = await sam.sees('Needs attention', 'admin-queue')
      await windows.control('DELETE', 'faults')
      await queue.getByRole('button', { name: 'Retry REQ-1002' }).click()
      const confirm = await sam.sees('Retry this request?', 'admin-confirm')
      await confirm.getByRole('button', { name: 'Retry' }).click()

      const ready = await kim.sees(/Your room is ready[\s\S]*Jungfrau/, 'repaired')
      expect(await ready.innerText()).toContain('room-zrh-jungfrau@contoso.example')
      await sam.type('admin health')
      const health = await sam.sees(/Database[\s\S]*Microsoft Graph[\s\S]*Exchange/, 'admin-health')
      expect(await health.innerText()).toMatch(/Everything is healthy|problems?/)
      await sam.type('admin stuck')
      await sam.sees(/Nothing is stuck/i, 'admin-stuck')
    },
    2 * patience,
  )

  it(
    'refuses the commands of admins to other people, and does not list them',
    async () => {
      await kim.type('admin queue')
      const no = await kim.sees('For admins', 'not-admin')
      expect(await no.innerText()).toContain('my requests')
      await kim.type('help')
      const help = await kim.sees('what do you need?', 'help-again')
      expect(await help.innerText()).not.toMatch(/admin/i)
    },
    patience,
  )
})
