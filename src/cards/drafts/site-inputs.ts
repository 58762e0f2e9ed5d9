/** How an input of the site form is filled in. */
interface SiteInput {
  readonly type: 'text' | 'multiline' | 'people' | 'choice'
  /** The most characters in chat, where a card holds only so much. */
  readonly most: number
}

/** The inputs of every site form by their ids, in their order. The template's own questions stand before the label and the reason. */
export const siteInputs = {
  displayName: { type: 'text', most: 256 },
  alias: { type: 'text', most: 64 },
  description: { type: 'multiline', most: 1024 },
  owners: { type: 'people', most: 4000 },
  labelId: { type: 'choice', most: 64 },
  reason: { type: 'multiline', most: 500 },
} as const satisfies Record<string, SiteInput>
export type SiteInputId = keyof typeof siteInputs
