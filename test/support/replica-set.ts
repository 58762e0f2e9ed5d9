import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { freePort } from '../../src/app/free-port.ts'
import type { ServerCertificate } from './postgres-server.ts'
import { type RoundRobin, startRoundRobin } from './round-robin.ts'

const source = (path: string): string => fileURLToPath(new URL(`../${path}`, import.meta.url))

type Variables = Record<string, string | undefined>

/** A process outside of our process group: Ctrl-C reaches only this process, which stops the others in order. */
export interface Apart {
  readonly child: ChildProcess
  /** The lines that it printed until it was ready. */
  readonly printed: readonly string[]
  /** Resolves when the process has ended for any reason. */
  readonly ended: Promise<void>
  /** Stops the process in order, and waits. Kills it after 15 s. */
  stop(): Promise<void>
}

/**
 * Starts `node <path below test/>` and waits until it prints that it is ready. Throws with its error output when it
 * ends before.
 */
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

/**
 * Starts a PostgreSQL server that is deleted at the end; without `fsync` it does not flush, with `tls` it requires TLS.
 */
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

/** Starts the simulated tenant; `variables` contain its address for the service. */
export async function startTenant(cwd: string, env: Variables) {
  const { printed, stop } = await startApart('../src/simulator/main.ts', /^EXCHANGE_URL=/, { cwd, env })
  return { variables: Object.fromEntries(printed.map((line) => line.split('=') as [string, string])), stop }
}

/** Several processes of the service with one database and one address. */
export interface ReplicaSet {
  readonly proxy: RoundRobin
  /** The address of each replica. */
  readonly urls: readonly string[]
  pid(replica: number): number | undefined
  /** Restarts the replicas one after another; each restart waits until the previous replica accepts calls. */
  restartAll(): Promise<void>
  /** Resolves when all replicas accept calls. */
  allReady(): Promise<void>
  stop(): Promise<void>
}

export interface ReplicaOptions {
  readonly count: number
  /** The port of the common address. */
  readonly port?: number
  readonly cwd: string
  readonly env: Variables
  readonly log: (line: string) => void
}

/** Starts all replicas at the same time. Starts a dead replica again after a second. */
export async function startReplicas({ count, port, cwd, env, log }: ReplicaOptions): Promise<ReplicaSet> {
  const ports = await Promise.all(Array.from({ length: count }, () => freePort()))
  const urls = ports.map((one) => `http://127.0.0.1:${one}`)
  const proxy = await startRoundRobin(urls, port)
  const running: (Apart | undefined)[] = []
  let stopping = false

  async function start(replica: number): Promise<void> {
    const variables = { ...env, PORT: String(ports[replica]), BASE_URL: proxy.url, PLAYGROUND: 'off' }
    const apart = await startApart('../src/main.ts', /^Quartermaster answers/, { cwd, env: variables })
    // The set was stopped while this replica started.
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
    // A replica that has just died starts already. Two of them would need the same port.
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
