import { existsSync, globSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { cardActionRegistry, commandRegistry, defineCardAction, defineCommand } from '../src/bot/define.ts'
import { routeRegistry, routes } from '../src/http/index.ts'
import { defineJob, jobRegistry } from '../src/jobs/queue/define-job.ts'
import { coreRooms, faultsOf, readSources, sourceOf } from './support/sources.ts'

describe('the architecture', () => {
  it('imports go only where the design allows, vendors stay in their rooms, files stay small', () => {
    const sources = readSources('src')
    expect(sources.length).toBeGreaterThan(80)
    expect(faultsOf(sources)).toEqual([])
  })

  it.each([
    [
      'a room that reaches into another',
      'http/a.ts',
      "import { x } from '../store/requests.ts'",
      'http may import core',
    ],
    [
      'a way past the door of the core',
      'bot/a.ts',
      "import { x } from '../core/request.ts'",
      'past the door core/index.ts',
    ],
    ['the simulator knowing the core', 'simulator/a.ts', "import type { x } from '../core/index.ts'", 'no other room'],
    ['a vendor in the wrong room', 'core/a.ts', "import { TurnContext } from 'botbuilder'", 'belongs to bot'],
    ['a vendor that nobody decided on', 'core/a.ts', "import _ from 'lodash'", 'has no room yet'],
    ['a file that is too long', 'core/a.ts', '\n'.repeat(351), '350 at most'],
    ['the environment read in a room', 'core/a.ts', 'const a = process.env.A', 'only entries do'],
    ['a folder called utils', 'core/utils/a.ts', '', 'nothing is called utils'],
    [
      'a room of the core that looks down',
      'core/templates/a.ts',
      "import type { x } from '../requests/index.ts'",
      'templates may not import requests',
    ],
    [
      'a way past the index of a room',
      'core/requests/a.ts',
      "import { x } from '../naming/names.ts'",
      'past the index of naming',
    ],
  ])('notices %s', (_, path, text, fault) => {
    expect(faultsOf([sourceOf(path, text)]).join('\n')).toContain(fault)
  })

  it('notices a cycle, of types too', () => {
    const one = sourceOf('core/shared/one.ts', "import { two } from './two.ts'")
    expect(faultsOf([one, sourceOf('core/shared/two.ts', "import { one } from './one.ts'")]).join()).toContain(
      'import cycle',
    )
    const type = sourceOf('core/shared/two.ts', "import type { One } from './one.ts'")
    expect(faultsOf([one, type]).join()).toContain('import cycle')
  })

  it('notices a room with too many files, and one that is no capability', () => {
    const many = Array.from({ length: 26 }, (_, index) => sourceOf(`bot/drafts/${index}.ts`, ''))
    expect(faultsOf(many)).toEqual(['bot/drafts has 26 files, 25 at most'])
    for (const folder of ['store/things', 'http/routes/things'])
      expect(faultsOf([sourceOf(`${folder}/a.ts`, '')])).toEqual([`${folder} is no capability of the core`])
  })

  it('each room of the core has an entry, and every entry says what belongs there', () => {
    const entries = globSync('src/**/index.ts')
    expect(entries).toEqual(expect.arrayContaining(coreRooms.map((room) => join('src/core', room, 'index.ts'))))
    for (const entry of entries) expect(readFileSync(entry, 'utf8'), entry).toMatch(/^\/\*\*[\s\S]{20,}?\*\/\n/)
  })

  it('every path that the documentation names exists', () => {
    const pages = ['README.md', 'SECURITY.md', 'src/README.md', 'src/client/README.md', ...globSync('docs/**/*.md')]
    const missing = pages.flatMap((page) => missingIn(page).map((path) => `${page}: ${path}`))
    expect(missing).toEqual([])
  })

  it.each(['cards', 'test'])('the folders of %s have the names of capabilities or layers', (folder) => {
    const layers = ['app', 'bot', 'cards', 'client', 'http', 'jobs', 'microsoft365', 'simulator', 'store']
    const others = {
      cards: ['strings'],
      test: [...layers, 'bench', 'golden', 'laboratory', 'screenshots', 'support', 'system'],
    }[folder]
    const folders = readdirSync(folder, { withFileTypes: true }).flatMap((one) => (one.isDirectory() ? [one.name] : []))
    expect(folders.filter((name) => ![...coreRooms, ...(others ?? [])].includes(name))).toEqual([])
  })
})

const files = globSync('{src,test,cards,docs,deploy,manifest}/**/*.*').map((path) => `/${path}`)

/** The paths in links and code spans of a page that do not exist. A code span may leave out the first folders. */
function missingIn(page: string): string[] {
  const text = readFileSync(page, 'utf8').replace(/```[\s\S]*?```/g, '')
  const links = [...text.matchAll(/\]\(([^)#:\s]+)(?:#[^)]*)?\)/g)].map(([, path = '']) => path)
  const spans = [...text.matchAll(/`(?:\.\.\/)?(\w[\w@./-]*\.(?:ts|md))`/g)].map(([, path = '']) => path)
  return [
    ...links.filter((path) => !existsSync(join(dirname(page), path))),
    ...spans.filter((path) => !existsSync(path) && !files.some((file) => file.endsWith(`/${path}`))),
  ]
}

describe('a registry refuses two values of one name', () => {
  const nothing = async () => {
    throw new Error('never run')
  }

  it('card actions', () => {
    const action = defineCardAction({ verb: 'request.twice', data: z.object({}), handle: nothing })
    expect(() => cardActionRegistry(action, action)).toThrow('request.twice')
  })

  it('commands, their other words too', () => {
    const command = (words: string, also: string[]) =>
      defineCommand({ words, also, argument: z.string(), handle: nothing, otherwise: nothing })
    expect(() => commandRegistry(command('one', []), command('two', ['one']))).toThrow('"one"')
  })

  it('jobs', () => {
    const job = defineJob({
      name: 'twice',
      payload: z.object({}),
      retries: 0,
      retryDelaySeconds: 1,
      expireInSeconds: 1,
      handle: nothing,
    })
    expect(() => jobRegistry(job, job)).toThrow('twice')
  })

  it('routes', () => {
    expect(routes.length).toBeGreaterThan(10)
    expect(() => routeRegistry(...routes, ...routes.slice(0, 1))).toThrow(/two routes answer to/)
  })
})
