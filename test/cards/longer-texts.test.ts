import { afterAll, describe, expect, it, vi } from 'vitest'
import { brokenRules } from '../support/card-rules.ts'
import { longer } from '../support/longer-texts.ts'

// Views read their texts from the catalogue when they are loaded. Test files of a worker share modules, so this file loads its own
// modules, and later files load theirs again with the original catalogue.
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
  it('shows the longer texts', () => {
    const sample = samples.find(({ name }) => name === 'help')
    expect(JSON.stringify(sample?.render(sample.data))).toContain('lang en meer')
  })

  it.each(samples)('$name keeps the rules when our texts are 35 % longer', ({ render, data }) => {
    expect(brokenRules(render(data))).toEqual([])
  })
})
