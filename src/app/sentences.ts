import { apiTexts } from '../cards/index.ts'
import { writeReasons } from '../core/index.ts'

// Each process that shows or stores errors imports this file, so that their messages are sentences of the English catalogue.
writeReasons(apiTexts.reason)
