import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { definedCards, noticeCodes, summaryOf, verbs, warmUp } from '../../src/cards/index.ts'
import { format, strings } from '../../src/cards/shared/messages.ts'
import {
  cardRegistry,
  expand,
  labels,
  piecesIn,
  templateFile,
  templateFiles,
  templateJson,
  templatesIn,
  withPieces,
} from '../../src/cards/shared/render.ts'
import { faultCodes } from '../../src/core/index.ts'
import { outlineOf } from '../support/card-outline.ts'
import { brokenRules, isNode, nodesOf } from '../support/card-rules.ts'
import type { Sample } from '../support/card-sample.ts'
import { samples } from '../support/card-samples.ts'
import { messagesOf } from '../support/catalogue-rules.ts'
import { unknownPaths } from '../support/template-paths.ts'

const isOneLongMember = /^ *\| /
const ourPlaceholder = /\{[a-zA-Z]+\}/

describe('every card', () => {
  it.each(samples)('$name keeps the rules of the card style', (sample) => {
    expect(brokenRules(sample.rendered())).toEqual([])
  })

  it.each(samples)('$name has no unfilled expression or placeholder', (sample) => {
    const text = JSON.stringify(sample.rendered())
    expect(text).not.toContain('${')
    expect(text).not.toMatch(ourPlaceholder)
    expect(text).not.toContain('undefined')
  })

  it.each(samples)('$name has a summary for the notification', (sample) => {
    expect(summaryOf(sample.rendered())).toMatch(/^[A-Z].+/)
  })

  it.each(samples)('$name has buttons that fit a phone', (sample) => {
    const card = sample.rendered()
    const actions = Array.isArray(card['actions']) ? card['actions'] : []
    const letters = actions.map((action: { title: string }) => action.title).join('').length
    expect(letters).toBeLessThanOrEqual(actions.length > 2 ? 20 : 21)
  })
})

/** `UPDATE_GOLDEN=1` writes the sample data and the golden outlines again; review the difference before you commit it. */
const update = process.env['UPDATE_GOLDEN'] === '1'
const dataFile = ({ name, card }: Sample) => new URL(`samples/${name}.data.json`, templateFile(card))
const folderOf = (card: string) => basename(dirname(fileURLToPath(templateFile(card))))
const goldenFile = ({ name, card }: Sample) => new URL(`../golden/cards/${folderOf(card)}/${name}.txt`, import.meta.url)
const howToUpdate = 'If you mean the change: UPDATE_GOLDEN=1 npx vitest run test/cards/every-card.test.ts'
const differs = (file: URL) => `${fileURLToPath(file)} differs. ${howToUpdate}`

function kept(file: URL, text: string): string {
  if (update) {
    mkdirSync(new URL('.', file), { recursive: true })
    writeFileSync(file, text)
  }
  if (!existsSync(file)) throw new Error(`${fileURLToPath(file)} does not exist. ${howToUpdate}`)
  return readFileSync(file, 'utf8')
}

describe('every sample', () => {
  it.each(samples)('$name: the view returns the sample data', (sample) => {
    const file = dataFile(sample)
    const data: unknown = JSON.parse(kept(file, `${JSON.stringify(sample.json, null, 2)}\n`))
    expect(sample.json, differs(file)).toStrictEqual(data)
  })

  it.each(samples)('$name: the sample data expands to the golden card', (sample) => {
    const file = goldenFile(sample)
    const outline = outlineOf(sample.rendered())
    expect(outline, differs(file)).toBe(kept(file, outline))
    const tooLong = outline.split('\n').filter((line) => line.length > 200 && !isOneLongMember.test(line))
    expect(tooLong).toEqual([])
  })

  it('has a file, and each file has a sample', () => {
    const filesBelow = (folder: string, pattern: RegExp) =>
      readdirSync(new URL(folder, import.meta.url), { recursive: true, encoding: 'utf8' })
        .map((path) => fileURLToPath(new URL(`${folder}${path}`, import.meta.url)))
        .filter((path) => pattern.test(path))
        .sort()
    const files = (fileOf: (sample: Sample) => URL) => samples.map((sample) => fileURLToPath(fileOf(sample))).sort()
    expect(filesBelow('../../cards/', /[/\\]samples[/\\]./)).toEqual(files(dataFile))
    expect(filesBelow('../golden/cards/', /\.\w+$/)).toEqual(files(goldenFile))
  })
})

