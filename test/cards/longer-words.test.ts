import { afterAll, describe, expect, it, vi } from 'vitest'
import { brokenRules } from '../support/card-rules.ts'
import { longer } from '../support/longer-words.ts'

// Views take their texts from the catalogue when they are loaded. Test files of a worker share modules, so this file loads its own, and
// the files after it load theirs again, from the catalogue as it was.
vi.resetModules()
const { strings } = await import('../../src/cards/shared/messages.ts')
const original = structuredClone(strings)
Object.assign(strings, longer(strings))
afterAll(() => {
  Object.assign(strings, original)
  vi.resetModules()
})
const { samples } = await import('../support/card-samples.ts')

describe('every card', () => {
  it('is drawn with the longer words', () => {
    const sample = samples.find(({ name }) => name === 'help')
    expect(JSON.stringify(sample?.render(sample.data))).toContain('lang en meer')
  })

  it.each(samples)('$name keeps the rules when every word of ours is 35 % longer', ({ render, data }) => {
    expect(brokenRules(render(data))).toEqual([])
  })
})
