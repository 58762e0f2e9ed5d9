import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { definedCards } from '../src/cards/index.ts'
import type { Sample } from './support/card-sample.ts'
import { samples } from './support/card-samples.ts'

/** `UPDATE_GOLDEN=1` writes the sample data and the golden cards anew; look at the difference before it is committed. */
const update = process.env['UPDATE_GOLDEN'] === '1'
const data = ({ name }: Sample) => new URL(`../cards/${name}.data.json`, import.meta.url)
const golden = ({ name }: Sample) => new URL(`golden/${name}.json`, import.meta.url)

function expected(file: URL, value: unknown): unknown {
  if (update) writeFileSync(file, `${JSON.stringify(value, null, 2)}\n`)
  return JSON.parse(readFileSync(file, 'utf8'))
}

describe('every sample', () => {
  it.each(samples)('$name: what the code shows of a request is the sample data', (sample) => {
    expect(sample.data).toEqual(expected(data(sample), sample.data))
  })

  it.each(samples)('$name: the sample data gives the golden card', (sample) => {
    const card = sample.render(JSON.parse(readFileSync(data(sample), 'utf8')))
    expect(card).toEqual(expected(golden(sample), card))
  })

  it('has its file, and no file is left over', () => {
    const names = samples.map(({ name }) => name).sort()
    const ofCards = new Set<string>(definedCards.map(({ name }) => name))
    const filesIn = (folder: string, ending: string) =>
      readdirSync(new URL(folder, import.meta.url))
        .filter((file) => file.endsWith(ending) && ofCards.has(file.split('.')[0] ?? ''))
        .map((file) => file.slice(0, -ending.length))
        .sort()
    expect(filesIn('../cards/', '.data.json')).toEqual(names)
    expect(filesIn('golden/', '.json')).toEqual(names)
  })
})
