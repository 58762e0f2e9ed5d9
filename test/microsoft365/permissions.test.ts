import { readFileSync, writeFileSync } from 'node:fs'
import { afterEach, describe, expect, it } from 'vitest'
import { sentenceOf } from '../../src/core/index.ts'
import { type Permission, permissions } from '../../src/microsoft365/index.ts'
import table from '../../src/simulator/graph/permissions.json' with { type: 'json' }
import { contoso as organisation } from '../../src/simulator/tenant/contoso.ts'
import { approversGroup, connectTo, kim } from '../support/microsoft365.ts'
import { brokenFeatures } from '../support/permission-walk.ts'
import { withTenant } from '../support/simulated-tenant.ts'
import { ask, consent } from '../support/simulator.ts'

const docs = new URL('../../docs/permissions.md', import.meta.url)
const serviceNames = { graph: 'Microsoft Graph', sharePoint: 'SharePoint', exchange: 'Exchange Online' } as const
const [teamsApp] = organisation.teamsApps
const contoso = withTenant({ siteReadySeconds: 0 })
const restore = () => ask('DELETE', `${contoso.simulator.url}/control/consents`)
afterEach(restore)

const resourceOf = ({ service }: Pick<Permission, 'service'>) => service.toLowerCase()
const grantedFor = (service: Permission['service']) =>
  permissions.filter((one) => one.service === service).map(({ name }) => name)
/** Removes one permission. New connections have tokens without it. */
const remove = ({ name, service }: Permission) =>
  consent(
    contoso.simulator,
    resourceOf({ service }),
    grantedFor(service).filter((one) => one !== name),
  )
const connect = (more: Parameters<typeof connectTo>[1] = {}) =>
  connectTo(contoso.simulator.url, { teamsAppId: teamsApp?.id, ...more })
const problemsOf = async (connection: ReturnType<typeof connect>) =>
  (await connection.tenant.health()).flatMap(({ problem }) => (problem ? sentenceOf(problem) : []))

