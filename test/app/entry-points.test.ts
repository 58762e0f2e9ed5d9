import { readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { readSources } from '../support/sources.ts'

const scripts = z.object({
  scripts: z.record(z.string(), z.string()),
  bin: z.record(z.string(), z.string()).default({}),
})
const read = (path: string) => scripts.parse(JSON.parse(readFileSync(path, 'utf8')))

/** Every file that a script or a command of package.json starts with Node. */
function entryPoints(): string[] {
  const own = read('package.json')
  const client = read('src/client/package.json')
  const started = ({ scripts }: typeof own) =>
    Object.values(scripts).flatMap((command) =>
      [...command.matchAll(/\bnode\s+(?:--\S+\s+)*(\S+\.ts)\b/g)].map(([, path = '']) => path),
    )
  const inClient = [...started(client), ...Object.values(client.bin)]
  return [...started(own), ...Object.values(own.bin), ...inClient.map(sourceInClient)]
}

/** The command of the package is JavaScript that is emitted from the source of the same name. */
const sourceInClient = (path: string): string =>
  join('src/client', path.replace(/^dist\/client\//, '').replace(/\.js$/, '.ts'))

const firstImport = (path: string): string | undefined =>
  /^import\s(?:[^'"]*\sfrom\s)?['"]([^'"]+)['"]/m.exec(readFileSync(path, 'utf8'))?.[1]

/** What it writes is a package for everybody, with the modes of the files in it. */
const forEverybody = ['src/client/emit.ts', 'deploy/build.ts']

const masks = (path: string): boolean => firstImport(path)?.endsWith('/private-umask.ts') ?? false

describe('entry points', () => {
  it('set a private umask before anything else is loaded', () => {
    const paths = entryPoints()
    expect(paths).toEqual(
      expect.arrayContaining(['src/main.ts', 'src/client/cli.ts', 'src/app/commands/backup.ts', 'test/replicas.ts']),
    )
    expect(paths.filter((path) => !masks(path) && !forEverybody.includes(path))).toEqual([])
    // What the service starts by itself.
    expect(masks('src/app/local/playground-process.ts')).toBe(true)
  })

  it('are all that run by themselves among the sources', () => {
    const known = new Set(entryPoints().map((path) => relative('.', path)))
    const running = readSources('src')
      .filter(({ text }) => /^main\(\)|^process\.exitCode = await /m.test(text))
      .map(({ path }) => join('src', path))
    expect(running.filter((path) => !known.has(path))).toEqual([])
  })

  it('share a file that does nothing else', () => {
    for (const path of ['src/private-umask.ts', 'src/client/private-umask.ts'])
      expect(readFileSync(path, 'utf8')).toMatch(/^\/\*\*[\s\S]*?\*\/\nprocess\.umask\(0o077\)\n$/)
  })
})
