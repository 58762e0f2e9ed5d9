import './private-umask.ts'
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { enableCompileCache } from 'node:module'
import { join } from 'node:path'
import type { App } from './app/index.ts'
import type { Playgrounds } from './app/local/playground.ts'
import type { Environment } from './app/settings.ts'
import { collectOften, useCompiledCode } from './heap.ts'

useCompiledCode()

// Keeps compiled code for the next start, in a folder that only people who can change the code can write to. Without such
// a folder, Node compiles everything again. Static imports would be compiled before this call.
enableCompileCache(join(import.meta.dirname, '../node_modules/.cache/quartermaster'))
const { isLoopbackUrl } = await import('./app/addresses.ts')
const { ConfigurationError, readConfig } = await import('./app/config.ts')
const { createApp } = await import('./app/index.ts')
const { createLog, maskSecrets } = await import('./app/log.ts')
const { secretsOf } = await import('./app/settings.ts')
const { loadSettingsFile } = await import('./settings-file.ts')

/** The process: environment, signals, exit. Everything else is in `app/`. */
async function main(): Promise<void> {
  loadSettingsFile()
  const config = readConfig(process.env)
  endWithoutSecrets(config)
  const app = await createApp(config)
  // Modules that load later cannot use Node's compiled code. Most have loaded.
  collectOften()
  const playgrounds =
    config.PLAYGROUND !== 'off' && app.endpoints.local
      ? await (await import('./app/local/playground.ts')).startPlaygrounds(app, {
          admin: config.PLAYGROUND === 'admin',
          locale: config.PLAYGROUND_LOCALE,
        })
      : undefined
  const removeNote = noteRunning(app)
  // Register signal handlers before reporting ready.
  stopOnSignal(app, playgrounds, removeNote)
  announce(app, playgrounds)
}

const { ENV_FILE: named } = process.env
const whereSettingsAre = `.env.example describes every setting. npm run setup${named ? ', with the options of its first run,' : ''} creates what an organisation needs and writes ${named || '.env'} (docs/setup.md).`

/** Ends the process after an uncaught error. Node would print the error with the headers and values that libraries attach. */
function endWithoutSecrets(config: Environment): void {
  process.on('uncaughtException', (error: unknown) => {
    createLog('fatal', secretsOf(config)).fatal({ err: error }, 'uncaught error: the process ends')
    process.exit(1)
  })
}

/** In local mode, writes the service's address into DATA_DIR for `npm run token`. Returns a function that removes the file. */
function noteRunning({ url, endpoints }: App): () => void {
  if (!endpoints.local || !isLoopbackUrl(endpoints.loginUrl)) return () => {}
  const file = join(endpoints.dataDir, 'running.json')
  const text = `${JSON.stringify({ service: url, simulator: endpoints.loginUrl })}\n`
  writeFileSync(file, text, { mode: 0o600 })
  return () => {
    // Over a PostgreSQL server, another process may have the same folder.
    if (existsSync(file) && readFileSync(file, 'utf8') === text) rmSync(file)
  }
}

function announce(app: App, playgrounds: Playgrounds | undefined): void {
  const { local, simulator } = app.endpoints
  const lines = [`Quartermaster answers at ${app.url}`]
  lines.push(`  API document, with test calls: ${app.url}/docs`)
  if (simulator) lines.push(`  Simulated Microsoft 365: ${simulator.url} (tenant Contoso)`)
  if (playgrounds && playgrounds.windows.length > 0) {
    lines.push('', `Open these ${playgrounds.windows.length} windows next to each other:`)
    for (const { name, part, url } of playgrounds.windows) lines.push(`  ${url}  ${name}, ${part}`)
    lines.push(
      '',
      'In the first window, type: new site',
      'The second window gets a card to approve. Then the first window gets the link to the site.',
      'For a mailbox, type: new room, new shared mailbox or new equipment',
    )
  }
  if (local) lines.push('', 'Ctrl-C stops the service. All data is kept for the next start.')
  process.stdout.write(`${lines.join('\n')}\n`)
}

/** The first signal stops the service within 10 s; a second one ends the process at once. */
function stopOnSignal(app: App, playgrounds: Playgrounds | undefined, removeNote: () => void): void {
  let stopping = false
  const stop = async (): Promise<void> => {
    if (stopping) process.exit(1)
    stopping = true
    process.stdout.write('Stopping. Open work is kept.\n')
    setTimeout(() => process.exit(1), 9_500).unref()
    removeNote()
    await Promise.all([playgrounds?.close(), app.close()])
    process.exit(0)
  }
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      stop().catch((error: unknown) => {
        process.stderr.write(`Error while stopping: ${String(error)}\n`)
        process.exit(1)
      })
    })
  }
}

main().catch((error: unknown) => {
  const message = error instanceof Error ? error.message : String(error)
  const help = error instanceof ConfigurationError ? `${whereSettingsAre}\n` : ''
  process.stderr.write(`${maskSecrets([])(message)}\n${help}`)
  process.exit(1)
})
