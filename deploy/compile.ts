import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as pause } from 'node:timers/promises'

/**
 * `node <flags> compile.js <folder>`, a program of the bundle: writes compiled code of the service to a folder, for starts
 * that cannot write files. It starts the service in local mode with an empty store, and stops it. Node uses compiled code only
 * with the same version and flags of Node, for the same user, and at the same path of the code
 * (https://nodejs.org/api/module.html#module-compile-cache). Exit code 1: the service did not start or stop in order.
 */
async function main(folder: string | undefined): Promise<void> {
  if (folder === undefined) throw new Error('Usage: node <flags of the service> compile.js <folder>')
  const dataDir = mkdtempSync(join(tmpdir(), 'quartermaster-compile-'))
  try {
    const service = spawn(process.execPath, [...process.execArgv, join(import.meta.dirname, 'main.js')], {
      cwd: dataDir,
      env: {
        ...{ MODE: 'local', DATA_DIR: dataDir, PORT: '0', SIMULATOR_PORT: '0', PLAYGROUND: 'off' },
        NODE_COMPILE_CACHE: resolve(folder),
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const ended = once(service, 'exit')
    for await (const line of createInterface({ input: service.stdout })) if (line.includes('answers at')) break
    // The service loads the template engine and MSAL shortly after it is ready.
    await pause(5000)
    service.kill('SIGTERM')
    const [code] = await ended
    if (code !== 0) throw new Error(`The service ended with exit code ${code}, so its compiled code is incomplete.`)
  } finally {
    rmSync(dataDir, { recursive: true })
  }
}

await main(process.argv[2]).catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
  process.exitCode = 1
})
