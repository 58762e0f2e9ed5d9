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
import { freePort } from '../free-port.ts'
import type { App } from '../index.ts'

/** The chat windows of local mode: Microsoft 365 Agents Playground, one process for each person. */
export interface Playgrounds {
  readonly windows: readonly { readonly name: string; readonly part: string; readonly url: string }[]
  /** Stops the windows, at first with SIGTERM, then with SIGKILL. */
  close(): Promise<void>
}

const packageName = '@microsoft/m365agentsplayground'
const windows = [
  { userPrincipalName: 'kim@contoso.example', part: 'employee', port: 56150 },
  { userPrincipalName: 'dana@contoso.example', part: 'approver', port: 56151 },
] as const
const adminWindow = { userPrincipalName: 'sam@contoso.example', part: 'admin', port: 56152 } as const
/** Six people: a Playground knows the person of its window and exactly five others. */
const knownPeople = ['kim', 'dana', 'omar', 'sam', 'zoe', 'taro.yamada'].map((name) => `${name}@contoso.example`)
/** The timeouts of a window's start and end, in milliseconds. */
const patience = { start: 30_000, end: 2_000 } as const

/**
 * Opens the two windows of DESIGN §7 and, with `admin`, the admin's, and waits until they answer. `locale`: the
 * language of the people, five characters such as `de-DE`. If a port is in use, it
 * uses a free port. A window that cannot start or stops later is reported on stderr in one line; the service continues.
 */
export async function startPlaygrounds(app: App, { admin = false, locale = 'en-US' } = {}): Promise<Playgrounds> {
  if (!isInstalled()) {
    report(
      `There are no chat windows, because the Agents Playground is not installed. npm install adds it (${packageName}).`,
    )
    return { windows: [], close: async () => {} }
  }
  const started = await Promise.all(
    (admin ? [...windows, adminWindow] : windows).map((window) => startWindow(app, window, locale)),
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

async function startWindow(
  app: App,
  { userPrincipalName, part, port }: (typeof windows)[number] | typeof adminWindow,
  locale: string,
) {
  const person = contoso.people.find((one) => one.userPrincipalName === userPrincipalName)
  if (!person) throw new Error(`contoso.json has no ${userPrincipalName}`)
  const name = person.displayName
  const folder = resolve(app.endpoints.dataDir, 'playground', person.givenName.toLowerCase())
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const config = JSON.stringify(configFor(app, person), null, 2)
  await writeFile(join(folder, 'playground.yml'), config, { mode: 0o600 })
  const child = run(app, folder, await freePort(port), locale)
  const errors = read(child.stderr)
  let expected = false
  try {
    const url = await answering(child)
    child.once('exit', () => {
      if (!expected)
        endReason(child, folder, errors).then(
          (why) => report(`The window of ${name} has stopped. npm start opens it again. Reason: ${why}`),
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
    report(`The window of ${name} did not open: ${what} ${await endReason(child, folder, errors)}`)
    return undefined
  }
}
type Person = (typeof contoso.people)[number]

/** The content of `.m365agentsplayground.yml`; JSON is YAML too. Ids are object ids, so that the people picker returns them. */
function configFor(app: App, current: Person): object {
  const userOf = ({ id, displayName, userPrincipalName, givenName, surname }: Person) => ({
    id,
    name: displayName,
    userPrincipleName: userPrincipalName,
    aadObjectId: id,
    givenName,
    surname,
    email: userPrincipalName,
  })
  const others = contoso.people.filter((one) => knownPeople.includes(one.userPrincipalName) && one.id !== current.id)
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

/** Starts a window with its own environment: no secrets of ours, no proxy, no automatic browser, no telemetry. */
function run(app: App, folder: string, port: number, locale: string): Child {
  const entry = fileURLToPath(new URL('./playground-process.ts', import.meta.url))
  const args = ['--app-endpoint', `${app.url}/api/messages`, '--channel-id', 'msteams', '--port', String(port)]
  return spawn(process.execPath, [entry, ...args, '--disable-telemetry'], {
    cwd: folder,
    env: {
      HOME: folder,
      TEAMSAPPTESTER_BROWSER: 'none',
      M365_AGENTS_PLAYGROUND_CONFIG_PATH: join(folder, 'playground.yml'),
      M365_AGENTS_PLAYGROUND_LOGFILE: join(folder, 'playground.log'),
      APPLICATION_INSIGHTS_NO_STATSBEAT: 'true',
      PLAYGROUND_LOCALE: locale,
    },
    stdio: ['pipe', 'pipe', 'pipe'],
  })
}

/** The window's address, once it answers. The process writes its port. */
async function answering(child: Child): Promise<string> {
  const timeout = AbortSignal.timeout(patience.start)
  const lines = createInterface({ input: child.stdout })
  const ended = once(child, 'exit', { signal: timeout }).then(() => undefined)
  const listening = once(lines, 'line', { signal: timeout }).then(
    ([line]) => /^Listening on (\d+)$/.exec(String(line))?.[1],
  )
  const port = await Promise.race([listening, ended])
  if (port === undefined) throw new Error('it stopped before it listened.')
  child.stdout.resume()
  const url = `http://127.0.0.1:${port}`
  // Its page is available before its connection to the bot.
  while (!(await answers(`${url}/_internal/v1/config`, timeout))) {
    if (child.exitCode !== null) throw new Error('it stopped before it answered.')
    await setTimeout(100, undefined, { signal: timeout })
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

/** Why a window ended, in one line. A faulty configuration is only in its log file, a crash on stderr. */
async function endReason(child: Child, folder: string, errors: () => string): Promise<string> {
  const path = join(folder, 'playground.log')
  const log = await readFile(path, 'utf8').catch(() => '')
  const reason = /^error Reason: (.+)$/m.exec(log)?.[1] ?? /^\w*Error.*$/m.exec(errors())?.[0]
  return reason?.slice(0, 300) ?? `${child.signalCode ?? `exit code ${child.exitCode}`}, see ${path}`
}

function read(stream: Readable): () => string {
  let text = ''
  stream.on('data', (chunk: Buffer) => {
    text = (text + chunk.toString()).slice(-4_000)
  })
  return () => text
}

const report = (sentence: string): void => {
  process.stderr.write(`${sentence}\n`)
}
const ignore = (): void => {}
