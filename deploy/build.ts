import { cp, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { basename, dirname, join, relative, resolve, sep } from 'node:path'
import { type Plugin, rolldown } from 'rolldown'
import { noticesOf } from './notices.ts'

/**
 * Builds the bundle of the service: `dist/main.js` and the operators' commands run on a plain Node, without `node_modules`.
 * `npm run build [folder]` replaces `dist/` or the named folder.
 */
const root = resolve(import.meta.dirname, '..')
const output = resolve(root, process.argv[2] ?? 'dist')

/** The programs of the bundle, by their names without `.js`. */
const programs = {
  main: 'src/main.ts',
  'audit-verify': 'src/app/commands/audit-verify.ts',
  'audit-key': 'src/app/commands/audit-key.ts',
  setup: 'src/app/setup/main.ts',
  'check-tenant': 'src/app/check/main.ts',
  backup: 'src/app/commands/backup.ts',
  restore: 'src/app/commands/restore.ts',
  compile: 'deploy/compile.ts',
  'playground-process': 'src/app/local/playground-process.ts',
  initdb: 'src/store/database/initdb.ts',
}
/** Optional parts of libraries that we do not install. The libraries catch the error and continue without them. */
const absent = ['pg-native', 'dtrace-provider', 'cloudflare:sockets']
/** Only local mode opens the Playground, from `node_modules`. Without it, local mode runs without windows. */
const playground = '@microsoft/m365agentsplayground'

/**
 * Three ways in which code finds a file: `new URL('<path>', import.meta.url)`, `createRequire(import.meta.url)('<path>')` and
 * `require.resolve('<package>/<file>')`.
 */
const relativeToModule = /new URL\(\s*(['"])(\.[^'"]+)\1\s*,\s*import\.meta\.url\s*\)/g
const required = /createRequire\(import\.meta\.url\)\(\s*(['"])(\.[^'"]+)\1,?\s*\)/g
/** A package that is loaded at its first use. It gets its own file, so that a start does not read it. */
const lateInPackage = /createRequire\(import\.meta\.url\)\(\s*(['"])([^'".][^'"]*)\1,?\s*\)/g
const inPackage = /require\.resolve\('((?:@[^/']+\/)?[^/']+\/[^']+)'\)/g

/**
 * Copies each file or folder that a module finds by a relative path or in a package to `files/` of the bundle, and changes
 * the code to use the copy. Paths in the project stay the same. A module that is started as a process is one of the
 * programs.
 */
function copyFiles(copies: Map<string, string>, latePackages: Map<string, string>): Plugin {
  const copied = (from: string, isFolder = false): string => {
    const to = `files/${relative(root, from).split(sep).join('/')}${isFolder ? '/' : ''}`
    copies.set(from, to)
    return `'./${to}'`
  }
  const urlOf = (file: string): string => `new URL(${file}, import.meta.url)`
  return {
    name: 'copy-files',
    transform(code, id) {
      if (!code.includes('import.meta.url')) return null
      const folder = dirname(id)
      const changed = code
        .replace(relativeToModule, (_, __, path: string) =>
          path.endsWith('.ts')
            ? urlOf(`'./${basename(path, '.ts')}.js'`)
            : urlOf(copied(resolve(folder, path), path.endsWith('/'))),
        )
        .replace(required, (_, __, path: string) => `createRequire(import.meta.url)(${copied(resolve(folder, path))})`)
        .replace(lateInPackage, (call, _, path: string) => {
          if (path.startsWith(playground)) return call
          const [name, file] = [basename(path, '.js'), createRequire(id).resolve(path)]
          if ((latePackages.get(name) ?? file) !== file) throw new Error(`Two late packages have the name ${name}.`)
          latePackages.set(name, file)
          return `createRequire(import.meta.url)('./${name}.cjs')`
        })
        .replace(inPackage, (_, path: string) => urlOf(copied(createRequire(id).resolve(path))))
      return changed === code ? null : { code: changed, map: null }
    },
  }
}

/** Bundles programs into the output folder. Returns the files of their modules. */
async function bundle(input: Record<string, string>, format: 'esm' | 'cjs', plugins: Plugin[] = []): Promise<string[]> {
  const bundled = await rolldown({
    cwd: root,
    input,
    platform: 'node',
    external: [...absent, new RegExp(`^${playground}`)],
    // Node's own punycode is deprecated, and warns at each start when code outside of node_modules loads it.
    resolve: { alias: { punycode: 'punycode/punycode.js' } },
    plugins,
    // PGlite's generated code uses eval.
    checks: { eval: false },
    // A warning can mean that a part of the bundle is missing at run time.
    onLog(level, log, handler) {
      if (level === 'warn') throw new Error(`${log.code}: ${log.message}`)
      handler(level, log)
    },
  })
  const ending = format === 'cjs' ? 'cjs' : 'js'
  const { output: chunks } = await bundled.write({
    dir: output,
    format,
    sourcemap: true,
    // Node reads all maps at start: with the sources' text they take 130 MB of memory instead of 30.
    sourcemapExcludeSources: true,
    // V8 keeps the text of a file in two bytes for each character, unless all of them are in Latin-1.
    charset: 'ascii',
    // LICENSES.txt has the notices.
    comments: false,
    entryFileNames: `[name].${ending}`,
    chunkFileNames: `chunks-[name]-[hash].${ending}`,
  })
  return chunks.flatMap((chunk) => (chunk.type === 'chunk' ? chunk.moduleIds : []))
}

async function build(): Promise<void> {
  const copies = new Map<string, string>()
  const latePackages = new Map<string, string>()
  await rm(output, { recursive: true, force: true })
  const modules = await bundle(programs, 'esm', [copyFiles(copies, latePackages)])
  modules.push(...(await bundle(Object.fromEntries(latePackages), 'cjs')))
  // Without it, Node parses each file twice to find out that it is a module.
  await writeFile(join(output, 'package.json'), '{ "type": "module" }\n')
  for (const [from, to] of copies) await cp(from, join(output, to), { recursive: true })
  await writeFile(join(output, 'LICENSES.txt'), await noticesOf([...modules, ...copies.keys()]))
}

await build()
