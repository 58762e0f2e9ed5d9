/** Reads sentences: the meaning of a text in any of our languages, by tables of words. Pure functions. */
export { shortened } from './name-in-sentence.ts'
export { isNear } from './near.ts'
export {
  hasRequestNumber,
  isDoubtful,
  isKindAlone,
  isOtherTask,
  isPlainRequest,
  type Meaning,
  meaningOf,
  mentionedIn,
  nameWith,
  nameWithStart,
  onlyNumberIn,
  withKindFor,
  withoutPoliteness,
  wordsSharedWith,
} from './sentence.ts'
export { type AnsweredQuestion, type DescribedCommand, fold, type NamedKind } from './words.ts'