describe('templates', () => {
  it.each(definedCards.map(({ name, data }) => ({ name, data })))(
    '$name names only fields of its data',
    ({ name, data }) => {
      const schema: unknown = z.toJSONSchema(data)
      expect(isNode(schema) ? unknownPaths(templateJson(name), schema, labels()) : ['no schema']).toEqual([])
    },
  )

  it.each(definedCards.map(({ name }) => name))('%s does not build texts', (name) => {
    expect(JSON.stringify(templateJson(name))).not.toContain('replace(')
  })

  it('use exactly the known verbs', () => {
    const used = definedCards.flatMap(({ name }) =>
      nodesOf(templateJson(name)).flatMap(({ verb }) => (verb ? [verb] : [])),
    )
    expect(new Set(used)).toEqual(new Set(verbs))
  })

  it('throw if a field is missing, instead of showing an expression', () => {
    expect(() => expand('help', { commands: [] })).toThrow('hello')
  })

  it('throw for an unknown piece, a missing argument or an unknown argument', () => {
    const pieces = new Map([['note', { type: 'TextBlock', text: '@text', data: { '...': '@data' } }]])
    const placed = (element: object) => withPieces('x.template.json', { body: [element] }, pieces)
    expect(placed({ $piece: 'note', text: 'a', data: { b: 1 }, spacing: 'None' })).toEqual({
      body: [{ type: 'TextBlock', text: 'a', data: { b: 1 }, spacing: 'None' }],
    })
    expect(() => placed({ $piece: 'lost' })).toThrow('x.template.json: there is no piece lost')
    expect(() => placed({ $piece: 'note' })).toThrow('x.template.json: the piece note needs the argument text')
    expect(() => placed({ $piece: 'note', text: 'a', data: 'b' })).toThrow('the piece note needs an object as @data')
    expect(() => placed({ $piece: 'note', text: 'a', data: {}, color: 'b' })).toThrow(
      'x.template.json: the piece note takes no argument color',
    )
  })

  it('use every piece', () => {
    const pieces = piecesIn(new URL('../../cards/shared/pieces/', import.meta.url))
    const templates = [...templateFiles.values()].map((file): unknown => JSON.parse(readFileSync(file, 'utf8')))
    const used = nodesOf([...templates, ...pieces.values()]).flatMap(({ $piece }) => ($piece ? [$piece] : []))
    expect(new Set(used)).toEqual(new Set(pieces.keys()))
  })

  it('belong to exactly one card each', () => {
    expect(() => warmUp()).not.toThrow()
    expect(() => cardRegistry(...definedCards, { name: 'help' })).toThrow('two cards are named help')
    expect(() => cardRegistry(...definedCards, { name: 'lost' })).toThrow('the card lost has no template')
    expect(() => cardRegistry({ name: 'help' })).toThrow('belongs to no card')
  })

  it('have different names in all folders', () => {
    const folder = mkdtempSync(join(tmpdir(), 'cards-'))
    try {
      for (const capability of ['drafts', 'requests']) {
        mkdirSync(join(folder, capability))
        writeFileSync(join(folder, capability, 'review.template.json'), '{}')
      }
      expect(() => templatesIn(pathToFileURL(`${folder}/`))).toThrow('two folders have a template for the card review')
    } finally {
      rmSync(folder, { recursive: true })
    }
  })
})

describe('strings', () => {
  it('are all used: the code or a template contains each part of a key', () => {
    const names = new Set(usedNames())
    // The code composes some keys, as in `${decision}For`.
    const isUsed = (part: string) => names.has(part) || part.split(/(?=[A-Z][a-z]+$)/).every((half) => names.has(half))
    const unused = [...messagesOf(strings).keys()].filter((key) => !key.split(/[./ ]/).every(isUsed))
    expect(unused).toEqual([])
  })

  it('throw if an argument is missing, and keep values unchanged', () => {
    expect(() => format(strings.people.for, { name: 'Kim Lee' })).toThrow('people')
    expect(format(strings.people.for, { name: '{people} <b>#', people: "it's" })).toBe("{people} <b># for it's")
    expect([0, 1, 2].map((count) => format(strings.stuck.heading, { count }))).toEqual([
      'No request is stuck',
      'One request is stuck',
      '2 requests are stuck',
    ])
  })

  it('exist for every fault of a field and for every notice', () => {
    for (const code of faultCodes) expect(strings.error).toHaveProperty([code])
    expect(Object.keys(strings.notice)).toEqual(expect.arrayContaining(noticeCodes))
  })

  it('have labels of facts that fit their column', () => {
    for (const label of Object.values(strings.field)) expect(label.length, label).toBeLessThanOrEqual(13)
  })
})

/** All names in the code and in the templates. */
function usedNames(): string[] {
  const filesIn = (folder: URL, ending: RegExp) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((file) => ending.test(file))
      .map((file) => new URL(file, folder))
  const files = [
    // The list of keys contains all of them, used or not.
    ...filesIn(new URL('../../src/', import.meta.url), /(?<!reason-keys)\.ts$/),
    ...filesIn(new URL('../../cards/', import.meta.url), /\.template\.json$/),
  ]
  return files.flatMap((file) => readFileSync(file, 'utf8').match(/[\w-]+/g) ?? [])
}
