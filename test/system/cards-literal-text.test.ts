import { existsSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { isDeepStrictEqual } from 'node:util'
import { type Browser, chromium, type Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type CardJson, definedCards } from '../../src/cards/index.ts'
import { cardPage, type Drawn, withNamesForPickers, written } from '../support/card-page.ts'
import { isNode } from '../support/card-rules.ts'
import { samples } from '../support/card-samples.ts'
import { coveringFillings, type Filling, fillings, neverShown, shownFields, withText } from '../support/hostile-data.ts'
import { type HostileText, hostileTexts } from '../support/hostile-texts.ts'

const executablePath = '/usr/bin/chromium'
const patience = 400_000

/** A harmless text, with a comma and a space, so that it is not an address either. */
const friendly = 'Plain, friendly words'
/** Removes line breaks as one-line inputs do, and combines spaces as choices do. */
const oneLine = (text: string): string => text.replaceAll(/[\r\n]/g, '')
const formsOf = (text: string): string[] => [text, oneLine(text), text.replace(/\s+/g, ' ').trim()]
/** Most cards shorten longer texts. */
const longest = 60

const listen = (server: Server): Promise<number> =>
  new Promise((resolve) =>
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      resolve(isNode(address) ? Number(address['port']) : 0)
    }),
  )

/** Cards without text of people: one line with a reference. */
const withoutPeople = new Set(['moved'])

/** Our own texts about a fault, with or without a place for `{detail}` or `{suggestion}`; the address of sites. */
const notShown = /faults?\.(\w+\.)?(detail|suggestion)$|-ready checks\[\]\.detail$/

it('every field with text of people appears on a sample of its card', () => {
  expect(neverShown(fillings(samples)).filter((field) => !notShown.test(field))).toEqual([])
})

// Without Chromium one test reports this and is skipped, instead of each one.
const hasChromium = existsSync(executablePath)
if (!hasChromium)
  it('text of people in a browser: skipped, because Chromium is missing', ({ skip }) =>
    skip('there is no Chromium here (apt-get install chromium)'))

describe.runIf(hasChromium)('text of people, drawn by the Adaptive Cards renderer in a browser', () => {
  let browser: Browser
  let page: Page
  let listener: Server
  const visits: string[] = []
  const requests: string[] = []
  const errors: string[] = []

  beforeAll(async () => {
    listener = createServer((request, response) => {
      if (request.url !== '/') visits.push(request.url ?? '')
      response.setHeader('content-type', 'text/html').end(request.url === '/' ? cardPage : '')
    })
    listener.on('clientError', (_, socket) => {
      visits.push('not http')
      socket.destroy()
    })
    const port = await listen(listener)
    browser = await chromium.launch({
      executablePath,
      timeout: patience,
      args: [
        ...['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking'],
        ...['--disable-component-update', '--disable-sync', `--host-resolver-rules=MAP evil.example 127.0.0.1:${port}`],
      ],
    })
    page = await browser.newPage()
    page.setDefaultTimeout(patience)
    page.on('request', (request) => requests.push(request.url()))
    page.on('pageerror', (error) => errors.push(error.message))
    page.on('console', (message) => errors.push(message.text()))
    await page.goto(`http://127.0.0.1:${port}/`, { timeout: patience })
    requests.length = 0
  }, patience)
  afterAll(async () => {
    await browser?.close()
    listener?.closeAllConnections()
    listener?.close()
  })

  /** Checks that the page requested nothing, ran no script and reported no error. */
  const quiet = async () =>
    expect({ requests, errors, visits, alerts: await page.evaluate('alerts') }).toEqual({
      ...{ requests: [], errors: [], visits: [], alerts: [] },
    })
  const draw = (cards: readonly CardJson[]): Promise<Drawn[]> =>
    page.evaluate(`JSON.parse(${JSON.stringify(JSON.stringify(cards))}).map(draw)`)

  /** Returns the faults of a drawn card as sentences. */
  const faultsOf = (card: CardJson, { tags, links, runs, read }: Drawn, plain: Drawn, shown: string): string[] => {
    const must = written(card)
    const found = new Set(read.flatMap(formsOf))
    const missing = must.read.filter((one) => formsOf(one).every((form) => !found.has(form)))
    const readable = [...runs, ...read].some((one) => one.includes(shown) || oneLine(one).includes(oneLine(shown)))
    return [
      ...(isDeepStrictEqual(tags, plain.tags) ? [] : [`elements ${JSON.stringify(tags)}`]),
      ...links,
      ...(isDeepStrictEqual(runs, must.runs) ? [] : [`not as written: ${JSON.stringify(runs)}`]),
      ...missing.map((one) => `cannot be read: ${one}`),
      ...(readable || shown.length > longest ? [] : ['stands nowhere']),
    ]
  }
  const drawnWith = async (filling: Filling, texts: readonly HostileText[]): Promise<string[]> => {
    const render = (text: string) => withNamesForPickers(filling.sample.render(withText(filling, () => text)))
    const cards = texts.map(({ text }) => render(text))
    const [plain, ...drawn] = await draw([render(friendly), ...cards])
    if (!plain) throw new Error(`${filling.sample.name} was not drawn`)
    return texts.flatMap(({ what, shown }, index) => {
      const [card, one] = [cards[index], drawn[index]]
      const faults = card && one ? faultsOf(card, one, plain, shown) : ['not drawn']
      return faults.map((fault) => `${filling.sample.name}: ${what} ${JSON.stringify(shown)}: ${fault}`)
    })
  }

  it(
    'is readable unchanged, in every field of every card, and has no other effect',
    async () => {
      expect(hostileTexts.length).toBeGreaterThanOrEqual(60)
      const all = fillings(samples)
      const enough = coveringFillings(all)
      const faults: string[] = []
      for (const [place, filling] of all.entries()) {
        // Fillings whose fields also appear on another one of the same card use every fortieth text.
        const texts = hostileTexts.filter((_, index) => enough.includes(filling) || index % 40 === place % 40)
        if (shownFields(filling).size > 0) faults.push(...(await drawnWith(filling, texts)))
      }
      expect(faults).toEqual([])
      const names = definedCards.map(({ name }) => name).filter((name) => !withoutPeople.has(name))
      expect(new Set(enough.map(({ sample }) => sample.card))).toEqual(new Set(names))
      await quiet()
    },
    patience,
  )

  it(
    'is detected when the renderer interprets it',
    async () => {
      const blocks = hostileTexts.map(({ text }) => ({ type: 'TextBlock', text, wrap: true }))
      const [drawn] = await draw([{ type: 'AdaptiveCard', version: '1.5', body: blocks }])
      expect(drawn?.tags).toMatchObject({
        A: expect.any(Number),
        IMG: expect.any(Number),
        STRONG: expect.any(Number),
      })
      expect(drawn?.links.length).toBeGreaterThan(10)
      await expect.poll(() => [requests.length > 0, visits.length > 0], { timeout: patience }).toEqual([true, true])
    },
    patience,
  )
})
