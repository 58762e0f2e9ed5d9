import { describe, expect, it } from 'vitest'
import { strings } from '../../src/cards/shared/messages.ts'
import { brokenRules } from '../support/card-rules.ts'
import { longer } from '../support/longer-words.ts'

// Views take their texts from the catalogue, so it is longer before they are loaded.
Object.assign(strings, longer(strings))
const { samples } = await import('../support/card-samples.ts')

describe('every card', () => {
  it.each(samples)('$name keeps the rules when every word of ours is 35 % longer', ({ render, data }) => {
    expect(brokenRules(render(data))).toEqual([])
  })
})
