import { action, textOf } from './cards.ts'
import type { Card } from './connector.ts'

/** Returns the text of a part on a health card, its colour first. */
export function partOn(card: Card, name: string): { state: string; says: string } {
  const lines = textOf(card).split('\n')
  const start = lines.findIndex((line) => line.startsWith(`${name} · `))
  const healthy = lines.find((line) => line.startsWith(`${name}: `))
  if (start < 0 && healthy !== undefined) return { state: 'Green', says: healthy.slice(name.length + 2) }
  if (start < 0) throw new Error(`the card does not mention ${name}:\n${lines.join('\n')}`)
  const next = lines.findIndex((line, place) => place > start && /^[\w -]+ · (Green|Amber|Red)$|^[✓✕!]$/.test(line))
  const says = lines.slice(start + 1, next < 0 ? undefined : next).join('\n')
  return { state: lines[start]?.split(' · ')[1] ?? '', says }
}

/** Returns the text that a button with this title types, in Teams or in a playground. */
export function typedBy(card: Card, title: string): string {
  const { msteams, types } = action(card, title).data as { msteams?: { value?: string }; types?: string }
  const typed = msteams?.value ?? types
  if (typed === undefined) throw new Error(`"${title}" types nothing`)
  return typed
}
