import { execFileSync, spawnSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import recorded from '../../manifest/content.json' with { type: 'json' }
import { checkReport } from '../../src/app/check/report.ts'
import { freePort } from '../../src/app/free-port.ts'
import { permissions } from '../../src/microsoft365/index.ts'
import { administrator } from '../support/administrator.ts'
import { publishApp } from '../support/app-packages.ts'
import { bareEnvironment } from '../support/bare-environment.ts'
import { type ProductProcess, startProduct } from '../support/process.ts'
import { consent } from '../support/simulator.ts'
import { people, scopes } from '../support/teams-user.ts'
import { tokenFor } from '../support/tenant-control.ts'
import { until } from '../support/until.ts'

const build = fileURLToPath(new URL('../../deploy/build.ts', import.meta.url))
/** Contoso's template “Working group”: a team site without approval. */
const workingGroup = 'c3d1e5f7-0b1a-4a3e-b5d4-7e6f5a4b3c33'

describe('the bundle of npm run build', () => {
  const folder = mkdtempSync(join(inject('runFolder'), 'bundle-'))
  const bundle = join(folder, 'dist')
  const home = join(folder, 'empty')
  let service: ProductProcess
  let url = ''
  let simulatorUrl = ''

  beforeAll(async () => {
    mkdirSync(home)
    execFileSync(process.execPath, [build, bundle], { stdio: 'pipe' })
    const simulatorPort = await freePort()
    simulatorUrl = `http://127.0.0.1:${simulatorPort}`
    service = await startProduct(join(bundle, 'main.js'), {
      cwd: home,
      up: /^Quartermaster answers/,
      variables: { PORT: '0', SIMULATOR_PORT: String(simulatorPort), SIMULATOR_DIRECTORY_SECONDS: '0' },
    })
    url = service.printed.join('\n').match(/answers at (\S+)/)?.[1] ?? ''
  })
  afterAll(() => service?.kill())

  it('starts from an empty folder, without node_modules and without chat windows', async () => {
    expect((await fetch(`${url}/readyz`)).status).toBe(200)
    expect(existsSync(join(home, 'data'))).toBe(true)
    expect(service.printed.join('\n')).not.toContain('windows')
  })

  const codeFiles = () => readdirSync(bundle).filter((name) => /\.c?js$/.test(name))

  it('has only ASCII characters in its code, so that V8 keeps one byte for each of them', () => {
    const others = codeFiles().filter((name) => readFileSync(join(bundle, name)).some((byte) => byte > 127))
    expect(others).toEqual([])
  })

  it('has files of their own for MSAL and the template engine, which no other file reads at a start', () => {
    const late = codeFiles().filter((name) => /^(chunks-msal-|template-engine)/.test(name))
    const early = new RegExp(`(from|import) ?["']\\./(${late.join('|')})["']`)
    const readers = codeFiles().filter((name) => early.test(readFileSync(join(bundle, name), 'utf8')))
    expect(late).toHaveLength(2)
    expect(readers).toEqual([])
  })

  it('has the files of the API page', async () => {
    for (const file of [
      '',
      '/swagger-ui.css',
      '/swagger-ui-bundle.js',
      '/start.js',
      '/oauth2-redirect.html',
      '/oauth2-redirect.js',
    ])
      expect((await fetch(`${url}/docs${file}`)).status).toBe(200)
  })

  it('creates a site', async () => {
    const token = await tokenFor(simulatorUrl, people.kim.id, scopes.collab)
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    const body = JSON.stringify({ displayName: 'Bundled', templateId: workingGroup })
    const answer = await fetch(`${url}/collab/v1/spo`, { method: 'POST', headers, body })
    const { requestId } = (await answer.json()) as { requestId: string }
    expect(answer.status).toBe(202)
    const isReady = async () => {
      const read = await fetch(`${url}/requests/v1/${requestId}`, { headers })
      return ((await read.json()) as { status: string }).status === 'succeeded' || undefined
    }
    expect(await until(isReady, 'the site')).toBe(true)
  })

  it('contains the app version that npm run check:tenant compares with the catalogue', async () => {
    const tenant = { url: simulatorUrl }
    const graph = [...permissions.filter(({ service }) => service === 'graph').map(({ name }) => name)]
    await consent(tenant, 'graph', [...graph, 'AppCatalog.Read.All'])
    const TEAMS_APP_ID = await publishApp(await administrator(tenant), randomUUID(), '0.1.48213')
    const env = { ...bareEnvironment, SIMULATOR_PORT: new URL(simulatorUrl).port, TEAMS_APP_ID }
    const { stdout } = spawnSync(process.execPath, [join(bundle, 'check-tenant.js'), '--json'], { cwd: home, env })
    const { parts } = checkReport.parse(JSON.parse(String(stdout)))
    const { number } = recorded
    expect(parts.find(({ name }) => name === 'catalogueApp')).toMatchObject({ ownVersion: `0.${number}` })
  })

  it('stops in order', async () => {
    expect(await service.stop()).toBe(0)
  })

  it('compiles its code into a folder, and then a start compiles and writes nothing', async () => {
    const flags = ['--initial-heap-size=128']
    const compiled = join(folder, 'compiled')
    const written = () =>
      readdirSync(compiled, { recursive: true, encoding: 'utf8' }).map((name) => {
        const { size, mtimeMs } = statSync(join(compiled, name))
        return { name, size, mtimeMs }
      })
    execFileSync(process.execPath, [...flags, join(bundle, 'compile.js'), compiled], { stdio: 'pipe' })
    const before = written()
    const again = await startProduct(join(bundle, 'main.js'), {
      ...{ cwd: home, flags, up: /^Quartermaster answers/ },
      variables: { PORT: '0', SIMULATOR_PORT: '0', PLAYGROUND: 'off', NODE_COMPILE_CACHE: compiled },
    })
    // The template engine and MSAL load shortly after the service is ready.
    await setTimeout(2000)
    expect(await again.stop()).toBe(0)
    expect(before.length).toBeGreaterThan(20)
    expect(written()).toEqual(before)
  })

  it('refuses a production start with a list of all missing settings, and without paths of the sources', () => {
    const env = { ...bareEnvironment, MODE: 'production' }
    const { status, stderr } = spawnSync(process.execPath, [join(bundle, 'main.js')], { cwd: home, env })
    expect(status).toBe(1)
    for (const name of ['MICROSOFT_APP_ID', 'CLIENT_ID', 'TENANT_ID', 'ADMINS', 'BASE_URL'])
      expect(String(stderr)).toContain(name)
    expect(String(stderr)).not.toContain('.ts')
  })

  it.each(['setup', 'check-tenant'])('has the command %s', (name) => {
    const { status, stdout, stderr } = spawnSync(process.execPath, [join(bundle, `${name}.js`), '--help'], {
      ...{ cwd: home, env: bareEnvironment, encoding: 'utf8' },
    })
    expect([status, stderr]).toEqual([0, ''])
    expect(stdout).toMatch(/^Usage: .*(setup|check:tenant)/)
  })

  it('has the icons of the app package, which setup builds', () => {
    for (const name of ['color.png', 'outline.png'])
      expect(readFileSync(join(bundle, 'files/manifest', name))).toEqual(readFileSync(`manifest/${name}`))
  })

  it('contains the licences of its packages', () => {
    const licences = readFileSync(join(bundle, 'LICENSES.txt'), 'utf8')
    for (const name of ['botbuilder', '@electric-sql/pglite', 'restify', 'pg-boss', 'swagger-ui-dist'])
      expect(licences).toMatch(new RegExp(`^${name} \\d`, 'm'))
  })
})
