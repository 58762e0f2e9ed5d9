import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { readConfig } from '../../src/app/config.ts'
import { findEndpoints } from '../../src/app/endpoints.ts'
import { serviceIdOf } from '../../src/app/installation.ts'
import { type HealthPartName, installationChecks } from '../../src/core/index.ts'
import { migrate, openDatabase, recordAuditKey } from '../../src/store/index.ts'
import { administrator, register } from '../support/administrator.ts'
import { publishApp } from '../support/app-packages.ts'
import { selfSigned } from '../support/certificates.ts'
import { adminsGroup, appId, botSecret, type Checked, startChecked } from '../support/check-tenant.ts'
import { newDatabaseUrl } from '../support/database.ts'
import { userUrl } from '../support/simulator.ts'
import { people } from '../support/teams-user.ts'

let checked: Checked
beforeAll(async () => {
  checked = await startChecked()
  emptyDatabase = await newDatabaseUrl()
})
beforeEach(() => checked.heal())
afterAll(() => checked.close())

const graphRoles = ['Group.ReadWrite.All', 'User.Read.All', 'User.EnableDisableAccount.All', 'Sites.Read.All']
const appRole = 'TeamsAppInstallation.ReadWriteSelfForUser.All'
const fault = (operation: string, status: number) =>
  checked.control('POST', 'faults', { operation, kind: 'failBeforeCommit', status })
const modes = (change: object) => checked.control('POST', 'tenant', change)
const consent = (resource: string, roles: readonly string[]) => checked.control('POST', 'consents', { resource, roles })
let otherExtension = ''
/** Creates another application's schema extension on groups, with one property. */
async function extensionWith(name: string): Promise<string> {
  const graph = await administrator(checked.simulator)
  const { appId: owner, id } = await register(graph, {})
  await graph.api(`/applications/${id}/owners/$ref`).post({ '@odata.id': userUrl(people.sam.id) })
  const body = { id: 'records', targetTypes: ['Group'], owner, properties: [{ name, type: 'String' }] }
  return (await graph.api('/schemaExtensions').post(body)).id
}
const pemOf = ({ key, certificate }: ReturnType<typeof selfSigned>) => `${key}${certificate}`
const inDays = (days: number) => new Date(Date.now() + days * 86_400_000)

/** Makes the service itself answer at BASE_URL. */
async function answersItself() {
  const config = readConfig(checked.usual)
  const service = serviceIdOf(config, await findEndpoints(config))
  checked.answers({ status: 200, body: JSON.stringify({ status: 'ok', checks: {}, service }) })
}

interface Failure {
  readonly part: HealthPartName
  readonly because: string
  readonly state: 'amber' | 'red'
  /** The text of the line, with the remedy. */
  readonly says: RegExp
  readonly arrange: () => unknown
  readonly variables?: () => Record<string, string>
}

