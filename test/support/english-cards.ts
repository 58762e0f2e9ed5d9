import { cardsFor } from '../../src/cards/index.ts'

/** The cards as a reader of English gets them. */
export const cards = cardsFor({ locale: 'en-GB' })
