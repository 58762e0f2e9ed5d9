import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { freePort } from './free-port.ts'
import type { ServerCertificate } from './postgres-server.ts'
import { type RoundRobin, startRoundRobin } from './round-robin.ts'

const source = (path: string): string => fileURLToPath(new URL(`../${path}`, import.meta.url))

type Variables = Record<string, string | undefined>

/** A process of ours apart from our process group: Ctrl-C reaches us alone, and we end the others in their order. */
export interface Apart {
  readonly child: ChildProcess
  /** The lines that it printed until it was up. */
  readonly printed: readonly string[]
  /** Resolves when it is gone, however that came. */
  readonly ended: Promise<void>
  /** Asks it to end in order, and waits; after 15 s it is killed. */
  stop(): Promise<void>
}

/** Starts `node <path below test/>` and waits for a line that says it is up. Throws with its complaints when it ends before. */
export async function startApart(
  path: string,
  up: RegExp,
  { endsBy = 'signal', ...options }: { cwd: string; env: Variables; endsBy?: 'signal' | 'input' },
): Promise<Apart> {
  const child = spawn(process.execPath, [source(path)], { ...options, detached: true, stdio: ['pipe', 'pipe', 'pipe'] })
  const endWithUs = () => child.kill('SIGKILL')
  process.once('exit', endWithUs)
  const ended = once(child, 'close').then(() => void process.removeListener('exit', endWithUs))
  let complaints = ''
  child.stderr.on('data', (data) => {
    complaints = `${complaints}${String(data)}`.slice(-4000)
    if (options.env['LOG_LEVEL'] !== 'fatal') process.stderr.write(data)
  })
  const printed: string[] = []
  const isUp = new Promise<true>((resolve) => {
    createInterface({ input: child.stdout }).on('line', (line) => {
      printed.push(line)
      if (up.test(line)) resolve(true)
    })
  })
  if (!(await Promise.race([isUp, ended.then(() => false)]))) throw new Error(`${path} ended: ${complaints}`)
  return {
    child,
    printed,
    ended,
    async stop() {
      if (endsBy === 'input') child.stdin.end()
      else child.kill('SIGTERM')
      const late = setTimeout(endWithUs, 15_000)
      await ended
      clearTimeout(late)
    },
  }
}

/** A PostgreSQL server that is thrown away in the end; without `fsync` it does not flush, with `tls` it takes nothing else. */
export async function startDatabase(
  cwd: string,
  { fsync = false, tls }: { fsync?: boolean; tls?: ServerCertificate } = {},
): Promise<{ url: string; stop(): Promise<void> }> {
  const flags = { POSTGRES_FSYNC: fsync ? 'on' : 'off', ...(tls && { POSTGRES_TLS: JSON.stringify(tls) }) }
  const env = { ...process.env, ...flags }
  const options = { cwd, env, endsBy: 'input' } as const
  const { printed, stop } = await startApart('support/postgres-process.ts', /^postgres:/, options)
  return { url: printed[0] ?? '', stop }
}

/** The simulated tenant; `variables` say where it is, for the service. */
export async function startTenant(cwd: string, env: Variables) {
  const { printed, stop } = await startApart('../src/simulator/main.ts', /^EXCHANGE_URL=/, { cwd, env })
  return { variables: Object.fromEntries(printed.map((line) => line.split('=') as [string, string])), stop }
}

/** Several processes of the service over one database, behind one address. */
export interface ReplicaSet {
  readonly proxy: RoundRobin
  /** Each replica's own address. */
  readonly urls: readonly string[]
  pid(replica: number): number | undefined
  /** Restarts one after another, each when the one before takes calls again. */
  restartAll(): Promise<void>
  /** Resolves when all of them take calls. */
  allReady(): Promise<void>
  stop(): Promise<void>
}

export interface ReplicaOptions {
  readonly count: number
  /** Of the address that callers know. */
  readonly port?: number
  readonly cwd: string
  readonly env: Variables
  readonly log: (line: string) => void
}

/** Starts all replicas at once. One that dies is started again, after a second. */
export async function startReplicas({ count, port, cwd, env, log }: ReplicaOptions): Promise<ReplicaSet> {
  const ports = await Promise.all(Array.from({ length: count }, () => freePort()))
  const urls = ports.map((one) => `http://127.0.0.1:${one}`)
  const proxy = await startRoundRobin(urls, port)
  const running: (Apart | undefined)[] = []
  let stopping = false

  async function start(replica: number): Promise<void> {
    const variables = { ...env, PORT: String(ports[replica]), BASE_URL: proxy.url, PLAYGROUND: 'off' }
    const apart = await startApart('../src/main.ts', /^Quartermaster answers/, { cwd, env: variables })
    // Told to stop while this one was starting.
    if (stopping) return apart.stop()
    running[replica] = apart
    apart.ended.then(() => running[replica] === apart && revive(replica)).catch(() => undefined)
  }
  function revive(replica: number): void {
    running[replica] = undefined
    if (stopping) return
    proxy.takeBack(urls[replica] ?? '')
    log(`Replica ${replica + 1} has died and is started again.`)
    setTimeout(() => {
      if (stopping) return
      start(replica).catch((error: Error) => {
        log(error.message)
        revive(replica)
      })
    }, 1000)
  }
  async function ready(wanted: readonly string[]): Promise<void> {
    while (!stopping && !wanted.every((url) => proxy.ready().includes(url)))
      await new Promise((resolve) => setTimeout(resolve, 25))
  }
  async function restart(replica: number): Promise<void> {
    const url = urls[replica] ?? ''
    await proxy.leaveOut(url)
    // One that has just died is being started: two of them would want the same port.
    while (!stopping && running[replica] === undefined) await new Promise((resolve) => setTimeout(resolve, 25))
    const before = running[replica]
    running[replica] = undefined
    await before?.stop()
    await start(replica)
    proxy.takeBack(url)
    await ready([url])
  }
  const stop = async () => {
    stopping = true
    await Promise.all(running.map((one) => one?.stop()))
    await proxy.close()
  }

  try {
    await Promise.all(urls.map((_, replica) => start(replica)))
    await ready(urls)
  } catch (error) {
    await stop()
    throw error
  }
  return {
    proxy,
    urls,
    pid: (replica) => running[replica]?.child.pid,
    async restartAll() {
      for (const [replica] of urls.entries()) if (!stopping) await restart(replica)
    },
    allReady: () => ready(urls),
    stop,
  }
}
