import { appendFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { samples } from '../support/card-samples.ts'
import { markTexts, phrasesOf, shownTexts, textsOfSamples, unmarked } from '../support/marked-texts.ts'

const data = textsOfSamples()
let marks: ReturnType<typeof markTexts>
beforeAll(() => {
  marks = markTexts()
})
afterAll(() => marks.remove())

describe('every card', () => {
  it.each(samples)('$name shows only texts of the catalogue and data', ({ name, renderedIn }) => {
    const all = shownTexts(renderedIn(marks.language)).flatMap(unmarked).flatMap(phrasesOf)
    if (process.env['DUMPALL']) appendFileSync(process.env['DUMPALL'], all.map((one) => `${name}\t${one}\n`).join(''))
    const foreign = all.filter((phrase) => !data.includes(phrase))
    expect([...new Set(foreign)]).toEqual([])
  })
})
