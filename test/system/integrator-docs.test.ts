import { execFile } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it, onTestFinished } from 'vitest'
import { freePort } from '../../src/app/free-port.ts'
import { faultMeanings, problemCodes } from '../../src/http/index.ts'
import { type Block, blocksOf, examplesOf, reasonOf } from '../support/docs-blocks.ts'
import { codeAlike, expectShown, openTerminal } from '../support/docs-run.ts'
import { fromSources, promisedNodes } from '../support/promised-nodes.ts'
import { withService } from '../support/service.ts'
import { until } from '../support/until.ts'

const folder = 'docs/integrators'
const pages = readdirSync(folder).filter((name) => name.endsWith('.md'))
const read = (page: string): string => readFileSync(join(folder, page), 'utf8')
const blocks = (page: string): Block[] => blocksOf(page, read(page))
/** The application in the page on sign-in. */
const applicationId = '5f0a1b2c-3d4e-4f5a-8b6c-7d8e9f0a1b2c'
/** Printed between two blocks of the single program that the TypeScript of a page forms. */
const between = '\u001e'

/** Joins the TypeScript of a page to one program. */
const programOf = (texts: readonly string[]): string => texts.join(`\nconsole.log('${between}')\n`)
/**
 * Each Node repeats all pages with the same service, in the other order. A repeat must show the same, except for later
 * states.
 */
const runs = promisedNodes.flatMap((node, place) =>
  (place % 2 === 0 ? pages : pages.toReversed()).map((page) => ({ node, page, on: node.name, isAgain: place > 0 })),
)
describe('the examples in the pages for integrators work:', () => {
  const service = withService({ MAIL_APP_CLIENTS: applicationId })
  // The same port for each run: the template of the first run contains it.
  const receiverPort = freePort()

  it.each(runs)('$page on $on', async ({ node, page, isAgain }) => {
    const simulator = service.app.endpoints.simulator?.url ?? ''
    const port = String(await receiverPort)
    const addresses = {
      'http://127.0.0.1:3978': service.app.url,
      'http://127.0.0.1:3979': simulator,
      '127.0.0.1:8080': `127.0.0.1:${port}`,
      'PORT=8080': `PORT=${port}`,
    }
    const terminal = openTerminal(node, addresses, { SIMULATOR_PORT: new URL(simulator).port })
    const examples = examplesOf(blocks(page))
    try {
      for (const example of examples.filter(({ block }) => block.language !== 'ts')) {
        const { block } = example
        if (block.marks['receiver'] !== undefined) {
          // A second site with one name has the next free address.
          const messages = () => terminal.other().replace(/(apollo-press)-\d+/, isAgain ? '$1' : '$&')
          const isTold = () => String(codeAlike(messages())).includes(String(codeAlike(block.text))) || undefined
          await until(isTold, `${page}:${block.line}, but the receiver shows ${terminal.other()}`)
        } else if (block.marks['keeps-running'] !== undefined) await terminal.keepRunning(block)
        else expectShown(example, await terminal.run(block), isAgain)
      }
      const typescript = examples.filter(({ block }) => block.language === 'ts')
      const [first] = typescript
      if (!first) return
      const program = { ...first.block, text: programOf(typescript.map(({ block }) => block.text)) }
      const printed = (await terminal.run(program)).split(between)
      for (const [place, example] of typescript.entries()) expectShown(example, printed[place] ?? '', isAgain)
    } finally {
      await terminal.close()
    }
  })
})

