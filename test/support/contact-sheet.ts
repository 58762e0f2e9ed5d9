import { readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { chromium, type Page } from 'playwright-core'
import { samples as cardSamples } from './card-samples.ts'
import { controlStyles, highContrast, themes } from './teams-themes.ts'
import { templateSamples } from './template-samples.ts'

/**
 * Draws every sample card with the Adaptive Cards renderer, in Teams' light and dark theme, into one picture, and lists
 * the elements that are wider than their card. `node test/support/contact-sheet.ts <out.png or .webp> [width] [name
 * …]`; with `LANGUAGE=de` the cards are in German; with `TEMPLATES=1` the cards are those of
 * the sample templates: the choice and each form (docs/templates). With `HIGH_CONTRAST=1` the themes are Teams' high
 * contrast, and light without colours.
 */
const samples = process.env['TEMPLATES'] === '1' ? await templateSamples() : cardSamples
const [out, widthGiven = '320', ...names] = process.argv.slice(2)
if (out === undefined) throw new Error('usage: node test/support/contact-sheet.ts <out.png> [width] [name …]')
const drawnThemes = process.env['HIGH_CONTRAST'] === '1' ? { contrast: highContrast, grey: themes.light } : themes
const width = Number(widthGiven)
const language = process.env['LANGUAGE'] ?? 'en-GB'
const shown = samples.filter(({ card, name }) => names.length === 0 || names.includes(card) || names.includes(name))
/** Replaces people pickers, which the renderer does not support, by the names of the selected people, as in Teams. */
const withNames = (card: object): unknown =>
  JSON.parse(JSON.stringify(card), (_, value) =>
    value !== null && typeof value === 'object' && 'choices.data' in value
      ? { ...value, type: 'Input.Text', value: value.choices.map(({ title }: { title: string }) => title).join(', ') }
      : value,
  )
const cards = shown.map(({ name, renderedIn }) => ({ name, card: withNames(renderedIn(language)) }))
const renderer = readFileSync(createRequire(import.meta.url).resolve('adaptivecards/dist/adaptivecards.min.js'), 'utf8')

const page = `<!doctype html><meta charset="utf-8"><style>
  body { margin: 0; padding: 24px; background: #86868b; font: 12px "Segoe UI", "Noto Sans", sans-serif; }
  #sheet { columns: ${Math.max(1, Math.floor(2600 / (2 * width + 40)))}; column-gap: 24px; width: max-content; }
  .pair { break-inside: avoid; margin-bottom: 20px; width: ${2 * width + 12}px; }
  .both { display: flex; gap: 12px; align-items: flex-start; }
  .card { width: ${width}px; border-radius: 6px; overflow: hidden; font-family: "Segoe UI", "Noto Sans", sans-serif; }
  .light, .grey { --attention: #c4314b; background: #fff; color: #242424; } .grey { filter: grayscale(1); }
  .contrast { --attention: #ffff01; background: #000; color: #fff; }
  .dark { --attention: #f1707b; background: #292929; color: #fff; } ${controlStyles}
</style><div id="sheet"></div><script>${renderer}</script>
<script>
  const themes = ${JSON.stringify(drawnThemes)}
  const cards = ${JSON.stringify(cards).replaceAll('<', '\\u003c')}
  window.faults = []
  for (const { name, card } of cards) {
    const pair = document.createElement('div'); pair.className = 'pair'; pair.append(name)
    const both = document.createElement('div'); both.className = 'both'; pair.append(both)
    document.getElementById('sheet').append(pair)
    for (const [theme, config] of Object.entries(themes)) {
      const drawn = new AdaptiveCards.AdaptiveCard()
      drawn.hostConfig = new AdaptiveCards.HostConfig(config)
      drawn.parse(card, new AdaptiveCards.SerializationContext())
      const box = document.createElement('div'); box.className = 'card ' + theme
      box.append(drawn.render()); both.append(box)
      const right = box.getBoundingClientRect().right
      for (const element of box.querySelectorAll('*')) {
        if (element.getBoundingClientRect().right > right + 1) window.faults.push(name + ': ' + element.className)
        if (element.tagName === 'BUTTON' && element.getBoundingClientRect().right > right - ${themes.light.spacing.padding} + 0.1)
          window.faults.push(name + ': button beyond the padding ' + element.textContent)
        if (element.scrollWidth > element.clientWidth + 1 && element.tagName === 'BUTTON')
          window.faults.push(name + ': cut button ' + element.textContent)
      }
    }
  }
</script>`

const browser = await chromium.launch({
  executablePath: '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking'],
})
try {
  const tab = await browser.newPage({ viewport: { width: 2700, height: 1200 } })
  tab.on('pageerror', (error) => console.error(error.message))
  await tab.setContent(page, { timeout: 180_000 })
  await (out.endsWith('.webp')
    ? photographed(tab, out)
    : tab.locator('#sheet').screenshot({ path: out, timeout: 180_000 }))
  const faults = await tab.evaluate('window.faults')
  console.log(Array.isArray(faults) && faults.length > 0 ? [...new Set(faults)].join('\n') : 'nothing is too wide')
} finally {
  await browser.close()
}

/** Returns the sheet as WebP, which is much smaller than PNG, for pictures that are stored. */
async function photographed(tab: Page, path: string): Promise<void> {
  const box = await tab.locator('#sheet').boundingBox()
  if (!box) throw new Error('there is no sheet')
  const browserSide = await tab.context().newCDPSession(tab)
  const clip = { ...box, scale: 0.7 }
  const picture = { format: 'webp', quality: 15, clip, captureBeyondViewport: true } as const
  const { data } = await browserSide.send('Page.captureScreenshot', picture)
  writeFileSync(path, Buffer.from(data, 'base64'))
}
