import { readFileSync, writeFileSync } from 'node:fs'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { type Permission, permissions } from '../../src/microsoft365/index.ts'
import table from '../../src/simulator/graph/permissions.json' with { type: 'json' }
import { contoso as organisation } from '../../src/simulator/tenant/contoso.ts'
import { connectTo } from '../support/microsoft365.ts'
import { brokenFeatures } from '../support/permission-walk.ts'
import { startTenant, type TestTenant } from '../support/simulated-tenant.ts'
import { ask, consent } from '../support/simulator.ts'

const docs = new URL('../../docs/permissions.md', import.meta.url)
const readme = new URL('../../README.md', import.meta.url)
const serviceNames = { graph: 'Microsoft Graph', sharePoint: 'SharePoint', exchange: 'Exchange Online' } as const
const [teamsApp] = organisation.teamsApps
let contoso: TestTenant
beforeAll(async () => {
  contoso = await startTenant({ siteReadySeconds: 0 })
})
const restore = () => ask('DELETE', `${contoso.simulator.url}/control/consents`)
afterEach(restore)
afterAll(() => contoso.close())

const resourceOf = ({ service }: Pick<Permission, 'service'>) => service.toLowerCase()
const grantedFor = (service: Permission['service']) =>
  permissions.filter((one) => one.service === service).map(({ name }) => name)
/** Takes one permission away. New connections have tokens without it. */
const remove = ({ name, service }: Permission) =>
  consent(
    contoso.simulator,
    resourceOf({ service }),
    grantedFor(service).filter((one) => one !== name),
  )
const connect = (more: Parameters<typeof connectTo>[1] = {}) =>
  connectTo(contoso.simulator.url, { teamsAppId: teamsApp?.id, ...more })
const problemsOf = async (connection: ReturnType<typeof connect>) =>
  (await connection.tenant.health()).flatMap(({ problem }) => problem ?? [])

describe('the documented permissions', () => {
  it('are what the simulated organisation has granted', async () => {
    const { body } = await ask('GET', `${contoso.simulator.url}/control/consents`)
    for (const service of ['graph', 'sharePoint', 'exchange'] as const)
      expect(body[resourceOf({ service })]).toEqual(grantedFor(service))
  })

  it('are sufficient for everything that the product does', async () => {
    await contoso.forgetCalls()
    expect(await brokenFeatures(connect())).toEqual(new Map())
    expect(await problemsOf(connect())).toEqual([])
    expect(callsOf(permissions)).toEqual([...new Set((await contoso.calls()).flatMap(documented))].toSorted())
  })

  it('name for each call of Graph one that Microsoft accepts', () => {
    const accepted: Readonly<Record<string, { application: string[] }>> = table.calls
    for (const { name, calls } of permissions.filter(({ service }) => service === 'graph')) {
      for (const call of calls) {
        const key = Object.keys(accepted).find((one) => shape(one) === shape(call))
        expect([call, accepted[key ?? '']?.application.map((one) => one.replace('*', ''))]).toEqual([
          call,
          expect.arrayContaining([name]),
        ])
      }
    }
  })

  it('are each needed: the documentation shows what stops without it, and the messages', { timeout: 60_000 }, async () => {
    const rows: string[] = []
    for (const one of permissions) {
      await restore()
      await remove(one)
      const warned: string[] = []
      const connection = connect({ warn: (_, { err }: { err?: Error }) => warned.push(err?.message ?? '') })
      const broken = await brokenFeatures(connection)
      const [health, ...others] = await problemsOf(connection)
      const messages = [...broken.values(), ...warned].filter(Boolean)
      const stops = [...broken.keys(), ...(warned.length > 0 ? ['app installation'] : [])]
      expect(others).toEqual([])
      expect(stops).not.toEqual([])
      expect(health).toContain(one.name)
      for (const message of messages) expect(message).toContain(one.name)
      rows.push(`| \`${one.name}\` | ${stops.join(', ')} | ${health} | ${messages[0]} |`)
    }
    const lines = permissions.map(({ name, service, kind, purpose, setting, calls }) => {
      const needed = setting === undefined ? 'always' : `with \`${setting}\``
      return `| ${serviceNames[service]} | \`${name}\` | ${kind} | ${needed} | ${purpose} | ${calls.join('<br>')} |`
    })
    compare(docs, {
      permissions: ['| service | name | kind | needed | it … | calls |', '|---|---|---|---|---|---|', ...lines],
      removed: [
        '| missing | what stops | `admin health`, `GET /admin/v1/health` and the log at start-up | the first failed request, on cards for admins |',
        '|---|---|---|---|',
        ...rows,
      ],
    })
  })

  it('are the same in the README', () => {
    const rows = (['graph', 'sharePoint', 'exchange'] as const).map((service) => {
      const names = permissions
        .filter((one) => one.service === service)
        .map(({ name, kind, setting }) => {
          const role = kind === 'directory role' ? `the directory role ${name}` : `\`${name}\``
          return setting === undefined ? role : `${role} (with \`${setting}\`)`
        })
      return `| ${serviceNames[service]} | ${names.join(', ')} |`
    })
    compare(readme, { permissions: ['| service | permissions |', '|---|---|', ...rows] })
  })
})

/** The documented calls of Graph. */
const callsOf = (some: readonly Permission[]): string[] =>
  some
    .filter(({ service }) => service === 'graph')
    .flatMap(({ calls }) => calls)
    .toSorted()

/** The documented call that a logged call is; a call that no permission documents stays as it is. */
function documented({ operation, method, path }: { operation: string; method: string; path: string }): string[] {
  if (!operation.startsWith('graph.')) return []
  const bare = path.replace(/\?.*$/s, '').replace('/v1.0', '').replace(/\(uniqueName=[^)]*\)/, '/x')
  const made = `${method} ${bare}`
  const known = callsOf(permissions).filter((call) => {
    const escaped = call.replace(/[.$]/g, '\\$&').replace('{path}', '.+').replace(/\{\w+\}/g, '[^/]+')
    return new RegExp(`^${escaped}$`).test(made)
  })
  // `/sites/getAllSites` has the form of a site's id, too.
  return [known.find((call) => !call.includes('{')) ?? known[0] ?? made]
}

/** A call without the names of its parameters, as Microsoft's table and our list write them differently. */
const shape = (call: string): string =>
  call
    .replace(/\{\w+\}/g, '{}')
    .replace('/$ref', '')
    .toLowerCase()

/** Compares the marked tables of a document; UPDATE_DOCS writes them. */
function compare(file: URL, tables: Readonly<Record<string, readonly string[]>>): void {
  const before = readFileSync(file, 'utf8')
  const wanted = Object.entries(tables).reduce((text, [name, lines]) => {
    const [head = '', rest = ''] = text.split(`<!-- ${name} -->\n`)
    const tail = rest.slice(rest.indexOf(`<!-- /${name} -->`))
    return `${head}<!-- ${name} -->\n${lines.join('\n')}\n${tail}`
  }, before)
  if (process.env['UPDATE_DOCS']) writeFileSync(file, wanted)
  expect(readFileSync(file, 'utf8')).toBe(wanted)
}
