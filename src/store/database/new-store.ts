import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { setFlagsFromString } from 'node:v8'
import { syncFolder, syncTree } from './durable-files.ts'

/**
 * Makes V8 compile PostgreSQL with its baseline compiler only. Its optimizing compiler needs 600 MB of memory for one
 * function of PostgreSQL (the evaluator of expressions) and seconds of both cores at each start. Has no effect on
 * JavaScript. Call this before PGlite starts.
 */
export function compileOnce(): void {
  // At run time the first flag does not imply the others.
  for (const flag of ['--liftoff-only', '--no-wasm-tier-up', '--no-wasm-dynamic-tiering']) setFlagsFromString(flag)
}

/** The limits of JavaScript's memory in the process that runs initdb, whose large arrays are outside of them. */
const LITTLE_MEMORY = ['--max-semi-space-size=1', '--max-old-space-size=64']

/**
 * Creates a PostgreSQL store in a folder without a store: complete and flushed, or not at all. The caller holds the
 * store's lock. initdb runs in another process: it needs some 500 MB, which this process would keep for a long time.
 */
export async function createMissingStore(folder: string): Promise<void> {
  removeUnfinished(folder)
  if (existsSync(join(folder, 'PG_VERSION'))) return
  // Each attempt has its own folder: the initdb of a killed parent can still run for a moment.
  const fresh = mkdtempSync(unfinished(folder))
  await initdb(fresh)
  syncTree(fresh)
  renameSync(fresh, folder)
  syncFolder(dirname(folder))
}

const unfinished = (folder: string): string => `${folder}.new-`

function removeUnfinished(folder: string): void {
  const parent = dirname(folder)
  for (const name of readdirSync(parent)) {
    if (!name.startsWith(basename(unfinished(folder)))) continue
    try {
      rmSync(join(parent, name), { recursive: true, force: true })
    } catch {
      // The initdb of a killed parent still writes into it: the next start removes the folder.
    }
  }
  // Earlier versions ran initdb in the folder itself, with this file next to it until the end.
  const marker = `${folder}.initialising`
  if (!existsSync(marker)) return
  rmSync(folder, { recursive: true, force: true })
  rmSync(marker)
}

async function initdb(folder: string): Promise<void> {
  const entry = fileURLToPath(new URL('./initdb.ts', import.meta.url))
  const child = spawn(process.execPath, [...LITTLE_MEMORY, entry, folder], { stdio: ['pipe', 'ignore', 'pipe'] })
  const [complaints, [code, signal]] = await Promise.all([text(child.stderr), once(child, 'close')])
  if (code !== 0) throw new Error(`The embedded store could not be created (${code ?? signal}): ${complaints.trim()}`)
}