describe('the documented permissions', () => {
  it('are those that the simulated organisation has granted', async () => {
    const { body } = await ask('GET', `${contoso.simulator.url}/control/consents`)
    for (const service of ['graph', 'sharePoint', 'exchange'] as const)
      expect(body[resourceOf({ service })]).toEqual(grantedFor(service))
  })

  it('are sufficient for all functions of the product', async () => {
    await contoso.forgetCalls()
    expect(await brokenFeatures(connect())).toEqual(new Map())
    expect(await problemsOf(connect())).toEqual([])
    const probes = await connect().probes.permissions(AbortSignal.timeout(30_000))
    expect(probes.filter(({ problem }) => problem !== undefined)).toEqual([])
    expect(callsOf(permissions)).toEqual([...new Set((await contoso.calls()).flatMap(documented))].toSorted())
  })

  it('are not reported as missing if an admin has granted a larger one', async () => {
    const larger = grantedFor('graph').map((name) => (name === 'Sites.Read.All' ? 'Sites.ReadWrite.All' : name))
    await consent(contoso.simulator, 'graph', larger)
    expect(await problemsOf(connect())).toEqual([])
  })

  it('include for each call of Graph a permission that Microsoft accepts', () => {
    const accepted: Readonly<Record<string, { application: string[] }>> = table.calls
    for (const { name, calls, orAnyOf = [] } of permissions.filter(({ service }) => service === 'graph')) {
      for (const call of calls) {
        const key = Object.keys(accepted).find((one) => shape(one) === shape(call))
        expect([call, accepted[key ?? '']?.application.map((one) => one.replace('*', ''))]).toEqual([
          call,
          expect.arrayContaining([name, ...orAnyOf]),
        ])
      }
    }
  })

  it('are each needed: the docs show the functions that stop without it, and the messages', async () => {
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
      return `| ${serviceNames[service]} | \`${name}\` | ${kind} | ${needed} | ${sentenceOf(purpose)} | ${calls.join('<br>')} |`
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
})

describe('a permission that is granted while the service runs', () => {
  const groups = permissions.filter(({ name }) => name === 'Group.ReadWrite.All')
  const signIns = async () => (await contoso.calls()).filter(({ operation }) => operation === 'login.token').length
  const connection = (now: () => number) => connect({ now })

  it('takes effect with the next call, by one fresh token', async () => {
    for (const one of groups) await remove(one)
    const { directory } = connection(() => 0)
    await directory.person(kim.id)
    await restore()
    await contoso.forgetCalls()
    expect(await directory.groupName(approversGroup)).toBe('Site approvers')
    expect(await signIns()).toBe(1)
    expect((await contoso.calls()).map(({ status }) => status)).toEqual([403, 200, 200])
  })

  it('costs at most one fresh token in 15 seconds while it is missing, also for concurrent calls', async () => {
    for (const one of groups) await remove(one)
    let now = 0
    const { directory, tenant } = connection(() => now)
    const ask = () => directory.groupName(approversGroup).catch((error: unknown) => error)
    await directory.person(kim.id)
    await contoso.forgetCalls()
    const [failure] = await Promise.all([ask(), ask(), ask()])
    expect(failure).toMatchObject({ code: 'permission-missing', retryable: false, status: 403 })
    await ask()
    await tenant.health()
    // One token for the calls, one for the health check, and the first sign-ins for SharePoint and Exchange.
    expect(await signIns()).toBe(4)
    await restore()
    expect(await ask()).toMatchObject({ code: 'permission-missing' })
    now += 15_000
    expect(await ask()).toBe('Site approvers')
  })

  it('takes effect with a retry, although the health was checked just before the grant', async () => {
    for (const one of groups) await remove(one)
    let now = 0
    const { directory, tenant } = connection(() => now)
    const ask = () => directory.groupName(approversGroup).catch((error: unknown) => error)
    await ask()
    now += 40_000
    await tenant.health()
    await restore()
    expect(await ask()).toBe('Site approvers')
  })

  it('appears in the health report without any call that needs it', async () => {
    for (const one of groups) await remove(one)
    let now = 0
    const connected = connection(() => now)
    expect(await problemsOf(connected)).toEqual([expect.stringContaining('Group.ReadWrite.All')])
    await restore()
    now += 15_000
    expect(await problemsOf(connected)).toEqual([])
  })

  it('does not explain a refusal of a token with all permissions: one fresh token in five minutes', async () => {
    let now = 0
    const { directory } = connection(() => now)
    const ask = () => directory.groupName(approversGroup).catch((error: unknown) => error)
    await ask()
    await contoso.fault({ operation: 'graph.groups.get', kind: 'failBeforeCommit', status: 403, count: undefined })
    await contoso.forgetCalls()
    for (const minutes of [0, 1, 4.9]) {
      now = minutes * 60_000
      expect(await ask()).toMatchObject({ code: 'Forbidden', retryable: false })
    }
    expect(await signIns()).toBe(1)
    now = 300_000
    await ask()
    expect(await signIns()).toBe(2)
    await contoso.healthy()
  })
})

describe('health', () => {
  it('names all missing permissions of a service at once', async () => {
    await consent(contoso.simulator, 'graph', ['User.Read.All', 'TeamsAppInstallation.ReadWriteSelfForUser.All'])
    const [graph] = await connect().tenant.health()
    expect(graph).toMatchObject({ name: 'graph', trouble: 'permissionMissing' })
    const names = 'Group.ReadWrite.All, User.EnableDisableAccount.All, and Sites.Read.All'
    expect(graph?.problem && sentenceOf(graph.problem)).toContain(
      `lacks the application permissions ${names}. Grant them with admin consent.`,
    )
  })

  it('is amber for a missing permission of an optional feature, and healthy when the feature is off', async () => {
    await consent(contoso.simulator, 'graph', grantedFor('graph').slice(0, 4))
    const [graph] = await connect().tenant.health()
    expect(graph).toMatchObject({ trouble: 'optionalPermissionMissing' })
    expect(await problemsOf(connect({ teamsAppId: undefined }))).toEqual([])
  })
})

/** Returns the documented calls of Graph. */
const callsOf = (some: readonly Permission[]): string[] =>
  some
    .filter(({ service }) => service === 'graph')
    .flatMap(({ calls }) => calls)
    .toSorted()

/** Returns the documented call for a logged call, or the logged call unchanged if no permission documents it. */
function documented({ operation, method, path }: { operation: string; method: string; path: string }): string[] {
  if (!operation.startsWith('graph.')) return []
  const bare = path
    .replace(/\?.*$/s, '')
    .replace('/v1.0', '')
    .replace(/\(uniqueName=[^)]*\)/, '/x')
  const made = `${method} ${bare}`
  const known = callsOf(permissions).filter((call) => {
    const escaped = call
      .replace(/[.$]/g, '\\$&')
      .replace('{path}', '.+')
      .replace(/\{\w+\}/g, '[^/]+')
    return new RegExp(`^${escaped}$`).test(made)
  })
  // The path `/sites/getAllSites` also matches the pattern of a site's id.
  return [known.find((call) => !call.includes('{')) ?? known[0] ?? made]
}

/** Replaces the names of a call's parameters, which differ between Microsoft's table and our list. */
const shape = (call: string): string =>
  call
    .replace(/\{\w+\}/g, '{}')
    .replace('/$ref', '')
    .toLowerCase()

/** Compares the marked tables of a document. UPDATE_DOCS=1 writes them. */
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
