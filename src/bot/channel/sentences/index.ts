/** Reads sentences: the meaning of a text in any of our languages, by tables of words. Pure functions. */
export { isNear } from './near.ts'
export {
  isDoubtful,
  isOtherTask,
  isPlainRequest,
  type Meaning,
  meaningOf,
  mentions,
  withoutPoliteness,
} from './sentence.ts'
export type { DescribedCommand, NamedKind } from './words.ts'