/** At least one failure of each part, with its remedy. */
const failures: readonly Failure[] = [
  {
    ...{
      part: 'certificate',
      because: 'it expires tomorrow',
      state: 'red',
      says: /in 1 day\b.*Upload a new certificate to the registration, then replace the certificate file/,
    },
    arrange: () => undefined,
    variables: () => ({ CLIENT_CERTIFICATE_PATH: checked.file('service.pem', pemOf(selfSigned(inDays(1.5)))) }),
  },
  {
    ...{ part: 'botSecret', because: 'it has expired', state: 'red', says: /Create a new secret/ },
    arrange: () => undefined,
    variables: () => ({ MICROSOFT_APP_PASSWORD_EXPIRES: '2026-01-01' }),
  },
  {
    ...{ part: 'graph', because: 'a permission is missing', state: 'red' },
    says: /lacks the application permission Sites\.Read\.All\. Grant it with admin consent/,
    arrange: () => consent('graph', [...graphRoles.filter((one) => one !== 'Sites.Read.All'), appRole]),
  },
  {
    ...{ part: 'sharePoint', because: 'it fails', state: 'red', says: /The service retries automatically/ },
    arrange: () => fault('sharepoint.site.status', 503),
  },
  {
    ...{ part: 'exchange', because: 'the role is missing', state: 'red' },
    says: /lacks the directory role Exchange Administrator\. Assign it/,
    arrange: () => consent('exchange', ['Exchange.ManageAsApp']),
  },
  {
    ...{ part: 'signIn', because: 'Entra ID refuses', state: 'red', says: /AADSTS90033.*administrator/ },
    arrange: () => fault('login.token', 401),
  },
  {
    ...{ part: 'clock', because: 'ours is fast', state: 'red', says: /ahead of Microsoft’s.*Synchronise the clock/ },
    arrange: () => modes({ dateOffsetSeconds: -400 }),
  },
  {
    ...{ part: 'clock', because: 'ours is slow', state: 'amber', says: /behind Microsoft’s.*Synchronise the clock/ },
    arrange: () => modes({ dateOffsetSeconds: 100 }),
  },
  ...graphRoles.map(
    (role): Failure => ({
      ...{ part: 'permissions', because: `${role} is missing`, state: 'red' },
      says: new RegExp(`${role.replaceAll('.', '\\.')}.*Grant it with admin consent`),
      arrange: () => consent('graph', [...graphRoles.filter((one) => one !== role), appRole]),
    }),
  ),
  {
    ...{ part: 'permissions', because: 'Graph throttles', state: 'amber', says: /Not checked\..*429/ },
    arrange: () => checked.control('POST', 'faults', { operation: 'graph.users.update', kind: 'status429' }),
  },
  {
    ...{ part: 'siteHosts', because: 'the host refuses', state: 'red', says: /403.*Check SHAREPOINT_URL/ },
    arrange: () => fault('sharepoint.rootSite.get', 403),
  },
  {
    ...{ part: 'adminHosts', because: 'the host refuses', state: 'red', says: /403.*SHAREPOINT_ADMIN_URL/ },
    arrange: () => fault('sharepoint.tenant.site.get', 403),
  },
  {
    ...{
      part: 'adminHosts',
      because: 'the host of the sites is away',
      state: 'amber',
      says: /So it was not checked/,
    },
    arrange: () => fault('sharepoint.rootSite.get', 503),
  },
  {
    ...{ part: 'extension', because: 'groups do not have it', state: 'red', says: /Set DIRECTORY_EXTENSION/ },
    arrange: () => modes({ groupsAcceptExtension: false }),
  },
  {
    ...{ part: 'extension', because: 'its name is wrong', state: 'red' },
    says: /^ext8a1b2c3d_other: .*no schema extension of this name.* Set DIRECTORY_EXTENSION to the full name/,
    arrange: () => undefined,
    variables: () => ({ DIRECTORY_EXTENSION: 'ext8a1b2c3d_other' }),
  },
  {
    ...{ part: 'extension', because: 'it belongs to another product', state: 'red' },
    says: /no schema extension of this name with the property extensionAttribute1\. Set DIRECTORY_EXTENSION/,
    arrange: async () => {
      otherExtension = await extensionWith('requestId')
    },
    variables: () => ({ DIRECTORY_EXTENSION: otherExtension }),
  },
  {
    ...{ part: 'auditKey', because: 'another key sealed the audit', state: 'red' },
    says: /^AUDIT_SECRET \(fingerprint .*\) is not the key that sealed .*npm run audit:key” shows fingerprints/,
    arrange: sealElsewhere,
    variables: () => ({ DATABASE_URL: sealedDatabase, AUDIT_SECRET: Buffer.alloc(32, 8).toString('base64') }),
  },
  {
    ...{ part: 'cmdlets', because: 'a role group lacks one', state: 'red' },
    says: /does not know Set-Place.*Exchange Administrator/,
    arrange: () => modes({ missingCmdlets: ['Set-Place'] }),
  },
  {
    ...{
      part: 'botToken',
      because: 'Entra ID refuses the secret',
      state: 'red',
      says: /AADSTS90033.*MICROSOFT_APP_PASSWORD/,
    },
    arrange: () => fault('login.token', 401),
  },
  {
    ...{ part: 'endpoint', because: 'nobody answers', state: 'amber', says: /Start the service/ },
    arrange: () => checked.answers(undefined),
  },
  {
    ...{
      part: 'endpoint',
      because: 'a proxy answers for nobody',
      state: 'amber',
      says: /answered 502.*check the proxy/,
    },
    arrange: () => checked.answers({ status: 502, body: 'Bad gateway' }),
  },
  {
    ...{ part: 'endpoint', because: 'another website answers', state: 'red', says: /answered 404.*Check BASE_URL/ },
    arrange: () => checked.answers({ status: 404, body: '<h1>Not here</h1>' }),
  },
  {
    ...{
      part: 'endpoint',
      because: 'another installation answers',
      state: 'red',
      says: /another installation.*BASE_URL/,
    },
    arrange: () =>
      checked.answers({ status: 200, body: JSON.stringify({ status: 'ok', checks: {}, service: 'another' }) }),
  },
  {
    ...{ part: 'catalogueApp', because: 'the catalogue has no such app', state: 'red', says: /Upload the package/ },
    arrange: () => consent('graph', [...graphRoles, appRole, 'AppCatalog.Read.All']),
    variables: () => ({ TEAMS_APP_ID: '66666666-ffff-4fff-8fff-000000000009' }),
  },
  {
    ...{ part: 'catalogueApp', because: 'the catalogue has an older version', state: 'amber' },
    says: /version 0\.1\.48213.*upload the package/,
    async arrange() {
      await consent('graph', [...graphRoles, appRole, 'AppCatalog.Read.All'])
      olderApp = await publishApp(await administrator(checked.simulator), randomUUID(), '0.1.48213')
    },
    variables: () => ({ TEAMS_APP_ID: olderApp }),
  },
  {
    ...{ part: 'databaseServer', because: 'it is away', state: 'red', says: /ECONNREFUSED.*Check DATABASE_URL/ },
    arrange: () => undefined,
    variables: () => ({ DATABASE_URL: 'postgres://nobody@127.0.0.1:9/none' }),
  },
  {
    ...{ part: 'databaseServer', because: 'its user may not create', state: 'red', says: /may not create.*owner/ },
    arrange: restrictedUser,
    variables: () => ({ DATABASE_URL: restrictedUrl() }),
  },
  {
    ...{ part: 'databaseServer', because: 'it only reads', state: 'red', says: /accepts no writes.*primary server/ },
    arrange: () => serverThat((name) => `alter database ${name} set default_transaction_read_only = on`),
    variables: () => ({ DATABASE_URL: otherDatabase }),
  },
  {
    ...{
      part: 'databaseServer',
      because: 'the way to it is not encrypted',
      state: 'red',
      says: /not encrypted.*verify-full/,
    },
    async arrange() {
      await serverThat(() => 'select 1')
      // The same server, by a name that is not recognised as this machine.
      otherDatabase = otherDatabase.replace('127.0.0.1', '127.1')
    },
    variables: () => ({ DATABASE_URL: otherDatabase }),
  },
  {
    ...{
      part: 'databaseServer',
      because: 'it gets no fixes any more',
      state: 'amber',
      says: /13\.22 no longer gets fixes.*Upgrade/,
    },
    // The server reports another version in this database: an old one cannot be installed any more.
    arrange: () =>
      serverThat(
        (name) => `create schema old;
          create function old.current_setting(asked text) returns text language sql as $$
            select case asked when 'server_version' then '13.22' when 'server_version_num' then '130022'
              else pg_catalog.current_setting(asked) end $$;
          alter database ${name} set search_path = old, public, pg_catalog`,
      ),
    variables: () => ({ DATABASE_URL: otherDatabase }),
  },
  {
    ...{ part: 'admins', because: 'an id names nobody', state: 'red', says: /There is no admin.*Correct ADMINS/ },
    arrange: () => undefined,
    variables: () => ({ ADMINS: '22222222-bbbb-4bbb-8bbb-00000000dead' }),
  },
  {
    ...{ part: 'admins', because: 'one of two ids names nobody', state: 'amber', says: /00000000dead.*Correct ADMINS/ },
    arrange: () => undefined,
    variables: () => ({ ADMINS: `${adminsGroup},22222222-bbbb-4bbb-8bbb-00000000dead` }),
  },
  {
    ...{
      part: 'templates',
      because: 'there is none',
      state: 'amber',
      says: /nobody can request anything.*TEMPLATES_FILE/,
    },
    arrange: () => undefined,
    variables: () => ({ TEMPLATES_FILE: checked.file('none.json', '[]') }),
  },
  {
    ...{
      part: 'templates',
      because: 'an approver has left',
      state: 'amber',
      says: /Aurora: 11111111-.*Edit their templates/,
    },
    arrange: () => undefined,
    variables: () => ({
      TEMPLATES_FILE: checked.file('gone.json', JSON.stringify([templateOf('11111111-aaaa-4aaa-8aaa-00000000dead')])),
    }),
  },
]

