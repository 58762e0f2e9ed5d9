import { isNode, type Node } from './card-rules.ts'

/** Returns our texts 35 % longer, like other languages; commands and the locale are unchanged. */
export function longer(texts: Node): Node {
  const entries = Object.entries(texts).map(([key, value]) => {
    if (isNode(value)) return [key, key === 'types' ? value : longer(value)]
    if (key === 'types' || key === 'locale' || value === '') return [key, value]
    return [key, longerText(String(value))]
  })
  return Object.fromEntries(entries)
}

/** Adds text to a sentence, and letters to a single term; in a plural to each form. */
function longerText(text: string): string {
  if (text.startsWith('{count, plural,'))
    return text.replace(
      /(=0|one|other) \{((?:[^{}]|\{\w+\})*)\}/g,
      (_, form, inner) => `${form} {${longerText(inner)}}`,
    )
  const filler = text.includes(' ') ? ' lang en meer'.repeat(20) : 'enlangemeer'
  return `${text}${filler.slice(0, Math.ceil(text.length * 0.35))}`.trimEnd()
}
