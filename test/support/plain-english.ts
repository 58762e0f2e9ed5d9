import { globSync, readFileSync } from 'node:fs'
import { relative } from 'node:path'
import { pathToFileURL } from 'node:url'
import { flesch } from 'flesch'
import { IntlMessageFormat } from 'intl-messageformat'
import { syllable } from 'syllable'

/** A text that somebody reads: its file, its line (1 is the first) or its key, and the text. */
export type Text = { file: string; at: string; text: string }

/** The readers of a text: `card` is Teams and the command line, `docs` the pages, `code` comments, `test` the names of tests. */
export const areas = ['card', 'docs', 'code', 'test'] as const
export type Area = (typeof areas)[number]

const root = new URL('../../', import.meta.url)
const read = (file: string) => readFileSync(new URL(file, root), 'utf8')
const files = (...patterns: string[]) =>
  patterns.flatMap((pattern) => globSync(pattern, { cwd: root })).filter((file) => !file.includes('node_modules'))

/** All texts of a JSON catalogue with their keys. */
function catalogue(file: string): Text[] {
  const walk = (value: unknown, at: string): Text[] =>
    typeof value === 'string'
      ? [{ file, at, text: value }]
      : typeof value === 'object' && value !== null
        ? Object.entries(value).flatMap(([key, part]) => walk(part, at ? `${at}.${key}` : key))
        : []
  return walk(JSON.parse(read(file)), '')
}