const templateOf = (approver: string) => ({
  ...{ id: 'c3d1e5f7-0b1a-4a3e-b5d4-7e6f5a4b3c99', version: 1, kind: 'teamSite', name: 'Aurora', description: '' },
  approval: { stages: [{ approvers: [{ user: approver }] }] },
})

let olderApp = ''
let otherDatabase = ''
/** Creates a database with a change by its owner. */
async function serverThat(change: (name: string) => string) {
  otherDatabase = await newDatabaseUrl()
  const database = await openDatabase({ dataDir: checked.folder, databaseUrl: otherDatabase })
  await database.query(change(new URL(otherDatabase).pathname.slice(1)))
  await database.close()
}
let emptyDatabase = ''
/** Returns the address of an empty database for a user without permissions in it. */
function restrictedUrl(): string {
  const url = new URL(emptyDatabase)
  url.username = 'check_reader'
  url.password = 'check_reader'
  return url.href
}
let sealedDatabase = ''
/** Creates a database that a service with another audit key has used. */
async function sealElsewhere() {
  sealedDatabase = await newDatabaseUrl()
  const database = await openDatabase({ dataDir: checked.folder, databaseUrl: sealedDatabase })
  await migrate(database)
  await recordAuditKey(database, Buffer.alloc(32, 7))
  await database.close()
}
async function restrictedUser() {
  const database = await openDatabase({ dataDir: checked.folder, databaseUrl: emptyDatabase })
  const create = `create role check_reader login password 'check_reader'`
  await database.query(`do $$ begin ${create}; exception when duplicate_object then null; end $$`)
  await database.close()
}

