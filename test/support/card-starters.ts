import { starterTextsFor } from '../../src/cards/index.ts'
import type { StarterKind } from '../../src/core/index.ts'

/** The name and description of a starter's template, in English: `Team site`, `Communication site`, `Shared mailbox`. */
export function starterTexts(kind: StarterKind): { readonly displayName: string; readonly description: string } {
  const { name, description } = starterTextsFor({ locale: 'en' }, kind)
  return { displayName: name, description }
}
