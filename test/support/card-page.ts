import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { CardJson } from '../../src/cards/index.ts'
import { isNode, type Node } from './card-rules.ts'
import { themes } from './teams-themes.ts'

const renderer = readFileSync(createRequire(import.meta.url).resolve('adaptivecards/dist/adaptivecards.min.js'), 'utf8')

/**
 * A page that draws cards like a chat. `draw(card)` returns the result: `tags`, the elements with their counts; `runs`,
 * the texts in each block of plain text; `read`, all other readable texts. Its markdown processor is greedier than that
 * of any client: it links everything that resembles an address and allows HTML.
 */
export const cardPage = `<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,"><script>${renderer}</script><script>
const greedy = (text) => text
  .replace(/!\\[([^\\]]*)\\]\\(<?([^)>\\s]*)[^)]*\\)/g, '<img alt="$1" src="$2">')
  .replace(/(?<!!)\\[([^\\]]*)\\]\\(<?([^)>\\s]*)[^)]*\\)/g, '<a href="$2">$1</a>')
  .replace(/(\\*\\*|__)(.+?)\\1/g, '<strong>$2</strong>')
  .replace(/(?<!["'>=:\\/\\w])((https?:)?\\/\\/[^\\s<>"]+|www\\.[^\\s<>"]+|[\\w.]+@[\\w.]+\\.\\w+)/g, '<a href="$1">$1</a>')
AdaptiveCards.AdaptiveCard.onProcessMarkdown = (text, result) => {
  result.outputHtml = greedy(text)
  result.didProcess = true
}
const blocksOf = (element) => {
  if (element instanceof AdaptiveCards.RichTextBlock) return [element]
  return Array.from({ length: element.getItemCount?.() ?? 0 }, (_, index) => blocksOf(element.getItemAt(index))).flat()
}
const labelOf = ({ _renderedLabelElement: label }) => (label ? [textOf(label).replace(/ \\*$/, '')] : [])
const textOf = (element) => {
  const copy = element.cloneNode(true)
  for (const line of copy.querySelectorAll('br')) line.replaceWith('\\n')
  return copy.textContent
}
window.alerts = []
window.alert = (text) => window.alerts.push(text)
window.draw = (json) => {
  const card = new AdaptiveCards.AdaptiveCard()
  card.hostConfig = new AdaptiveCards.HostConfig(${JSON.stringify(themes.light)})
  card.parse(json, new AdaptiveCards.SerializationContext())
  const drawn = card.render()
  const tags = {}
  for (const { tagName } of drawn.querySelectorAll('*')) if (tagName !== 'BR') tags[tagName] = (tags[tagName] ?? 0) + 1
  const all = (selector, read) => [...drawn.querySelectorAll(selector)].map(read)
  return {
    tags,
    links: all('[href], [src], [srcdoc], [onerror], [onload], [style*="url("]', (element) => element.outerHTML),
    runs: blocksOf(card).map(({ renderedElement }) => textOf(renderedElement)),
    read: [
      ...all('input, textarea', ({ value }) => value),
      ...all('input, textarea', ({ placeholder }) => placeholder ?? ''),
      ...all('option, button, label', textOf),
      ...card.getAllInputs().flatMap(labelOf),
      ...all('[title]', ({ title }) => title),
    ],
  }
}
</script>`

/** The result of a card on {@link cardPage}. */
export interface Drawn {
  readonly tags: Readonly<Record<string, number>>
  readonly links: readonly string[]
  readonly runs: readonly string[]
  readonly read: readonly string[]
}

/** Returns the texts of the card itself that must be readable. */
export function written(card: CardJson): Pick<Drawn, 'runs' | 'read'> {
  const runs: string[] = []
  const read: string[] = []
  const walk = (node: Node): void => {
    const { type, inlines, fallback: _, data: __, ...rest } = node
    if (type === 'RichTextBlock' && Array.isArray(inlines)) runs.push(inlines.map((run: Node) => run['text']).join(''))
    const input = String(type).startsWith('Input.')
    for (const member of [rest['title'], input && rest['label'], input && rest['placeholder']])
      if (typeof member === 'string' && member !== '') read.push(member)
    if (type === 'Input.Text') read.push(String(rest['value'] ?? ''))
    for (const member of Object.values(rest)) for (const one of [member].flat()) if (isNode(one)) walk(one)
  }
  walk(card)
  return { runs, read }
}

/** Replaces people pickers, which clients draw with names; the renderer would draw check boxes. */
export const withNamesForPickers = (card: CardJson): CardJson =>
  JSON.parse(JSON.stringify(card), (_, value: unknown) => {
    if (!isNode(value) || !('choices.data' in value) || !Array.isArray(value['choices'])) return value
    const { choices, 'choices.data': __, isMultiSelect: ___, style: ____, ...rest } = value
    return { ...rest, type: 'Input.Text', value: choices.map(({ title }: Node) => title).join(', ') }
  })