describe('npm run check:tenant', () => {
  it('reports no fault for a complete installation, and exits with 0', async () => {
    await answersItself()
    const { parts, code, state } = await checked.report()
    expect(parts.filter((part) => part.state !== 'green')).toEqual([])
    expect([code, state]).toEqual([0, 'green'])
    expect(parts.map(({ name }) => name)).toEqual(installationChecks.flatMap((check) => check.parts))
  })

  it.each(failures.map((one) => [one.part, one.because, one] as const))(
    '%s: shows the remedy when %s',
    async (part, _, { arrange, variables, state, says }) => {
      await answersItself()
      await arrange()
      const report = await checked.report(variables?.())
      const found = report.parts.find(({ name }) => name === part)
      expect(found).toMatchObject({ state, detail: expect.stringMatching(says) })
      const isRed = report.parts.some((one) => one.state === 'red')
      expect(report.code).toBe(isRed ? 1 : 0)
    },
  )

  it('has a failing case for each part of each check', () => {
    const shown = new Set(failures.map(({ part }) => part))
    expect(installationChecks.flatMap(({ parts }) => parts).filter((part) => !shown.has(part))).toEqual([])
  })

  it('writes one line for each check with a mark, and the result', async () => {
    await answersItself()
    await modes({ groupsAcceptExtension: false })
    const { output, code } = await checked.run([])
    const lines = output.split('\n')
    expect(lines.filter((line) => /^[✓!✗] /.test(line))).toHaveLength(
      installationChecks.flatMap(({ parts }) => parts).length,
    )
    expect(lines.find((line) => line.startsWith('✗'))).toMatch(/^✗ Directory extension +.*Set DIRECTORY_EXTENSION/)
    expect(output).toContain('Failed: 1.')
    expect(code).toBe(1)
  })

  it('exits with 0 when there are only warnings', async () => {
    const { code, output } = await checked.run([])
    expect(output).toMatch(/! Public address .*Start the service/)
    expect(code).toBe(0)
  })

  it.each([
    ['an unknown option', ['--wrong'], {}, /unknown option '--wrong'/],
    ['an operand', ['now'], {}, /too many arguments/],
    ['an unknown kind of site', ['--write', '--site', 'wiki'], {}, /teamSite, communicationSite/],
    ['a wrong setting', [], { ADMINS: 'sam' }, /ADMINS.* must be object ids[\s\S]*Correct the settings file/],
  ])('exits with 2 for %s', async (_, args, variables, says) => {
    const { code, errors, output } = await checked.run(args, variables)
    expect([code, output]).toEqual([2, ''])
    expect(errors).toMatch(says)
  })

  it('shows its options and exit codes', async () => {
    const { code, output } = await checked.run(['--help'])
    expect(code).toBe(0)
    expect(output).toMatch(/--json[\s\S]*--write[\s\S]*Exit codes: 0 ready/)
  })

  it('checks the version of the app that an admin has, without the permission to read the catalogue', async () => {
    await checked.control('POST', 'installed-apps', { userId: people.sam.id, teamsAppId: appId })
    const { parts } = await checked.report()
    expect(parts.find(({ name }) => name === 'catalogueApp')).toMatchObject({
      version: expect.stringMatching(/^\d+\.\d+\.\d+$/),
    })
  })

  it('shows no secret and no token', async () => {
    await fault('login.token', 401)
    const url = 'postgres://quartermaster:a-password-of-the-store@127.0.0.1:9/none'
    const texts = [await checked.run([], { DATABASE_URL: url }), await checked.run(['--json'], { DATABASE_URL: url })]
    for (const { output, errors } of texts)
      expect(output + errors).not.toMatch(new RegExp(`${botSecret}|a-password|eyJ`))
  })

  it('does not change a database without tables or a folder without a store', async () => {
    const { parts } = await checked.report({ DATA_DIR: join(checked.folder, 'fresh') })
    expect(parts.find(({ name }) => name === 'databaseServer')).toMatchObject({
      detail: expect.stringContaining('first start'),
    })
    const server = await checked.report({ DATABASE_URL: emptyDatabase })
    expect(server.parts.find(({ name }) => name === 'databaseServer')).toMatchObject({
      ...{ state: 'green', version: expect.stringMatching(/^\d+/) },
    })
    const database = await openDatabase({ dataDir: checked.folder, databaseUrl: emptyDatabase })
    const { rows } = await database.query(`select 1 from pg_tables where schemaname = 'public'`)
    await database.close()
    expect(rows).toEqual([])
  })

  it('reports the checks that it cannot run while the service uses the embedded store', async () => {
    const dataDir = join(checked.folder, 'in-use')
    const running = await openDatabase({ dataDir })
    try {
      const { parts, code } = await checked.report({ DATA_DIR: dataDir })
      const of = (name: string) => parts.find((part) => part.name === name)
      expect(of('databaseServer')).toMatchObject({ state: 'amber', detail: expect.stringContaining('admin health') })
      expect(of('templates')).toMatchObject({ state: 'amber', detail: expect.stringContaining('Not checked') })
      expect(code).toBe(0)
    } finally {
      await running.close()
    }
  })
})
