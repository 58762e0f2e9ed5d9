import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'
import { z } from 'zod'
import type { Sample } from './card-sample.ts'
import { controlStyles } from './teams-themes.ts'

const require = createRequire(import.meta.url)
const script = (path: string): string => readFileSync(require.resolve(path), 'utf8')

/** Draws cards like a phone, 320 px wide, and audits them. */
const auditing = `
const styled = ${JSON.stringify(`<style>:host { display: block; width: 320px } ${controlStyles}</style>`)}
const fullText = (element) => element.textContent.replaceAll(/\\s+/g, ' ').trim()
const hasWords = (text) => /[\\p{L}\\p{N}]/u.test(text)
const controls = 'button, input, textarea, select, [role=button], [role=link], a[href]'

/** Each card has a shadow root of its own, so the ids of one card do not meet those of another. */
window.drawAll = (cards, config) => {
  const { backgroundColor, foregroundColors } = config.containerStyles.default
  Object.assign(document.body.style, { background: backgroundColor, color: foregroundColors.default.default })
  document.body.style.setProperty('--attention', foregroundColors.attention.default)
  document.querySelector('main').replaceChildren(...cards.map(({ name, card }) => {
    const drawn = new AdaptiveCards.AdaptiveCard()
    drawn.hostConfig = new AdaptiveCards.HostConfig(config)
    drawn.parse(card, new AdaptiveCards.SerializationContext())
    const host = document.createElement('section')
    Object.assign(host, { name, drawn })
    const root = host.attachShadow({ mode: 'open' })
    root.innerHTML = styled
    root.append(drawn.render())
    return host
  }))
}

/** The visible text of an element, block by block, without marks. */
const wordsOf = (text) => text.toLowerCase().match(/[\\p{L}\\p{N}]+/gu) ?? []
const blocks = '.ac-textBlock, .ac-richTextBlock'
const visibleWords = (control) => {
  const inside = [...control.querySelectorAll(blocks)]
  return wordsOf((inside.length > 0 ? inside : [control]).map(fullText).join(' '))
}
const contains = (words, part) => part.length === 0 || (' ' + words.join(' ') + ' ').includes(' ' + part.join(' ') + ' ')

/** The faults that axe does not know: names of controls, the order of reading, and width. */
const faultsOf = ({ drawn, shadowRoot }) => {
  const faults = []
  const add = (rule, element, is) => faults.push({ rule, html: element?.outerHTML ?? '', is })
  for (const input of drawn.getAllInputs()) {
    // In a list of check boxes the first one has the label of the list.
    const control = input.renderedElement.querySelector('input, textarea, select')
    const name = axe.commons.text.accessibleText(control)
    if (!name.startsWith(input.label ?? input.title)) add('input-named-by-label', control, name)
  }
  let last = { top: -Infinity, right: -Infinity }
  for (const control of shadowRoot.querySelectorAll(controls)) {
    const name = axe.commons.text.accessibleText(control)
    const place = control.getBoundingClientRect()
    if (!hasWords(name)) add('control-named', control, name)
    if (!control.matches('select') && !contains(wordsOf(name), visibleWords(control))) add('row-read', control, name)
    if (control.tabIndex !== 0) add('tab-index', control, control.tabIndex)
    if (place.top < last.top && place.left < last.right) add('tab-order', control, name)
    last = place
  }
  const texts = [...shadowRoot.querySelectorAll(blocks)].filter((one) => hasWords(fullText(one)))
  if (texts[0]?.role !== 'heading') add('heading-first', texts[0])
  const root = shadowRoot.querySelector('.ac-adaptiveCard')
  if (!hasWords(root.getAttribute('aria-label') ?? '')) add('card-named', root)
  const { right } = root.getBoundingClientRect()
  for (const text of shadowRoot.querySelectorAll('span, ' + blocks + ', ' + controls))
    if (text.getBoundingClientRect().right > right) add('wider-than-card', text, fullText(text))
  return faults
}

const ownFaults = () => {
  axe.setup(document.querySelector('main'))
  try {
    const drawn = [...document.querySelectorAll('section')]
    return drawn.flatMap((host) => faultsOf(host).map((fault) => ({ card: host.name, ...fault })))
  } finally {
    axe.teardown()
  }
}

window.audit = async (only) => {
  const runOnly = only === 'contrast' ? { runOnly: ['color-contrast'] } : {}
  // Selectors are for people, and axe needs long to find them.
  const result = await axe.run('main', { ...runOnly, resultTypes: ['violations', 'incomplete'], elementRef: true, selectors: false })
  const found = [...result.violations, ...result.incomplete].flatMap(({ id, nodes }) =>
    nodes.map(({ element, failureSummary }) => {
      const is = failureSummary.replaceAll(/\\s+/g, ' ')
      return { card: element.getRootNode().host.name, rule: id, html: element.outerHTML, is }
    }),
  )
  if (only === undefined) found.push(...ownFaults())
  return found.map(({ card, rule, html, is }) => ({ card, rule, html: html.slice(0, 300), is: String(is ?? '') }))
}
window.tested = () => axe.getRules().map(({ ruleId }) => ruleId)
`

const fault = z.object({ card: z.string(), rule: z.string(), html: z.string(), is: z.string() })
/** A part of a drawn card that breaks a rule: one of axe's rules or one of our own. */
export type Fault = z.output<typeof fault>

/** Opens the empty page that draws and audits cards. */
export async function openAudit(page: Page): Promise<void> {
  await page.setViewportSize({ width: 320, height: 900 })
  const scripts = [script('adaptivecards/dist/adaptivecards.min.js'), script('axe-core/axe.min.js'), auditing]
  await page.setContent('<!doctype html><html lang="en"><meta charset="utf-8"><title>Cards</title><main></main></html>')
  for (const content of scripts) await page.addScriptTag({ content })
}

/** Returns a card with every part visible that a button would show. */
const revealed = (card: object): unknown =>
  JSON.parse(JSON.stringify(card), (name, member) => (name === 'isVisible' ? undefined : member))

/** A page with more cards than this takes axe longer for each card. */
const together = 40

/**
 * Draws the cards of the samples in a theme and language, and returns everything that axe and our own checks find. With
 * `contrast` only the contrast of texts is checked, in half of the time: themes differ in colours only.
 */
export async function auditCards(
  page: Page,
  samples: readonly Pick<Sample, 'name' | 'renderedIn'>[],
  theme: object,
  language = 'en-GB',
  only?: 'contrast',
): Promise<Fault[]> {
  const found: Fault[] = []
  for (let from = 0; from < samples.length; from += together) {
    const cards = samples
      .slice(from, from + together)
      .map((one) => ({ name: one.name, card: revealed(one.renderedIn(language)) }))
    await page.evaluate(`drawAll(${JSON.stringify(cards)}, ${JSON.stringify(theme)})`)
    found.push(...z.array(fault).parse(await page.evaluate(`audit(${JSON.stringify(only)})`)))
  }
  return found
}
