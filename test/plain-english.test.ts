import { globSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import {
  type Area,
  areas,
  brokenRules,
  readingEase,
  renderings,
  sentencesOf,
  textsOf,
} from './support/plain-english.ts'

/** The maximum number of words in a sentence that people read at a glance on a card. */
const longestSentence = 12

/** The places where an expression to leave is the right one: the file, and a part of the text. */
const allowed: readonly (readonly [file: string, part: string])[] = [
  // A naming policy blocks words, and similar names share words.
  ['cards/strings/en.json', 'blocked word {word}'],
  ['cards/strings/en.json', 'blocked words: {words}'],
  ['cards/strings/en.json', 'must not contain these words'],
  ['docs/templates.md', 'Words that no name may contain'],
  ['docs/templates.md', 'blocked words: payroll'],
  ['src/core/shared/directory.ts', 'The first characters of words in a name'],
  ['src/core/naming/similar.ts', 'word'],
  ['test/naming/name-similarity.test.ts', 'word'],
  ['test/naming/naming-policy.test.ts', 'whole words'],
  // The meaning of a sentence depends on its words.
  ['src/bot/channel/sentences/index.ts', 'word'],
  ['src/bot/channel/sentences/name-in-sentence.ts', 'word'],
  ['src/bot/channel/sentences/near.ts', 'word'],
  ['src/bot/channel/sentences/sentence.ts', 'word'],
  ['src/bot/channel/sentences/words.ts', 'word'],
  ['src/bot/channel/sentences/words.ts', 'Word'],
  ['src/bot/define.ts', 'polite words'],
  ['test/bot/sentences.test.ts', 'polite words'],
  ['test/bot/typed-commands.test.ts', 'polite words'],
  // The measure of a sentence.
  ['test/plain-english.test.ts', 'words'],
]

const isAllowed = (file: string, text: string) => allowed.some(([place, part]) => file === place && text.includes(part))

describe('plain English', () => {
  it.each([
    ['card', 'Dana is told by mail', 'told'],
    ['card', 'The site was made. Open it.', 'was made'],
    ['card', '{is, select, guest {A guest} other {Nobody}} waits in vain', 'in vain'],
    ['code', 'What is older goes.', 'What is older goes.'],
    ['test', 'asks for a token', 'asks for'],
    ['docs', 'Whom the chat refuses', 'Whom'],
  ] as const)('finds in a %s: %s', (area, text, found) => {
    expect(brokenRules(area, { file: 'x', at: '1', text }).map((finding) => finding.found)).toContain(found)
  })

  it.each([
    ['card', 'What happens next?'],
    ['card', 'You are about to reject this request.'],
    ['docs', 'The option `--asked-for` keeps its name.'],
    ['code', 'Returns the blocked words of a name.'],
  ] as const)('accepts in a %s: %s', (area, text) => {
    expect(brokenRules(area, { file: 'x', at: '1', text })).toEqual([])
  })

  it.each(areas)('is kept by every text of the area %s', (area) => {
    const findings = textsOf(area)
      .flatMap((text) => brokenRules(area, text))
      .filter(({ file, text }) => !isAllowed(file, text))
    expect(findings.map(({ file, at, found, say }) => `${file}:${at}: "${found}": say ${say}`)).toEqual([])
  })

  it('needs each of its exceptions', () => {
    const texts = areas.flatMap((area) => textsOf(area).filter((text) => brokenRules(area, text).length > 0))
    const unused = allowed.filter(
      ([file, part]) => !texts.some((text) => text.file === file && text.text.includes(part)),
    )
    expect(unused).toEqual([])
  })

  it(`has at most ${longestSentence} words in a sentence of a card`, () => {
    const long = textsOf('card')
      .filter(({ file }) => file.startsWith('cards/'))
      .flatMap(({ at, text }) =>
        renderings(text)
          .flatMap(sentencesOf)
          .map((sentence) => ({ at, sentence })),
      )
      .filter(({ sentence }) => sentence.split(/\s+/).length > longestSentence)
    expect(long.map(({ at, sentence }) => `${at}: ${sentence}`)).toEqual([])
  })

  it('is easy to read: Flesch reading ease, 60 to 70 is plain English', () => {
    const easeOf = (area: Area) => readingEase(textsOf(area).flatMap(({ text }) => renderings(text).slice(0, 1)))
    const ease = Object.fromEntries(areas.map((area) => [area, Math.round(easeOf(area))]))
    process.stdout.write(`Flesch reading ease: ${JSON.stringify(ease)}\n`)
    expect(ease['card']).toBeGreaterThanOrEqual(60)
    expect(ease['docs']).toBeGreaterThanOrEqual(50)
  })

  // The keys of the cards: test/cards/every-card.test.ts.
  it.each(['src/client/strings/en.json', 'src/app/setup/strings.json', 'src/app/check/strings.json'])(
    'uses each key of %s',
    (file) => {
      const code = globSync('src/**/*.ts').map((source) => readFileSync(source, 'utf8'))
      const names = new Set(code.join('\n').match(/[\w-]+/g))
      // Some keys are put together, as in `${code}Hint`.
      const isUsed = (part: string) =>
        /^\d+$/.test(part) || names.has(part) || part.split(/(?=[A-Z][a-z]+$)/).every((half) => names.has(half))
      const keys = textsOf('card').filter((text) => text.file === file)
      expect(keys.length).toBeGreaterThan(0)
      expect(keys.map(({ at }) => at).filter((at) => !at.split(/[. ]/).every(isUsed))).toEqual([])
    },
  )

  it('fills each placeholder: no golden file of a card or command shows one', () => {
    const goldens = globSync('test/golden/**/*.*')
    expect(goldens.length).toBeGreaterThan(100)
    const open = goldens.filter((file) => /(?<![$#\w])\{[a-z]\w*\}/i.test(readFileSync(file, 'utf8')))
    expect(open).toEqual([])
  })
})
