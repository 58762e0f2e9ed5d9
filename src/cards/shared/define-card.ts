import type { z } from 'zod'
import type { CardJson } from './literal.ts'
import { expand, templateFiles } from './render.ts'

/**
 * A card: the name of its template and the schema of what it shows. `render` checks the data and expands the template
 * with it; it throws on data that does not fit, which is a defect and not a fault of anybody's input.
 */
export function defineCard<S extends z.ZodType<Record<string, unknown>>>(card: { name: string; data: S }) {
  const { name, data } = card
  return { name, data, render: (view: z.output<S>): CardJson => expand(name, data.parse(view)) }
}

/** The cards by name. Refuses two of one name, a card without a template and a template without a card. */
export function cardRegistry(...defined: readonly { readonly name: string }[]): ReadonlySet<string> {
  const names = new Set<string>()
  for (const { name } of defined) {
    if (names.has(name)) throw new Error(`two cards are named ${name}`)
    names.add(name)
  }
  for (const name of names) if (!templateFiles.has(name)) throw new Error(`the card ${name} has no template`)
  for (const name of templateFiles.keys())
    if (!names.has(name)) throw new Error(`the template ${name} belongs to no card`)
  return names
}
