import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { samples } from '../support/card-samples.ts'
import { foreignPhrases, markTexts } from '../support/marked-texts.ts'

describe('in a language with marked texts, every card', () => {
  let marks: ReturnType<typeof markTexts>
  beforeAll(() => {
    marks = markTexts()
  })
  afterAll(() => marks.remove())

  it.each(samples)('$name shows only texts of the catalogue and data', ({ renderedIn }) => {
    const card = renderedIn(marks.language)
    expect(JSON.stringify(card)).toContain('⟦')
    expect(foreignPhrases(card)).toEqual([])
  })

  it('would show a text from outside the catalogue, also inside a message', () => {
    const texts = ['⟦Approved by ⟧Dana Fox⟦.⟧', '⟦Error: ⟧the tenant refuses this', '⟦See REQ-1042⟧ · REQ-1042']
    const card = { body: texts.map((text) => ({ type: 'TextBlock', text })) }
    expect(foreignPhrases(card)).toEqual(['the tenant refuses this'])
  })
})
