import { existsSync, globSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { cardActionRegistry, commandRegistry, defineCardAction, defineCommand } from '../src/bot/define.ts'
import { routeRegistry, routes } from '../src/http/index.ts'
import { defineJob, jobRegistry } from '../src/jobs/queue/define-job.ts'
import { coreRooms, faultsOf, readSources, sourceOf } from './support/sources.ts'

describe('the architecture', () => {
  it('allows imports only as designed, keeps vendors in their rooms and files short', () => {
    const sources = readSources('src')
    expect(sources.length).toBeGreaterThan(80)
    expect(faultsOf(sources)).toEqual([])
  })

  it.each([
    [
      'an import of a room that is not allowed',
      'http/a.ts',
      "import { x } from '../store/requests.ts'",
      'http may import core',
    ],
    [
      'an import that bypasses the entry of the core',
      'bot/a.ts',
      "import { x } from '../core/request.ts'",
      'past the door core/index.ts',
    ],
    [
      'an import of the core in the simulator',
      'simulator/a.ts',
      "import type { x } from '../core/index.ts'",
      'no other room',
    ],
    ['a vendor in the wrong room', 'core/a.ts', "import { TurnContext } from 'botbuilder'", 'belongs to bot'],
    ['a vendor without a decision', 'core/a.ts', "import _ from 'lodash'", 'has no room yet'],
    ['a file that is too long', 'core/a.ts', '\n'.repeat(351), '350 at most'],
    ['the environment read in a room', 'core/a.ts', 'const a = process.env.A', 'only entries do'],
    ['a folder called utils', 'core/utils/a.ts', '', 'nothing is called utils'],
    [
      'an import of a lower room of the core',
      'core/templates/a.ts',
      "import type { x } from '../requests/index.ts'",
      'templates may not import requests',
    ],
    [
      'an import that bypasses the index of a room',
      'core/requests/a.ts',
      "import { x } from '../naming/names.ts'",
      'past the index of naming',
    ],
  ])('reports %s', (_, path, text, fault) => {
    expect(faultsOf([sourceOf(path, text)]).join('\n')).toContain(fault)
  })

  it('reports an import cycle, of types too', () => {
    const one = sourceOf('core/shared/one.ts', "import { two } from './two.ts'")
    expect(faultsOf([one, sourceOf('core/shared/two.ts', "import { one } from './one.ts'")]).join()).toContain(
      'import cycle',
    )
    const type = sourceOf('core/shared/two.ts', "import type { One } from './one.ts'")
    expect(faultsOf([one, type]).join()).toContain('import cycle')
  })

  it('reports a room with too many files, and a room that is not a capability', () => {
    const many = Array.from({ length: 26 }, (_, index) => sourceOf(`bot/drafts/${index}.ts`, ''))
    expect(faultsOf(many)).toEqual(['bot/drafts has 26 files, 25 at most'])
    for (const folder of ['store/things', 'http/routes/things'])
      expect(faultsOf([sourceOf(`${folder}/a.ts`, '')])).toEqual([`${folder} is no capability of the core`])
  })

  it('has an entry for each room of the core, and each entry describes the contents of the room', () => {
    const entries = globSync('src/**/index.ts')
    expect(entries).toEqual(expect.arrayContaining(coreRooms.map((room) => join('src/core', room, 'index.ts'))))
    for (const entry of entries) expect(readFileSync(entry, 'utf8'), entry).toMatch(/^\/\*\*[\s\S]{20,}?\*\/\n/)
  })

  it('has every path that the documentation mentions', () => {
    const pages = ['README.md', 'SECURITY.md', 'src/README.md', 'src/client/README.md', ...globSync('docs/**/*.md')]
    const missing = pages.flatMap((page) => missingIn(page).map((path) => `${page}: ${path}`))
    expect(missing).toEqual([])
  })

  it.each(['cards', 'test'])('names the folders of %s after capabilities or layers', (folder) => {
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

/** Returns the paths in links and code spans of a page that do not exist. A code span may omit the first folders. */
function missingIn(page: string): string[] {
  const text = readFileSync(page, 'utf8').replace(/```[\s\S]*?```/g, '')
  const links = [...text.matchAll(/\]\(([^)#:\s]+)(?:#[^)]*)?\)/g)].map(([, path = '']) => path)
  const spans = [...text.matchAll(/`(?:\.\.\/)?(\w[\w@./-]*\.(?:ts|md))`/g)].map(([, path = '']) => path)
  return [
    ...links.filter((path) => !existsSync(join(dirname(page), path))),
    ...spans.filter((path) => !existsSync(path) && !files.some((file) => file.endsWith(`/${path}`))),
  ]
}

describe('a registry refuses two values with the same name:', () => {
  const nothing = async () => {
    throw new Error('never run')
  }

  it('card actions', () => {
    const action = defineCardAction({ verb: 'request.twice', data: z.object({}), handle: nothing })
    expect(() => cardActionRegistry(action, action)).toThrow('request.twice')
  })

  it('commands, including their names without an argument', () => {
    const command = (name: string, alone: string[]) =>
      defineCommand({ name, alone, argument: z.string(), handle: nothing, withoutValidArgument: nothing })
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
    expect(() => routeRegistry(...routes, ...routes.slice(0, 1))).toThrow(/two routes serve/)
  })
})