describe('the pages for integrators', () => {
  it('have TypeScript with correct types, also where it does not run', async () => {
    const temporary = mkdtempSync(join(tmpdir(), 'docs-types-'))
    onTestFinished(() => rmSync(temporary, { recursive: true, force: true }))
    for (const page of pages) {
      const typescript = blocks(page).filter(({ language, marks }) => language === 'ts' && marks['file'] === undefined)
      const [alone, together] = [typescript.filter(reasonOf), typescript.filter((block) => !reasonOf(block))]
      const programs = [
        together,
        ...alone.map((block) => [...(block.marks['continues'] === undefined ? [] : together), block]),
      ]
      for (const [place, parts] of programs.entries()) {
        const text = fromSources(programOf(parts.map(({ text }) => text))).replaceAll('file://', '')
        writeFileSync(join(temporary, `${page}-${place}.ts`), `${text}\nexport {}\n`)
      }
    }
    symlinkSync(resolve('node_modules'), join(temporary, 'node_modules'))
    writeFileSync(join(temporary, 'package.json'), '{"type": "module"}')
    const compilerOptions = { noUnusedLocals: false, typeRoots: [resolve('node_modules/@types')] }
    const config = { extends: resolve('tsconfig.json'), compilerOptions, include: ['*.ts'] }
    writeFileSync(join(temporary, 'tsconfig.json'), JSON.stringify(config))
    const compiler = promisify(execFile)(resolve('node_modules/.bin/tsc'), ['--noEmit', '-p', temporary])
    const output = await compiler.catch(({ stdout }: { stdout: string }) => ({ stdout }))
    expect(output.stdout).toBe('')
  })

  it('have no block without a test', () => {
    const shown = (text: string) =>
      examplesOf(blocksOf('page.md', text)).map(({ block, answer }) => [block.line, answer?.line])
    expect(shown('```sh\nls\n```\n```text\na\n```\n')).toEqual([[1, 4]])
    expect(shown('```sh not-run="it would take a day"\nls\n```\n')).toEqual([])
    for (const orphan of ['```json\n{}\n```\n', '```sh\nls\n```\n```yaml\na\n```\n'])
      expect(() => shown(orphan)).toThrow('not-run="why"')
  })

  it('exclude few blocks from the tests, each with a reason', () => {
    const reasons = pages.flatMap((page) => blocks(page).flatMap((block) => reasonOf(block) ?? []))
    expect(reasons.every((reason) => reason.length > 20)).toBe(true)
    expect(reasons.length).toBeLessThanOrEqual(4)
  })

  it('link to existing targets', () => {
    const missing = pages.flatMap((page) =>
      [...read(page).matchAll(/\]\((?!https?:)([^)#]*)(?:#([^)]*))?\)/g)].flatMap(([, to = '', heading]) => {
        const target = to === '' ? join(folder, page) : join(folder, dirname(page), to)
        if (!existsSync(target)) return [`${page}: ${to}`]
        return heading === undefined || anchorsOf(target).includes(heading) ? [] : [`${page}: ${to}#${heading}`]
      }),
    )
    expect(missing).toEqual([])
  })

  it('have the tables and files of the sources (UPDATE_DOCS=1 writes them)', () => {
    const headersOf = ({ headers, sometimes = [] }: (typeof problemCodes)[keyof typeof problemCodes]) =>
      [...headers, ...sometimes.map((name) => `${name} (sometimes)`)].join(', ') || '–'
    const codes = Object.entries(problemCodes).map(
      ([code, entry]) => `| \`${code}\` | ${entry.status} | ${entry.means} | ${entry.remedy} | ${headersOf(entry)} |`,
    )
    const faults = Object.entries(faultMeanings).map(([code, means]) => `| \`${code}\` | ${means} |`)
    expectWritten('errors.md', (text) =>
      within(
        within(text, 'codes', [
          '| code | status | what it means | what to do | headers |',
          '|---|---|---|---|---|',
          ...codes,
        ]),
        'fields',
        ['| code | what is wrong |', '|---|---|', ...faults],
      ),
    )
    expectWritten('waiting.md', (text) =>
      text.replace(/^```(js|ts) file="([^"]+)"\n[\s\S]*?^```$/gm, (_, language: string, file: string) => {
        const source = read(file).replace('../../src/client/index.ts', 'quartermaster')
        return `\`\`\`${language} file="${file}"\n${source}\`\`\``
      }),
    )
  })
})

const anchorsOf = (file: string): string[] =>
  [...readFileSync(file, 'utf8').matchAll(/^#+ (.+)$/gm)].map(([, title = '']) =>
    title
      .toLowerCase()
      .replace(/[^\w\s-]/g, '')
      .replace(/\s/g, '-'),
  )

/** Returns a page with these lines between the markers of a name. */
function within(text: string, name: string, lines: readonly string[]): string {
  const [before = '', rest = ''] = text.split(`<!-- ${name} -->`)
  const [, after = ''] = rest.split(`<!-- /${name} -->`)
  return `${before}<!-- ${name} -->\n${lines.join('\n')}\n<!-- /${name} -->${after}`
}

function expectWritten(page: string, wanted: (text: string) => string): void {
  const text = wanted(read(page))
  if (process.env['UPDATE_DOCS'] === '1') writeFileSync(join(folder, page), text)
  expect(read(page)).toBe(text)
}
