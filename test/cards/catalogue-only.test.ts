import { appendFileSync } from 'node:fs'
import { afterAll, describe, expect, it, vi } from 'vitest'
import { marked, markedIntl, phrasesOf, shownTexts, unmarked, wordsOfSamples } from '../support/marked-texts.ts'

// Like longer-texts.test.ts, this file loads its own modules with a changed catalogue.
vi.resetModules()
vi.stubGlobal('Intl', markedIntl())
const { strings } = await import('../../src/cards/shared/messages.ts')
const original = structuredClone(strings)
Object.assign(strings, marked(strings))
afterAll(() => {
  Object.assign(strings, original)
  vi.unstubAllGlobals()
  vi.resetModules()
})
const { samples } = await import('../support/card-samples.ts')
const words = wordsOfSamples()

describe('every card', () => {
  it.each(samples)('$name shows only texts of the catalogue and data', ({ name, render, data }) => {
    const all = shownTexts(render(data)).flatMap(unmarked).flatMap(phrasesOf)
    if (process.env['DUMPALL']) appendFileSync(process.env['DUMPALL'], all.map((one) => `${name}\t${one}\n`).join(''))
    const foreign = all.filter((phrase) => !words.includes(phrase))
    if (process.env['DUMP']) appendFileSync(process.env['DUMP'], foreign.map((one) => `${name}\t${one}\n`).join(''))
    expect([...new Set(foreign)]).toEqual([])
  })
})
