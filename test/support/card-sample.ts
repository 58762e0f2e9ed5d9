import type { CardJson } from '../../src/cards/index.ts'

/** One card as people meet it: which template, in which situation, with which data; `name` is the name of its files. */
export interface Sample {
  readonly name: string
  readonly card: string
  readonly data: Readonly<Record<string, unknown>>
  render(data: unknown): CardJson
}

export function sample<D extends Record<string, unknown>>(
  variant: string,
  card: { name: string; data: { parse(data: unknown): D }; render(data: D): CardJson },
  data: D,
): Sample {
  const name = variant ? `${card.name}.${variant}` : card.name
  return { name, card: card.name, data, render: (given) => card.render(card.data.parse(given)) }
}
