import { isNode, type Node } from './card-rules.ts'

/** Every word of ours 35 % longer, as other languages are; commands and the locale stay what they are. */
export function longer(words: Node): Node {
  const entries = Object.entries(words).map(([key, value]) => {
    if (isNode(value)) return [key, key === 'types' ? value : longer(value)]
    if (key === 'types' || key === 'locale' || value === '') return [key, value]
    return [key, longerText(String(value))]
  })
  return Object.fromEntries(entries)
}

/** Sentences get more words, single words more letters; of a plural each form. */
function longerText(text: string): string {
  if (text.startsWith('{count, plural,'))
    return text.replace(
      /(=0|one|other) \{((?:[^{}]|\{\w+\})*)\}/g,
      (_, form, inner) => `${form} {${longerText(inner)}}`,
    )
  const filler = text.includes(' ') ? ' lang en meer'.repeat(20) : 'enlangemeer'
  return `${text}${filler.slice(0, Math.ceil(text.length * 0.35))}`.trimEnd()
}
