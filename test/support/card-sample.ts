import type { CardJson } from '../../src/cards/index.ts'

/** One card in one situation: its template and data; `name` is the name of its files. */
export interface Sample {
  readonly name: string
  readonly card: string
  readonly data: Readonly<Record<string, unknown>>
  /** The data as JSON, as in the sample's file. */
  readonly json: unknown
  render(data: unknown): CardJson
  /** Returns the card of the sample's own data. A worker expands it once for all tests; do not change the card. */
  rendered(): CardJson
}

export function sample<D extends Record<string, unknown>>(
  variant: string,
  card: { name: string; data: { parse(data: unknown): D }; render(data: D): CardJson },
  data: D,
): Sample {
  const name = variant ? `${card.name}.${variant}` : card.name
  const json: unknown = JSON.parse(JSON.stringify(data))
  const render = (data: unknown) => card.render(card.data.parse(data))
  let known: CardJson | undefined
  const rendered = () => {
    known ??= render(json)
    return known
  }
  return { name, card: card.name, data, json, render, rendered }
}
