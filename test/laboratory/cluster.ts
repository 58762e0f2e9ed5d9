import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { freePort } from '../../src/app/free-port.ts'
import { bareEnvironment } from '../support/bare-environment.ts'
import { startBalancer as start, type startBalancer } from './balancer.ts'
import type { History } from './history.ts'

const entry = fileURLToPath(new URL('../../src/main.ts', import.meta.url))

/** The replicas of the service. Each is a process that can be killed and started at any time. */
export interface Cluster {
  /** The common address of all replicas. */
  readonly url: string
  readonly size: number
  /** Starts a replica. Settles when it reports that it is ready, or at once when it is killed before. */
  start(replica: number): Promise<void>
  /** Stops a replica (SIGTERM), and waits until it has stopped. */
  stop(replica: number): Promise<void>
  /** Kills a replica, like a power cut. */
  kill(replica: number): Promise<void>
  close(): Promise<void>
}

/** Prepares a number of replicas; `variables` returns their environment for their common address. */
export async function prepareCluster(
  { folder, size, history }: { folder: string; size: number; history: History },
  variables: (url: string) => Record<string, string>,
): Promise<Cluster> {
  const ports = await Promise.all(Array.from({ length: size }, () => freePort()))
  const balancer: Awaited<ReturnType<typeof startBalancer>> = await start(ports)
  const children = new Map<number, ChildProcess>()
  return {
    url: balancer.url,
    size,
    async start(replica) {
      const dataDir = join(folder, `service-${replica}`)
      mkdirSync(dataDir, { recursive: true })
      const own = { ...bareEnvironment, PORT: String(ports[replica]), DATA_DIR: dataDir }
      const env = { ...own, ...variables(balancer.url) }
      const child = spawn(process.execPath, [entry], { cwd: dataDir, env, stdio: ['ignore', 'pipe', 'pipe'] })
      children.set(replica, child)
      let complaints = ''
      child.stderr.on('data', (data) => {
        complaints = (complaints + String(data)).slice(-2000)
        if (process.env['TEST_LOG_LEVEL']) process.stderr.write(data)
      })
      const lines = createInterface({ input: child.stdout })
      const up = new Promise<boolean>((resolve) => {
        lines.on('line', (line) => /^Quartermaster answers/.test(line) && resolve(true))
      })
      const isUp = await Promise.race([up, once(child, 'close').then(() => false)])
      if (isUp) history.note({ event: 'up', replica })
      else if (child.signalCode !== 'SIGKILL') throw new Error(`the service stopped unexpectedly: ${complaints}`)
    },
    async stop(replica) {
      const child = children.get(replica)
      if (child?.exitCode !== null) return
      const closed = once(child, 'close')
      child.kill('SIGTERM')
      await closed
    },
    async kill(replica) {
      const child = children.get(replica)
      if (child?.exitCode !== null || child.signalCode !== null)
        throw new Error(`replica ${replica} stopped unexpectedly: code ${child?.exitCode}`)
      const closed = once(child, 'close')
      history.note({ event: 'killed', replica })
      child.kill('SIGKILL')
      await closed
    },
    async close() {
      for (const child of children.values()) child.kill('SIGKILL')
      await balancer.close()
    },
  }
}
