import { apiTexts, catalogues } from '../cards/index.ts'
import { nameCountriesIn, writeReasons } from '../core/index.ts'

// Each process that shows or stores errors imports this file, so that their messages are sentences of the English catalogue.
writeReasons(apiTexts.reason)
// A request may name a country in any language of the chat, also in a call of the API.
nameCountriesIn([...catalogues].map(([tag, { countries: otherNames }]) => ({ tag, otherNames })))
