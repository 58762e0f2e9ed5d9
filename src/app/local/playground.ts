import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable, Writable } from 'node:stream'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import contoso from '../../simulator/tenant/contoso.json' with { type: 'json' }
import { freePort } from '../endpoints.ts'
import type { App } from '../index.ts'

/** The chat windows of local mode: Microsoft 365 Agents Playground, one process for each person. */
export interface Playgrounds {
  readonly windows: readonly { readonly name: string; readonly part: string; readonly url: string }[]
  /** Ends them: asked first, then made to. */
  close(): Promise<void>
}

const packageName = '@microsoft/m365agentsplayground'
const windows = [
  { userPrincipalName: 'kim@contoso.example', part: 'employee', port: 56150 },
  { userPrincipalName: 'dana@contoso.example', part: 'approver', port: 56151 },
] as const
const adminWindow = { userPrincipalName: 'sam@contoso.example', part: 'admin', port: 56152 } as const
/** Six people in all: a Playground knows the person whose window it is and exactly five others. */
const known = ['kim', 'dana', 'omar', 'sam', 'zoe', 'taro.yamada'].map((name) => `${name}@contoso.example`)
/** How long one may take to answer, and to end when it is asked to, in milliseconds. */
const patience = { start: 30_000, end: 2_000 } as const

/**
 * Opens the two windows of DESIGN §7, and if asked for the admin's, and waits until they answer. A port that is taken is replaced by a free one. One that
 * cannot start, or ends later, is told on stderr in one sentence; the service itself goes on without it.
 */
export async function startPlaygrounds(app: App, { admin = false } = {}): Promise<Playgrounds> {
  if (!isInstalled()) {
    tell(`The Agents Playground is not installed, so there are no chat windows (npm install adds ${packageName}).`)
    return { windows: [], close: async () => {} }
  }
  const started = await Promise.all(
    (admin ? [...windows, adminWindow] : windows).map((window) => startWindow(app, window)),
  )
  const open = started.filter((one) => one !== undefined)
  return {
    windows: open.map(({ name, part, url }) => ({ name, part, url })),
    async close() {
      await Promise.all(open.map((one) => one.close()))
    },
  }
}

function isInstalled(): boolean {
  try {
    createRequire(import.meta.url).resolve(`${packageName}/cli.js`)
    return true
  } catch {
    return false
  }
}

async function startWindow(app: App, { userPrincipalName, part, port }: (typeof windows)[number] | typeof adminWindow) {
  const person = contoso.people.find((one) => one.userPrincipalName === userPrincipalName)
  if (!person) throw new Error(`contoso.json has no ${userPrincipalName}`)
  const name = person.displayName
  const folder = resolve(app.endpoints.dataDir, 'playground', person.givenName.toLowerCase())
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const config = JSON.stringify(configFor(app, person), null, 2)
  await writeFile(join(folder, 'playground.yml'), config, { mode: 0o600 })
  const child = run(app, folder, await freePort(port))
  const complaints = read(child.stderr)
  let expected = false
  try {
    const url = await answering(child)
    child.once('exit', () => {
      if (!expected)
        lastWords(child, folder, complaints).then(
          (why) => tell(`The window of ${name} has ended; npm start brings it back. It said: ${why}`),
          ignore,
        )
    })
    const close = async (): Promise<void> => {
      expected = true
      await end(child)
    }
    return { name, part, url, close }
  } catch (error) {
    await end(child)
    const what = error instanceof Error ? error.message : String(error)
    tell(`The window of ${name} did not open: ${what} ${await lastWords(child, folder, complaints)}`)
    return undefined
  }
}
type Person = (typeof contoso.people)[number]

