import { execFileSync } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, symlinkSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { delimiter, join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { inject } from 'vitest'

/** A Node version that the README supports for the examples, as a shell finds it. */
export interface PromisedNode {
  readonly name: string
  readonly command: string
  readonly path: string
  /**
   * Returns the folder where TypeScript of the pages runs: the source, or JavaScript for a Node that cannot strip
   * types.
   */
  readonly folder: () => string
  readonly program: (typescript: string) => string
  readonly flag: '--input-type=module-typescript' | '--input-type=module'
}

const folders = (process.env['PATH'] ?? '').split(delimiter)
const foreign = folders.filter((folder) => !folder.includes('node_modules'))

/** Returns a text that imports the client from its sources. */
export const fromSources = (text: string): string =>
  text
    .replaceAll("'quartermaster'", `'${pathToFileURL('src/client/index.ts')}'`)
    .replaceAll("'quartermaster/sign-in'", `'${pathToFileURL('src/client/sign-in.ts')}'`)

/** The Node in our packages, which runs the sources. */
const own: PromisedNode = {
  name: `Node ${process.versions.node}`,
  command: process.execPath,
  path: [resolve('node_modules/.bin'), ...foreign].join(delimiter),
  folder: () => process.cwd(),
  program: fromSources,
  flag: '--input-type=module-typescript',
}

/** The oldest supported version, as on people's machines: outside of our packages. */
const oldest = 20
function findOldest(): PromisedNode | undefined {
  const versionOf = (folder: string) =>
    existsSync(join(folder, 'node')) ? String(execFileSync(join(folder, 'node'), ['--version'])).trim() : ''
  const folder = foreign.find((one) => versionOf(one).startsWith(`v${oldest}.`))
  if (folder === undefined) return undefined
  let installed: string | undefined
  return {
    name: `Node ${versionOf(folder).slice(1)}`,
    command: join(folder, 'node'),
    path: [folder, ...foreign].join(delimiter),
    folder: () => {
      installed ??= installClient()
      return installed
    },
    program: stripTypeScriptTypes,
    flag: '--input-type=module',
  }
}

/** Creates a folder with the client package of `npm run package:client` and its libraries. */
function installClient(): string {
  const folder = mkdtempSync(join(inject('runFolder'), 'client-'))
  const home = join(folder, 'node_modules/quartermaster')
  mkdirSync(home, { recursive: true })
  copyFileSync('src/client/package.json', join(home, 'package.json'))
  execFileSync(resolve('node_modules/.bin/tsc'), ['-p', 'src/client/tsconfig.json', '--outDir', join(home, 'dist')])
  symlinkSync(resolve('node_modules'), join(home, 'node_modules'))
  return folder
}

const found = findOldest()
export const promisedNodes: readonly PromisedNode[] = found ? [own, found] : [own]
if (!found)
  console.warn(
    `The examples are not run on Node ${oldest}, which the README promises: no folder of PATH has it. Install it (nvm install ${oldest}) and put it into PATH.`,
  )
