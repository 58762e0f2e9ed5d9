import { describe, expect, it } from 'vitest'
import { withRowTitles } from '../../src/cards/shared/row-titles.ts'
import { nodesOf } from '../support/card-rules.ts'
import { samples } from '../support/card-samples.ts'

const block = (text: string, more: object = {}) => ({ type: 'TextBlock', text, ...more })
const rich = (...texts: string[]) => ({
  type: 'RichTextBlock',
  inlines: texts.map((text) => ({ type: 'TextRun', text })),
})
const row = (title: string, ...items: object[]) => ({
  type: 'Container',
  selectAction: { type: 'Action.Submit', title },
  items,
})
const titleOf = (card: object): unknown => nodesOf(withRowTitles({ ...card })).find(({ title }) => title)?.['title']

describe('the title of a tappable row', () => {
  it.each([
    [
      'has all texts of the row in their order',
      row('Open REQ-1042', block('Aurora'), rich('Team site', ' · ', 'Ready')),
      'Open REQ-1042. Aurora. Team site · Ready',
    ],
    [
      'leaves out marks',
      row('Open REQ-1042', block('●'), block('Aurora'), rich('REQ-1042 · today ›'), block('›')),
      'Open REQ-1042. Aurora. REQ-1042 · today',
    ],
    [
      'does not repeat a name at its end',
      row('Choose Project site', rich('Project site'), block('Files and lists')),
      'Choose Project site. Files and lists',
    ],
    ['does not repeat itself', row('Failed', block('1,204'), block('Failed')), '1,204. Failed'],
    [
      'sets one full stop between sentences',
      row('Stuck', block('Stuck'), block('Retry it.'), block('Then wait…'), block('Now')),
      'Stuck. Retry it. Then wait… Now',
    ],
    ['leaves out hidden texts', row('Open', block('Aurora'), block('More', { isVisible: false })), 'Open. Aurora'],
    ['stays without texts', row('Open', block('›')), 'Open'],
  ])('%s', (_, card, title) => {
    expect(titleOf(card)).toBe(title)
  })

  it('is the same in the action for older clients', () => {
    const fallback = { type: 'Action.Submit', title: 'Open' }
    const card = {
      type: 'Container',
      selectAction: { type: 'Action.Execute', title: 'Open', fallback },
      items: [block('A')],
    }
    expect(withRowTitles(card)['selectAction']).toEqual({
      ...{ type: 'Action.Execute', title: 'Open. A' },
      fallback: { type: 'Action.Submit', title: 'Open. A' },
    })
  })

  it('has fewer texts when the card would be too large for Teams', () => {
    expect(withRowTitles(row('Open', block('A'), block('B'), block('C')), 2)['selectAction']).toMatchObject({
      title: 'Open. A. B',
    })
  })
})

describe('a mark', () => {
  const isMark = /^[✓●○✕!–]$/
  const hasLetters = (text: string) => /[\p{L}\p{N}]/u.test(text)
  const textsIn = (value: unknown): string[] =>
    nodesOf(value).flatMap(({ text }) => (typeof text === 'string' && text.trim() !== '' ? [text.trim()] : []))
  const rowsOf = (card: object) =>
    nodesOf(card).flatMap(({ type, columns, inlines }) =>
      type === 'ColumnSet' || type === 'RichTextBlock' ? [textsIn(columns ?? inlines)] : [],
    )

  it('is never alone: a text with letters is next to it', () => {
    const alone = samples.flatMap((sample) =>
      rowsOf(sample.rendered())
        .filter((texts) => texts.some((one) => isMark.test(one)) && !texts.some(hasLetters))
        .map((texts) => `${sample.name}: ${texts.join(' ')}`),
    )
    expect(alone).toEqual([])
  })

  it('never says more than the texts: rows of a card that read alike have the same mark', () => {
    const different = samples.flatMap((sample) => {
      const known = new Map<string, string | undefined>()
      return rowsOf(sample.rendered()).flatMap((texts) => {
        const mark = texts.find((one) => isMark.test(one))
        const read = texts.filter(hasLetters).join(' | ')
        if (mark === undefined) return []
        const earlier = known.get(read) ?? mark
        known.set(read, earlier)
        return earlier === mark ? [] : [`${sample.name}: ${read}: ${earlier} or ${mark}`]
      })
    })
    expect(different).toEqual([])
  })

  it('and the colour of a band never say more than the texts: cards that read alike look alike', () => {
    const known = new Map<string, string>()
    const different = samples.flatMap((sample) => {
      const card = sample.rendered()
      const texts = textsIn(card)
      const look = nodesOf(card).flatMap(({ color, style, bleed, text }) => [
        color,
        bleed && style,
        isMark.test(String(text)) && text,
      ])
      const [read, looks] = [texts.filter(hasLetters).join(' | '), JSON.stringify(look.filter(Boolean))]
      const earlier = known.get(read) ?? looks
      known.set(read, earlier)
      return earlier === looks ? [] : [`${sample.name}: ${earlier} or ${looks}`]
    })
    expect(different).toEqual([])
  })
})