/** As the Playground's `.m365agentsplayground.yml` wants it; JSON is YAML too. Ids are object ids, so the people picker gives those. */
function configFor(app: App, current: Person): object {
  const userOf = ({ id, displayName, userPrincipalName, givenName, surname }: Person) => ({
    ...{ id, name: displayName, userPrincipleName: userPrincipalName, aadObjectId: id },
    ...{ givenName, surname, email: userPrincipalName },
  })
  const others = contoso.people.filter((one) => known.includes(one.userPrincipalName) && one.id !== current.id)
  const window = current.givenName.toLowerCase()
  return {
    version: '0.1.1',
    tenantId: app.endpoints.tenantId,
    bot: { id: 'quartermaster', name: 'Quartermaster' },
    currentUser: userOf(current),
    users: others.map(userOf),
    // Two windows with the same chat would overwrite each other's conversation reference.
    personalChat: { id: `personal-chat-${window}` },
    groupChat: { id: `group-chat-${window}`, name: 'Group chat' },
    team: {
      ...{ id: `team-${window}`, name: 'Contoso', aadGroupId: '0c0ffee0-3333-4333-8333-000000000001' },
      channels: [{ id: `channel-${window}`, name: 'News' }],
    },
  }
}
type Child = ChildProcessByStdio<Writable, Readable, Readable>

/** It gets an environment of its own: no secrets of ours, no proxy, no browser that opens by itself, no telemetry. */
function run(app: App, folder: string, port: number): Child {
  const entry = fileURLToPath(new URL('./playground-process.ts', import.meta.url))
  const words = ['--app-endpoint', `${app.url}/api/messages`, '--channel-id', 'msteams', '--port', String(port)]
  return spawn(process.execPath, [entry, ...words, '--disable-telemetry'], {
    cwd: folder,
    env: {
      HOME: folder,
      TEAMSAPPTESTER_BROWSER: 'none',
      M365_AGENTS_PLAYGROUND_CONFIG_PATH: join(folder, 'playground.yml'),
      M365_AGENTS_PLAYGROUND_LOGFILE: join(folder, 'playground.log'),
      APPLICATION_INSIGHTS_NO_STATSBEAT: 'true',
    },
    stdio: ['pipe', 'pipe', 'pipe'],
  })
}

/** Its address, once it answers there. It says itself which port it has got. */
async function answering(child: Child): Promise<string> {
  const given = AbortSignal.timeout(patience.start)
  const lines = createInterface({ input: child.stdout })
  const ended = once(child, 'exit', { signal: given }).then(() => undefined)
  const listening = once(lines, 'line', { signal: given }).then(
    ([line]) => /^Listening on (\d+)$/.exec(String(line))?.[1],
  )
  const port = await Promise.race([listening, ended])
  if (port === undefined) throw new Error('it ended before it listened.')
  child.stdout.resume()
  const url = `http://127.0.0.1:${port}`
  // Its page is there before its connection to the bot is.
  while (!(await answers(`${url}/_internal/v1/config`, given))) {
    if (child.exitCode !== null) throw new Error('it ended before it answered.')
    await setTimeout(100, undefined, { signal: given })
  }
  return url
}

async function answers(url: string, signal: AbortSignal): Promise<boolean> {
  const response = await fetch(url, { signal }).catch(() => undefined)
  await response?.body?.cancel()
  signal.throwIfAborted()
  return response?.ok ?? false
}

async function end(child: Child): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exited = once(child, 'exit')
  child.kill('SIGTERM')
  const waited = new AbortController()
  const forced = setTimeout(patience.end, undefined, waited).then(() => child.kill('SIGKILL'), ignore)
  await exited
  waited.abort()
  await forced
}

/** Why it ended, in one line: a faulty configuration is told in its log file only, a crash on stderr. */
async function lastWords(child: Child, folder: string, complaints: () => string): Promise<string> {
  const path = join(folder, 'playground.log')
  const log = await readFile(path, 'utf8').catch(() => '')
  const said = /^error Reason: (.+)$/m.exec(log)?.[1] ?? /^\w*Error.*$/m.exec(complaints())?.[0]
  return said?.slice(0, 300) ?? `${child.signalCode ?? `exit code ${child.exitCode}`}, see ${path}`
}

function read(stream: Readable): () => string {
  let text = ''
  stream.on('data', (chunk: Buffer) => {
    text = (text + chunk.toString()).slice(-4_000)
  })
  return () => text
}

const tell = (sentence: string): void => {
  process.stderr.write(`${sentence}\n`)
}
const ignore = (): void => {}
