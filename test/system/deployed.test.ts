import { execFileSync, spawnSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
} from 'node:fs'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { freePort } from '../../src/app/free-port.ts'
import { bareEnvironment } from '../support/bare-environment.ts'
import { newDatabaseUrl } from '../support/database.ts'
import { azure, imageStart, podContainer, queries, queryOf, type Start, unitStart } from '../support/deploy-files.ts'
import { type ProductProcess, startProcess } from '../support/process.ts'
import { productionSettings } from '../support/production.ts'
import { until } from '../support/until.ts'

/** Root can act as another user, who owns no files. Other users cannot. */
const isRoot = userInfo().uid === 0
const user = isRoot ? { uid: 65_534, gid: 65_534 } : { uid: userInfo().uid, gid: userInfo().gid }
const build = fileURLToPath(new URL('../../deploy/build.ts', import.meta.url))

/**
 * Starts the service as `deploy/` does, in a read-only folder with only the bundle, Node and the two files of setup.
 * The tenant does not answer, as during an outage of Microsoft 365.
 */
describe('a production service, started like the deploy files', () => {
  // The folder is directly in the temporary folder, so that another user can reach it.
  const folder = mkdtempSync(join(tmpdir(), 'quartermaster-deployed-'))
  const [bundle, credentials, home] = ['opt', 'credentials', 'home'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ]
  const node = join(folder, 'node')
  let settings: Record<string, string>
  let port: string

  beforeAll(async () => {
    chmodSync(folder, 0o755)
    execFileSync(process.execPath, [build, bundle], { stdio: 'pipe' })
    // Permissions as after a copy by root: everybody can read, nobody can write.
    execFileSync('chmod', ['-R', 'a+rX,a-w', bundle])
    copyFileSync(process.execPath, node)
    chmodSync(node, 0o555)
    mkdirSync(home, { mode: 0o555 })
    mkdirSync(credentials, { mode: 0o755 })
    port = String(await freePort())
    settings = {
      ...productionSettings(credentials, await newDatabaseUrl()),
      // Settings that setup wrote for `npm start` in its own folder. The deploy files override them.
      ...{ MODE: 'local', CLIENT_CERTIFICATE_PATH: 'certificate.pem', TEMPLATES_FILE: 'templates.json' },
      NODE_DISABLE_COMPILE_CACHE: '1',
    }
    for (const name of ['certificate.pem', 'templates.json']) chownSync(join(credentials, name), user.uid, user.gid)
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  /** Runs a command as another user. Its own settings precede those of the file, as in each deploy file. */
  const start = ({ command, settings: own }: Start, cwd: string): Promise<ProductProcess> => {
    const place = (word: string): string =>
      word.replace(/^(\/usr\/bin\/)?node$/, node).replace('/opt/quartermaster', bundle)
    return startProcess(command.map(place), {
      ...{ cwd, user, up: /^Quartermaster answers/ },
      variables: { ...settings, ...own, PORT: port },
    })
  }
  const get = (path: string) =>
    fetch(`http://127.0.0.1:${port}${path}`, { headers: { authorization: `Bearer ${settings['METRICS_TOKEN']}` } })
  const healthCheck = (): number | null => {
    const [, ...words] = imageStart().healthCheck
    return spawnSync(node, words, { env: { ...bareEnvironment, PORT: port }, ...user }).status
  }

  it('by the systemd unit is ready, answers all probes, and stops in order without a written file', async () => {
    const service = await start(unitStart(credentials), home)
    try {
      if (existsSync('/proc/self/status'))
        expect(readFileSync(`/proc/${service.pid}/status`, 'utf8')).toMatch(new RegExp(`^Uid:\\s+${user.uid}\\s`, 'm'))
      const { startupProbe, readinessProbe, livenessProbe } = podContainer()
      const probes = [startupProbe, readinessProbe, livenessProbe, ...(azure().template.containers[0].probes ?? [])]
      expect(probes).toHaveLength(6)
      for (const probe of probes) expect((await get(probe?.httpGet.path ?? 'no probe')).status).toBe(200)
    } finally {
      expect(await service.stop()).toBe(0)
    }
    expect(readdirSync(home)).toEqual([])
    expect(readdirSync(folder).sort()).toEqual(['credentials', 'home', 'node', 'opt'])
  })

  it('has every metric of the alerts and panels', async () => {
    const service = await start(unitStart(credentials), home)
    try {
      const names = new Set(queries().flatMap(({ expression }) => queryOf(expression).metrics.map(({ name }) => name)))
      // Prometheus itself creates the metric `up`.
      names.delete('up')
      expect(names.size).toBeGreaterThan(15)
      const missing = async () => {
        const text = await (await get('/metrics')).text()
        return [...names].filter((name) => !new RegExp(`^# TYPE ${name.replace(/_bucket$/, '')} `, 'm').test(text))
      }
      await until(async () => (await missing()).length === 0 || undefined, 'the metrics', 20).catch(() => undefined)
      expect(await missing()).toEqual([])
      expect((await fetch(`http://127.0.0.1:${port}/metrics`)).status).toBe(401)
    } finally {
      await service.stop()
    }
  })

  it('by the image passes its health check while it runs, and fails it afterwards', async () => {
    const { command, settings: own } = imageStart()
    const files = {
      CLIENT_CERTIFICATE_PATH: join(credentials, 'certificate.pem'),
      TEMPLATES_FILE: join(credentials, 'templates.json'),
    }
    // Loopback replaces the container's own network.
    const service = await start({ command, settings: { ...own, ...files, HOST: '127.0.0.1' } }, bundle)
    try {
      expect(healthCheck()).toBe(0)
    } finally {
      expect(await service.stop()).toBe(0)
    }
    expect(healthCheck()).toBe(1)
  })

  it('waits before it stops as Kubernetes requires, within the time of a pod', () => {
    const [, ...words] = podContainer().lifecycle?.preStop.exec.command ?? []
    const begin = performance.now()
    expect(spawnSync(node, words, { env: bareEnvironment, ...user }).status).toBe(0)
    const seconds = (performance.now() - begin) / 1000
    expect(seconds).toBeGreaterThan(4)
    // The service itself needs up to 10 seconds.
    expect(seconds + 10).toBeLessThan(30)
  })

  it('loads no code of the simulator or the chat windows', async () => {
    const local = localChunks(bundle)
    expect(local.length).toBeGreaterThan(0)
    chmodSync(bundle, 0o755)
    for (const name of local) rmSync(join(bundle, name))
    const service = await start(unitStart(credentials), home)
    expect((await get('/readyz')).status).toBe(200)
    expect(await service.stop()).toBe(0)
  })
})

/** Returns files of the bundle that contain modules of the simulator or of local mode. */
function localChunks(bundle: string): string[] {
  const isLocal = (source: string): boolean => /\/src\/(simulator|app\/local)\//.test(source)
  return readdirSync(bundle).flatMap((name) => {
    if (!name.endsWith('.js.map')) return []
    const { sources } = JSON.parse(readFileSync(join(bundle, name), 'utf8')) as { sources: string[] }
    return sources.some(isLocal) ? [name.slice(0, -'.map'.length)] : []
  })
}
