import type { CardJson } from '../../src/cards/index.ts'
import { inLanguage } from '../../src/cards/shared/messages.ts'

/** One card in one situation: its template and data; `name` is the name of its files. */
export interface Sample {
  readonly name: string
  readonly card: string
  /** The data as JSON, as in the sample's file. */
  readonly json: unknown
  /** Returns the card of other data, in English. */
  render(data: unknown): CardJson
  /** Returns the card of the sample's own data. A worker expands it once for all tests; do not change the card. */
  rendered(): CardJson
  /** Returns the card as a reader of another language gets it. `tag`: a locale, such as `de-CH`. */
  renderedIn(tag: string): CardJson
}

/** The locale of the readers of sample cards. */
const english = 'en-GB'

/** Defines a sample. `view` returns the data in the language of the card that is being rendered. */
export function sample<D extends Record<string, unknown>>(
  variant: string,
  card: { name: string; data: { parse(data: unknown): D }; render(data: D): CardJson },
  view: () => D,
): Sample {
  const name = variant ? `${card.name}.${variant}` : card.name
  const render = (data: unknown) => card.render(card.data.parse(data))
  const once = <T>(get: () => T): (() => T) => {
    let known: { readonly value: T } | undefined
    return () => {
      known ??= { value: inLanguage(english, get) }
      return known.value
    }
  }
  const json = once((): unknown => JSON.parse(JSON.stringify(view())))
  return {
    name,
    card: card.name,
    get json() {
      return json()
    },
    render: (data) => inLanguage(english, () => render(data)),
    rendered: once(() => render(json())),
    renderedIn: (tag) => inLanguage(tag, () => render(view())),
  }
}
