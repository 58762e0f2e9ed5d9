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

/** All files that scripts and commands of package.json start with Node. */
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

/** The command of the package is emitted from the source file with the same name. */
const sourceInClient = (path: string): string =>
  join('src/client', path.replace(/^dist\/client\//, '').replace(/\.js$/, '.ts'))

const firstImport = (path: string): string | undefined =>
  /^import\s(?:[^'"]*\sfrom\s)?['"]([^'"]+)['"]/m.exec(readFileSync(path, 'utf8'))?.[1]

/** This entry point writes a public package with the modes of its files, so it needs no private umask. */
const forEverybody = ['src/client/emit.ts', 'deploy/build.ts']

const masks = (path: string): boolean => firstImport(path)?.endsWith('/private-umask.ts') ?? false

describe('entry points', () => {
  it('set a private umask before other imports', () => {
    const paths = entryPoints()
    expect(paths).toEqual(
      expect.arrayContaining(['src/main.ts', 'src/client/cli.ts', 'src/app/commands/backup.ts', 'test/replicas.ts']),
    )
    expect(paths.filter((path) => !masks(path) && !forEverybody.includes(path))).toEqual([])
    // The service itself starts these files.
    for (const path of ['src/app/local/playground-process.ts', 'src/store/database/initdb.ts'])
      expect(masks(path)).toBe(true)
  })

  it('are the only sources that run on import', () => {
    const known = new Set(entryPoints().map((path) => relative('.', path)))
    const running = readSources('src')
      .filter(({ text }) => /^main\(\)|^process\.exitCode = await /m.test(text))
      .map(({ path }) => join('src', path))
    expect(running.filter((path) => !known.has(path))).toEqual([])
  })

  it('share a file that only sets the umask', () => {
    for (const path of ['src/private-umask.ts', 'src/client/private-umask.ts'])
      expect(readFileSync(path, 'utf8')).toMatch(/^\/\*\*[\s\S]*?\*\/\nprocess\.umask\(0o077\)\n$/)
  })
})
