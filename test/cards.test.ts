import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { cardRegistry } from '../src/cards/define-card.ts'
import { definedCards, noticeCodes, summaryOf, verbs, warmUp } from '../src/cards/index.ts'
import { strings } from '../src/cards/messages.ts'
import { expand, templateFile } from '../src/cards/render.ts'
import { faultCodes } from '../src/core/index.ts'
import { brokenRules, isNode, nodesOf } from './support/card-rules.ts'
import { samples } from './support/card-samples.ts'
import { longer } from './support/longer-words.ts'
import { unknownPaths } from './support/template-paths.ts'

const templateOf = (name: string): unknown => JSON.parse(readFileSync(templateFile(name), 'utf8'))
const rendered = samples.map((sample) => ({ name: sample.name, card: sample.render(sample.data) }))
const ourPlaceholder = /\{[a-zA-Z]+\}/

describe('every card', () => {
  it.each(rendered)('$name keeps the rules of the card style', ({ card }) => {
    expect(brokenRules(card)).toEqual([])
  })

  it.each(rendered)('$name leaves no expression and no placeholder behind', ({ card }) => {
    expect(JSON.stringify(card)).not.toContain('${')
    expect(JSON.stringify(card)).not.toMatch(ourPlaceholder)
    expect(JSON.stringify(card)).not.toContain('undefined')
  })

  it.each(rendered)('$name has a summary for the notification', ({ card }) => {
    expect(summaryOf(card)).toMatch(/^[A-Z].+/)
  })

  it.each(rendered)('$name has buttons that fit a phone', ({ card }) => {
    const actions = Array.isArray(card['actions']) ? card['actions'] : []
    const letters = actions.map((action: { title: string }) => action.title).join('').length
    expect(letters).toBeLessThanOrEqual(actions.length > 2 ? 20 : 21)
  })

  it.each(samples)('$name keeps the rules when every word of ours is 35 % longer', ({ card, data }) => {
    expect(brokenRules(expand(card, data, longer(strings)))).toEqual([])
  })
})

describe('templates', () => {
  it.each(definedCards.map(({ name, data }) => ({ name, data })))(
    '$name names only what its data has',
    ({ name, data }) => {
      const schema: unknown = z.toJSONSchema(data)
      expect(isNode(schema) ? unknownPaths(templateOf(name), schema, strings) : ['no schema']).toEqual([])
    },
  )

  it('use every verb, and no other', () => {
    const used = definedCards.flatMap(({ name }) =>
      nodesOf(templateOf(name)).flatMap(({ verb }) => (verb ? [verb] : [])),
    )
    expect(new Set(used)).toEqual(new Set(verbs))
  })

  it('are refused with a field missing, instead of showing an expression to people', () => {
    expect(() => expand('help', { commands: [] })).toThrow('displayName')
  })

  it('belong to exactly one card each', () => {
    expect(() => warmUp()).not.toThrow()
    expect(() => cardRegistry(...definedCards, { name: 'help' })).toThrow('two cards are named help')
    expect(() => cardRegistry(...definedCards, { name: 'lost' })).toThrow('the card lost has no template')
    expect(() => cardRegistry({ name: 'help' })).toThrow('belongs to no card')
  })
})

describe('strings', () => {
  const folder = new URL('../cards/strings/', import.meta.url)

  it('have the same keys and placeholders in every language', () => {
    for (const file of readdirSync(folder)) {
      const other: unknown = JSON.parse(readFileSync(new URL(file, folder), 'utf8'))
      expect(placeholders(other), file).toEqual(placeholders(strings))
    }
  })

  it('have words for every fault of a field and for every notice', () => {
    for (const code of faultCodes) expect(strings.error).toHaveProperty([code])
    expect(Object.keys(strings.notice)).toEqual(expect.arrayContaining(noticeCodes))
  })

  it('keep the labels of facts short enough for their column', () => {
    for (const words of Object.values(strings.field)) expect(words.length, words).toBeLessThanOrEqual(13)
  })
})

function placeholders(value: unknown, at = ''): string[] {
  if (!isNode(value)) return [`${at}: ${(String(value).match(/\{\w+\}/g) ?? []).sort().join(' ')}`]
  return Object.entries(value).flatMap(([key, inner]) => placeholders(inner, `${at}/${key}`))
}