/** The paragraphs, headings, list items and table cells of a Markdown page, without code. */
function page(file: string): Text[] {
  const texts: Text[] = []
  let isCode = false
  let paragraph: Text | undefined
  for (const [index, line] of read(file).split('\n').entries()) {
    if (/^\s*```/.test(line)) isCode = !isCode
    const text = line.replace(/^\s*(?:[-*>]|\d+\.|#+)?\s+|^#+\s*/, '')
    const isStart = text !== line || line.startsWith('|') || line.trim() === '' || isCode || /^\s*```/.test(line)
    if (isStart) paragraph = undefined
    if (isCode || line.trim() === '' || /^\s*```|^[|: -]+$/.test(line)) continue
    const cells = line.startsWith('|') ? line.split('|').filter((cell) => cell.trim() !== '') : [text]
    if (paragraph) paragraph.text += ` ${line.trim()}`
    else for (const cell of cells) texts.push({ file, at: String(index + 1), text: cell.trim() })
    if (!line.startsWith('|') && !/^#/.test(line)) paragraph ??= texts.at(-1)
  }
  return texts
}

/** The comments of a source file; the lines of one comment are one text. */
function comments(file: string): Text[] {
  const texts: Text[] = []
  let open: Text | undefined
  for (const [index, line] of read(file).split('\n').entries()) {
    const found = /^\s*(?:\/\*\*?|\*\/|\*|\/\/)\s?(.*?)(?:\*\/)?\s*$/.exec(line)
    const tail = found ? undefined : /(?<=[\s;,{(])\/\/ (.*)$/.exec(line)
    const text = found?.[1] ?? tail?.[1]
    if (text === undefined || text.trim() === '') open = undefined
    else if (open && found) open.text += ` ${text.trim()}`
    else {
      open = { file, at: String(index + 1), text: text.trim() }
      texts.push(open)
      if (tail) open = undefined
    }
  }
  return texts
}

/** The names of the tests of a file. */
function testNames(file: string): Text[] {
  const name = /^\s*(?:(?:it|test|describe)\b[^'"`]*\(|[\]})]*\)\()\s*(?:(['"`])((?:\\.|(?!\1).)+)\1|$)/
  const lines = read(file).split('\n')
  return lines.flatMap((line, index) => {
    const found = name.exec(line)
    if (!found) return []
    const text = found[2] ?? /^\s*(['"`])((?:\\.|(?!\1).)+)\1,?$/.exec(lines[index + 1] ?? '')?.[2]
    return text === undefined ? [] : [{ file, at: String(index + 1), text }]
  })
}

/** Every text of an area. */
export function textsOf(area: Area): Text[] {
  switch (area) {
    case 'card':
      return files('cards/strings/en.json', 'src/**/strings/*.json', 'src/app/*/strings.json').flatMap(catalogue)
    case 'docs':
      return files('*.md', 'docs/**/*.md', 'src/**/*.md', 'deploy/**/*.md').flatMap(page)
    case 'code':
      return files('src/**/*.ts', 'test/**/*.ts', 'deploy/**/*.ts', 'manifest/**/*.ts').flatMap(comments)
    case 'test':
      return files('test/**/*.test.ts').flatMap(testNames)
  }
}

/** An expression to leave, as a pattern, and what to say instead. Patterns without `areas` hold everywhere. */
type Rule = { leave: RegExp; say: string; areas?: readonly Area[] }

const rules: readonly Rule[] = [
  { leave: /\bmend(?:s|ed|ing)?\b/i, say: 'fix, repair, resolve' },
  { leave: /\b(?:stands?|stood|standing) (?!for\b|in for\b)|\bstands\b/i, say: 'is; status; is stuck' },
  { leave: /\btold\b|\btells? of\b/i, say: 'notify, notified; shows, reports' },
  { leave: /\blet(?:s|ting)? (?:it|them|this) go on\b/i, say: 'retries it' },
  { leave: /\bgoes (?:with|along)\b|\bbeside\b/i, say: 'together with, also, next to' },
  { leave: /\b(?:whoever|whomever|whom)\b/i, say: 'people who; the person; the role' },
  { leave: /\b(?:is|are|has|have) none\b|\bnobody['’]s\b/i, say: 'does not, has no …, unassigned' },
  { leave: /\bdoes well\b|\bhow (?:it|they|this) do(?:es)?\b(?! not)/i, say: 'is healthy; health' },
  { leave: /\bover the heads? of\b/i, say: 'overriding' },
  { leave: /\bin vain\b/i, say: 'cannot complete: name the reason' },
  {
    leave: /\b(?:is|are|was|were|been|be|and|of it) made\b(?! (?:for|up|sure))/i,
    say: 'created; provisioned',
    areas: ['card'],
  },
  { leave: /\ba look\b|\blooks\b(?! up\b| like\b)/i, say: 'a poll; polls the directory; checks' },
  { leave: /\bby hand\b/i, say: 'manually' },
  { leave: /\bbegun\b|\banew\b/i, say: 'started; again' },
  { leave: /\ball the same\b/i, say: 'anyway; still' },
  { leave: /(?<!blocked |allowed |pass|key)\bwords?\b/i, say: 'text, message, label; command name; error code' },
  { leave: /\bask(?:s|ed|ing)? for\b/i, say: 'request, require', areas: ['code', 'test'] },
  { leave: /\bwithout a goodbye\b/i, say: 'stopped unexpectedly' },
  { leave: /\bthe place of\b|\bin (?:his|her|their|your|its|my) place\b/i, say: 'instead of; replaces' },
  { leave: /\bis exchanged\b|\bgives? back\b|\bgiven back\b/i, say: 'is replaced; releases; returns' },
  { leave: /\bas (?:it|they) (?:was|were) written\b/i, say: 'unchanged' },
  { leave: /\bsurroundings\b/i, say: 'environment, endpoints' },
]

/** A sentence that starts with a headless clause, such as "What is older goes". A question is no headless clause. */
const headless = /^(?:What|Who|Whose|Whatever|Which)\b(?! (?:if|about)\b)[^?]*$/
/** A text without code, types and the targets of links, whose names follow other rules. */
const withoutCode = (text: string) =>
  text
    .replace(/`[^`]*`/g, 'X')
    .replace(/\{@\w+ [^}]*\}/g, 'X')
    .replace(/\]\([^)]*\)/g, ']')

/** The sentences of a text, without code and links. */
export const sentencesOf = (text: string): string[] =>
  withoutCode(text)
    .split(/(?<=[.!?…:])\s+(?=["“(]?[\p{Lu}{X])/u)
    .map((sentence) => sentence.trim())
    .filter((sentence) => sentence !== '')

type Element = ReturnType<IntlMessageFormat['getAst']>[number]

/**
 * The texts that an ICU message can become: one for each choice of a `select` or `plural`. Placeholders stay as `{name}`. A text
 * that is no ICU message is returned unchanged.
 */
export function renderings(message: string): string[] {
  const written = (elements: Element[]): string[] =>
    elements.reduce<string[]>(
      (starts, element) => starts.flatMap((start) => ends(element).map((end) => start + end)),
      [''],
    )
  const ends = (element: Element): string[] => {
    if ('options' in element) return Object.values(element.options).flatMap(({ value }) => written(value))
    if ('children' in element) return written(element.children)
    return [element.type === 0 ? element.value : 'value' in element ? `{${element.value}}` : '#']
  }
  try {
    return written(new IntlMessageFormat(message, 'en', undefined, { ignoreTag: true }).getAst())
  } catch {
    return [message]
  }
}

/**
 * The Flesch reading ease of texts: 0 is for scientists, 60 to 70 is plain English, 100 is for children of eleven. Texts without
 * a sentence, such as labels, do not count.
 */
export function readingEase(texts: readonly string[]): number {
  const sentences = texts.flatMap(sentencesOf).filter((sentence) => /[.!?]$/.test(sentence))
  const words = sentences.flatMap((sentence) => sentence.match(/\p{L}[\p{L}’'-]*/gu) ?? [])
  return flesch({ sentence: sentences.length, word: words.length, syllable: syllable(words.join(' ')) })
}

/** A broken rule: where, which expression, and what to say instead. */
export type Finding = Text & { found: string; say: string }

/** The broken rules of a text. */
export function brokenRules(area: Area, text: Text): Finding[] {
  const plain = withoutCode(text.text)
  const words = rules
    .filter(({ areas }) => areas === undefined || areas.includes(area))
    .flatMap(({ leave, say }) => {
      const found = leave.exec(plain)?.[0]
      return found === undefined ? [] : [{ ...text, found: found.trim(), say }]
    })
  const clauses = [...new Set(renderings(text.text).flatMap(sentencesOf))]
    .filter((sentence) => headless.test(sentence) && sentence.split(' ').length > 1)
    .map((sentence) => ({ ...text, found: sentence, say: 'subject, verb, object' }))
  return [...words, ...clauses]
}

/** For a person: `node test/support/plain-english.ts [path …]` lists the broken rules of these files. */
if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const paths = process.argv
    .slice(2)
    .map((path) => relative(new URL(root).pathname, path.startsWith('/') ? path : `${process.cwd()}/${path}`))
  const findings = areas
    .flatMap((area) => textsOf(area).flatMap((text) => brokenRules(area, text)))
    .filter(({ file }) => paths.length === 0 || paths.some((path) => file.startsWith(path)))
  for (const { file, at, found, say, text } of findings)
    process.stdout.write(`${file}:${at}: "${found}": say ${say}\n    ${text.slice(0, 200)}\n`)
  process.stdout.write(`${findings.length} findings\n`)
}
