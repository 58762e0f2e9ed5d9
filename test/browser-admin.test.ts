import { readFileSync } from 'node:fs'
import { parse } from 'csv-parse/sync'
import { beforeAll, expect, it } from 'vitest'
import { inChatWindows, patience, type Window } from './support/chat-windows.ts'

inChatWindows('what an admin sees and mends, in a real browser', { PLAYGROUND: 'admin' }, (windows) => {
  let kim: Window
  let sam: Window
  beforeAll(async () => {
    kim = await windows.open('kim')
    sam = await windows.open('sam')
  }, patience)

  it(
    'a mailbox that the tenant refuses: in "admin stuck" with its reason, and the button there makes it',
    async () => {
      const fault = { operation: 'exchange.new-mailbox', kind: 'failBeforeCommit', status: 403, count: 1 }
      await windows.control('POST', 'faults', fault)
      await kim.type('new shared mailbox')
      const form = await kim.sees('Step 2 of 3', 'form')
      await form.getByLabel('Shown name').fill('Front desk Zürich')
      await form.getByRole('button', { name: 'Review' }).click()
      const review = await kim.sees('Is this right?', 'review')
      await review.getByRole('button', { name: /Create|Send/ }).click()
      await sam.sees(/Failed[\s\S]*Front desk Zürich/, 'told')

      await sam.type('admin stuck')
      const stuck = await sam.sees('One request needs you', 'stuck')
      await stuck.getByRole('button', { name: 'Retry REQ-1001' }).click()
      const confirm = await sam.sees('Try it again?', 'confirm')
      await confirm.getByRole('button', { name: 'Try again' }).click()
      await kim.sees(/Your (shared )?mailbox is ready/, 'ready')
      await sam.type('admin stuck')
      await sam.sees('Nothing is stuck', 'stuck-nothing')
    },
    2 * patience,
  )

  it(
    'how the service does, in figures and bars, and who did what',
    async () => {
      for (const [typed, seen] of [
        ['admin health', /All is well|Health/],
        ['admin stats week', /Stats|requests/i],
        ['admin queue', /queue|Nothing waits/i],
        ['admin templates', 'Templates'],
        ['admin webhooks', /webhook/i],
        ['admin jobs', /given up|Nothing was given up/i],
        ['admin audit REQ-1001', /as they were written/],
        ['admin audit', /as (they|it) w(ere|as) written/],
        ['admin help', /admin stuck/],
      ] as const) {
        await sam.type(typed)
        await sam.sees(seen, typed.replaceAll(' ', '-'))
      }
    },
    2 * patience,
  )

  it(
    'the requests of a month as a table, by a link that works once it is opened in the browser',
    async () => {
      await sam.type('admin export this month')
      const links = await sam.sees('Your links are ready', 'export-links')
      const [download] = await Promise.all([
        sam.page
          .context()
          .waitForEvent('page')
          .then((page) => page.waitForEvent('download')),
        links.getByText('Requests, CSV').click(),
      ])
      const rows: Record<string, string>[] = parse(readFileSync(await download.path(), 'utf8'), {
        columns: true,
        bom: true,
      })
      expect(rows).toMatchObject([{ reference: 'REQ-1001', status: 'succeeded' }])
    },
    patience,
  )
})
