import { type KnownPerson, namesOf } from '../../core/index.ts'

/**
 * What a person's id and names look like inside of JSON, as patterns of LIKE. They find every row that may tell of the person,
 * and a few more: the words between spaces may be apart, an address may have a tag. Letters beyond ASCII are looked for in both
 * cases and both forms of Unicode, since the store may not know them.
 */
export const patternsOf = (person: KnownPerson): string[] => [
  ...new Set([person.id, ...namesOf(person).flatMap(formsOf)].map(patternOf)),
]

/** The same of one text. */
export const patternOf = (name: string): string => {
  const parts = name.split(/\s+|(?<=@)|(?=@)/u).filter((part) => part !== '' && part !== '@')
  const inJson = parts.map((part) =>
    JSON.stringify(part)
      .slice(1, -1)
      .replace(/[\\%_]/g, '\\$&'),
  )
  return `%${inJson.join('%')}%`
}

const formsOf = (name: string): string[] =>
  [name, name.toLowerCase(), name.toUpperCase()].flatMap((one) => [one.normalize('NFC'), one.normalize('NFD')])

/** Whether a text of SQL has one of these patterns in it, in any case. */
export const hasAny = (text: string, parameter: string): string =>
  `lower(${text}) LIKE ANY (SELECT lower(one) FROM unnest(${parameter}::text[]) AS these (one))`
