import { chmodSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, inject, it, onTestFinished, vi } from 'vitest'
import { apiOf, ConfigurationError, readConfig } from '../../src/app/config.ts'
import { environment, settingNames } from '../../src/app/settings.ts'
import { selfSigned } from '../support/certificates.ts'

function certificateFile(): string {
  const { key, certificate } = selfSigned()
  const path = join(mkdtempSync(join(inject('runFolder'), 'config-')), 'client.pem')
  writeFileSync(path, key + certificate)
  return path
}

const production = {
  MODE: 'production',
  MICROSOFT_APP_ID: '0c0ffee0-3333-4333-8333-000000000001',
  MICROSOFT_APP_PASSWORD: 'secret',
  CLIENT_ID: '0c0ffee0-2222-4222-8222-000000000001',
  CLIENT_CERTIFICATE_PATH: certificateFile(),
  TENANT_ID: '0c0ffee0-1111-4111-8111-000000000365',
  SHAREPOINT_URL: 'https://contoso.sharepoint.com',
  DIRECTORY_EXTENSION: 'svc_group',
  AUDIT_SECRET: Buffer.alloc(32, 7).toString('base64'),
  DATABASE_URL: 'postgres://localhost/quartermaster',
  BASE_URL: 'https://quartermaster.contoso.example',
  ADMINS: '22222222-bbbb-4bbb-8bbb-000000000002',
}

function faultsOf(variables: Record<string, string>): readonly string[] {
  try {
    readConfig(variables)
    return []
  } catch (error) {
    if (error instanceof ConfigurationError) return error.faults
    throw error
  }
}

describe('the configuration', () => {
  it.each(settingNames.map((name) => [name]))('names %s in one message about its wrong value', (name) => {
    for (const wrong of ['€', '-1', ' ', '1e99', '0.5', 'not a value', '{}', 'NaN', 'postgres:', 'a,b']) {
      const about = faultsOf({ [name]: wrong }).filter((fault) => fault.startsWith(`${name} `))
      const parsed = environment.safeParse({ [name]: wrong })
      expect(about.length, about.join()).toBeGreaterThanOrEqual(parsed.success ? 0 : 1)
      // Messages of the library are for developers.
      expect(about.join()).not.toMatch(/Invalid|expected|Too (small|big)|pattern|undefined/)
    }
  })

  it('reports each wrong setting once, with its wrong values and where to find the right values', () => {
    expect(faultsOf({ TENANT_ID: 'contoso', ADMINS: `sam, ${production.ADMINS},kim,sam`, AUDIT_SECRET: 'ä' })).toEqual([
      'TENANT_ID must be an id such as 0c0ffee0-1111-4111-8111-000000000365. Find it in the Entra admin center, Overview: Tenant ID.',
      'ADMINS must be object ids of people or groups, separated by commas, not sam or kim. Find the ids in the Entra admin center, on the page of each user or group: Object ID.',
      expect.stringMatching(
        /^AUDIT_SECRET must be base64\. For a new installation, create it: .* An existing installation needs its existing key/,
      ),
    ])
  })

  it.each(['LOGIN_URL', 'DIRECTORY_URL', 'SHAREPOINT_URL', 'SHAREPOINT_ADMIN_URL', 'EXCHANGE_URL'])(
    'wants %s to be https in production',
    (name) => {
      const faults = [`${name} must be an https address when MODE=production.`]
      expect(faultsOf({ ...production, [name]: 'http://contoso.example' })).toEqual(faults)
      expect(faultsOf({ ...production, [name]: 'https://contoso.example' })).toEqual([])
    },
  )

  const simulated = {
    LOGIN_URL: 'http://127.0.0.1:3979',
    DIRECTORY_URL: 'http://localhost:3979',
    SHAREPOINT_URL: 'http://[::1]:3979',
    SHAREPOINT_ADMIN_URL: 'http://127.0.0.2:3979',
    EXCHANGE_URL: 'http://LOCALHOST:3979',
  }

  it('accepts several SharePoint hosts, and checks each', () => {
    const several = 'https://contoso.sharepoint.com/, https://contosoeur.sharepoint.com'
    const { SHAREPOINT_URL: read } = readConfig({ ...production, SHAREPOINT_URL: several })
    expect(read).toEqual(['https://contoso.sharepoint.com', 'https://contosoeur.sharepoint.com'])
    expect(faultsOf({ ...production, SHAREPOINT_URL: `${several},http://contosoapc.sharepoint.com` })).toEqual([
      'SHAREPOINT_URL must be an https address when MODE=production.',
    ])
    expect(faultsOf({ ...production, SHAREPOINT_URL: `${several},contosoapc` }).join()).toContain(
      'SHAREPOINT_URL must be http or https addresses',
    )
    expect(faultsOf({ ...simulated, SHAREPOINT_URL: `${simulated.SHAREPOINT_URL}, ${several}` }).join()).toContain(
      'SHAREPOINT_URL must be a loopback address',
    )
  })

  it('accepts .env.example unchanged', () => {
    const lines = readFileSync('.env.example', 'utf8')
      .split('\n')
      .filter((line) => /^[A-Z_]+=/.test(line))
    const copied = Object.fromEntries(lines.map((line) => line.split(/=(.*)/, 2)))
    expect(readConfig(copied)).toEqual(readConfig({}))
    // The example does not contain the values that production requires.
    const faults = faultsOf({ ...copied, MODE: 'production' })
    expect(faults).toEqual(faultsOf({ MODE: 'production' }))
    expect(faults.join()).toMatch(/DIRECTORY_EXTENSION.+DATA_DIR/)
  })

  it('ignores the case of ids', () => {
    const id = '0C0FFEE0-ABCD-4ABC-8ABC-00000000ABCD'
    const names = ['TENANT_ID', 'MICROSOFT_APP_ID', 'MICROSOFT_APP_TENANT_ID', 'CLIENT_ID'] as const
    const config = readConfig({ ADMINS: `${id}, ${id}`, ...Object.fromEntries(names.map((name) => [name, id])) })
    expect(names.map((name) => config[name])).toEqual(names.map(() => id.toLowerCase()))
    expect(config.ADMINS).toEqual([id.toLowerCase(), id.toLowerCase()])
  })

  it('accepts networks for webhooks, and a secret that can sign', () => {
    expect(readConfig({ WEBHOOK_ALLOW_CIDRS: '10.1.0.0/16, fd00::/8' }).WEBHOOK_ALLOW_CIDRS).toEqual([
      '10.1.0.0/16',
      'fd00::/8',
    ])
    expect(faultsOf({ WEBHOOK_ALLOW_CIDRS: '10.1.0.0/33' }).join()).toContain('networks such as 10.1.0.0/16')
    expect(faultsOf({ WEBHOOK_SECRET: `whsec_${'='.repeat(32)}` }).join()).toContain(
      'WEBHOOK_SECRET must be whsec_ and 24 to 64 bytes',
    )
  })

  it.each(Object.keys(production).filter((name) => name !== 'MODE'))(
    'does not start in production without %s',
    (name) => {
      const { [name as keyof typeof production]: _, ...rest } = production
      expect(faultsOf(production)).toEqual([])
      expect(faultsOf(rest).join()).toContain(name)
    },
  )

  it.each<[Record<string, string>, RegExp]>([
    [
      { CLIENT_ID: production.MICROSOFT_APP_ID.toUpperCase() },
      /CLIENT_ID and MICROSOFT_APP_ID must be different registrations/,
    ],
    [{ COLLAB_AUDIENCE: production.MICROSOFT_APP_ID }, /COLLAB_AUDIENCE must not contain the id of MICROSOFT_APP_ID/],
    [
      { MAIL_AUDIENCE: `api://x, api://botid-${production.MICROSOFT_APP_ID}` },
      /MAIL_AUDIENCE must not contain the id of MICROSOFT_/,
    ],
    [{ COLLAB_AUDIENCE: `api://${production.CLIENT_ID}` }, /COLLAB_AUDIENCE must not contain the id of CLIENT_ID/],
    [{ MAIL_APP_CLIENTS: production.CLIENT_ID }, /MAIL_APP_CLIENTS must not contain the id of CLIENT_ID/],
    [{ MAIL_APP_CLIENTS: production.MICROSOFT_APP_ID }, /MAIL_APP_CLIENTS must not contain the id of MICROSOFT_APP_ID/],
    [{ DOCS_CLIENT_ID: production.CLIENT_ID.toUpperCase() }, /DOCS_CLIENT_ID must not be the id of CLIENT_ID/],
  ])('requires separate registrations in production: %o', (change, fault) => {
    expect(faultsOf({ ...production, ...change })).toEqual([expect.stringMatching(fault)])
  })

  const [sites, mailboxes] = ['99992222-3333-4444-8555-666677778888', '99992222-3333-4444-8555-666677779999']

  it('accepts client ids as audiences in any case, and one scope for each API', () => {
    const scopes = { COLLAB_SCOPE: `api://${sites}/App.ReadWrite.All`, MAIL_SCOPE: `${mailboxes}/.default` }
    const settings = { ...scopes, COLLAB_AUDIENCE: `${sites.toUpperCase()}, api://Sites`, MAIL_AUDIENCE: mailboxes }
    expect(readConfig({ ...production, ...settings })).toMatchObject({
      ...scopes,
      COLLAB_AUDIENCE: [sites, 'api://Sites'],
    })
  })

  it.each<[Record<string, string>, string]>([
    [{ COLLAB_SCOPE: 'App.ReadWrite.All' }, 'COLLAB_SCOPE must be one complete scope, such as api://<client id'],
    [{ MAIL_SCOPE: 'api://x/App.ReadWrite.All openid' }, 'MAIL_SCOPE must be one complete scope'],
    [{ MAIL_SCOPE: 'api://x/"/App.ReadWrite.All' }, 'MAIL_SCOPE must be one complete scope'],
    [{ MAIL_SCOPE: 'api://x/Files.Read' }, 'MAIL_SCOPE must end with /App.ReadWrite.All'],
    [
      { COLLAB_AUDIENCE: sites, COLLAB_SCOPE: `api://${mailboxes}/App.ReadWrite.All` },
      `COLLAB_SCOPE requests tokens for ${mailboxes}, but COLLAB_AUDIENCE does not contain it: add ${mailboxes}`,
    ],
    [
      { MAIL_SCOPE: `api://${production.CLIENT_ID}/App.ReadWrite.All` },
      'MAIL_SCOPE must not contain the id of CLIENT_ID',
    ],
  ])('explains a scope that callers cannot request: %o', (change, fault) => {
    expect(faultsOf({ ...production, ...change })).toEqual([expect.stringContaining(fault)])
  })

  it.each([
    [['https://x.contoso.example/collab/', sites], 'https://x.contoso.example/collab/App.ReadWrite.All'],
    [[sites, 'api://sites'], 'api://sites/App.ReadWrite.All'],
    [[sites], `api://${sites}/App.ReadWrite.All`],
  ])('derives the scope from the audiences %o', (audiences, scope) => {
    expect(apiOf({ audiences, scope: undefined }, 'https://unused.example').scope).toBe(scope)
  })

  it('requires an admin in production, and explains the value', () => {
    for (const ADMINS of ['', ' , '])
      expect(faultsOf({ ...production, ADMINS })).toEqual([
        'ADMINS is needed when MODE=production. Find the ids in the Entra admin center, on the page of each user or group: Object ID.',
      ])
    expect(faultsOf({ ADMINS: '' })).toEqual([])
  })

  it('reports unusable files together with all other faults', () => {
    const folder = mkdtempSync(join(inject('runFolder'), 'config-'))
    const [path, templates] = [join(folder, 'client.pem'), join(folder, 'templates.json')]
    const { DATABASE_URL: _, ...embedded } = production
    const files = { CLIENT_CERTIFICATE_PATH: path, TEMPLATES_FILE: templates, DATA_DIR: folder }
    const faults = () => faultsOf({ ...embedded, ...files, ADMINS: '', TENANT_ID: 'contoso' })
    const others = [/^TENANT_ID must be an id/, /^ADMINS is needed/].map((one) => expect.stringMatching(one))
    const missing = `CLIENT_CERTIFICATE_PATH ${path}: The file at CLIENT_CERTIFICATE_PATH cannot be read (ENOENT). There is no such file. Check the path.`
    const unread = expect.stringMatching(/^TEMPLATES_FILE .*templates\.json cannot be read as JSON: ENOENT/)
    expect(faults()).toEqual([...others, missing, unread])
    writeFileSync(path, selfSigned().key)
    writeFileSync(templates, JSON.stringify([{ id: 'one', kind: 'teamSite', name: 'Club' }]))
    chmodSync(folder, 0o777)
    expect(faults()).toEqual([
      ...others,
      expect.stringContaining(`Other users can change DATA_DIR: ${folder} (mode 777`),
      expect.stringMatching(/^CLIENT_CERTIFICATE_PATH .*: The PEM file holds .* no cer/),
      expect.stringMatching(/^TEMPLATES_FILE .* has these faults:\n {2}\/0\/id: /),
    ])
  })

  it('accepts the expiry of the bot’s secret as a date or a moment', () => {
    const expiry = (text: string) => readConfig({ MICROSOFT_APP_PASSWORD_EXPIRES: text }).MICROSOFT_APP_PASSWORD_EXPIRES
    expect(expiry('2027-11-30')).toEqual(new Date('2027-11-30T00:00:00Z'))
    expect(expiry('2027-11-30T10:00:00+02:00')).toEqual(new Date('2027-11-30T08:00:00Z'))
    expect(expiry('')).toBeUndefined()
    for (const text of ['30.11.2027', '11/30/2027', 'soon', '2027-02-30'])
      expect(faultsOf({ MICROSOFT_APP_PASSWORD_EXPIRES: text })).toEqual([
        expect.stringMatching(
          /^MICROSOFT_APP_PASSWORD_EXPIRES must be a date such as 2027-11-30\. Find it in the Entra admin center/,
        ),
      ])
  })

  it('requires https in production', () => {
    expect(faultsOf({ ...production, BASE_URL: 'http://quartermaster.contoso.example' }).join()).toContain('https')
  })

  it('allows only loopback in local mode while the bot requires no tokens', () => {
    expect(faultsOf({ HOST: '0.0.0.0' }).join()).toContain('loopback')
    expect(faultsOf({ HOST: '127.0.0.2' })).toEqual([])
    expect(faultsOf({ HOST: '0.0.0.0', MICROSOFT_APP_ID: production.MICROSOFT_APP_ID })).toEqual([])
  })

  it('accepts a tenant on this machine without an app id', () => {
    expect(faultsOf(simulated)).toEqual([])
    const { SHAREPOINT_ADMIN_URL: _, ...four } = simulated
    expect(faultsOf(four)).toEqual([])
  })

  it.each(Object.keys(simulated))('refuses a real tenant in %s without an app id, and names the setting', (name) => {
    const real = { ...simulated, [name]: 'https://graph.microsoft.com' }
    expect(faultsOf(real)).toEqual([
      expect.stringMatching(new RegExp(`^${name} must be a loopback address .*set MICROSOFT_APP_ID`)),
    ])
    expect(faultsOf({ ...real, MICROSOFT_APP_ID: production.MICROSOFT_APP_ID })).toEqual([])
  })

  it.each([
    'http://127.0.0.1.evil.example',
    'http://localhost.evil.example',
    'http://localhost.',
    'http://tenant.localhost',
    'http://0.0.0.0',
    'http://[::]',
    'http://[::ffff:10.0.0.1]',
    'https://10.0.0.1',
  ])('does not treat %s as this machine', (address) => {
    expect(faultsOf({ ...simulated, DIRECTORY_URL: address }).join()).toContain(
      'DIRECTORY_URL must be a loopback address',
    )
  })

  it('refuses an address with a user name', () => {
    const faults = faultsOf({
      ...simulated,
      LOGIN_URL: 'http://127.0.0.1@evil.example',
      EXCHANGE_URL: 'http://a@127.0.0.1',
    })
    expect(faults.join('\n')).toMatch(
      /LOGIN_URL must not contain a user name.*\nEXCHANGE_URL must not contain a user name/,
    )
    expect(faults.join('\n')).toContain('LOGIN_URL must be a loopback address')
  })

  it('treats missing addresses as Microsoft’s if another address is set', () => {
    const faults = faultsOf({ SHAREPOINT_URL: simulated.SHAREPOINT_URL })
    expect(faults).toEqual(
      ['LOGIN_URL', 'DIRECTORY_URL', 'EXCHANGE_URL'].map((name) => expect.stringMatching(`^${name} must also be set`)),
    )
    expect(faultsOf({ SHAREPOINT_ADMIN_URL: 'https://contoso-admin.sharepoint.com' })).toHaveLength(4)
  })
})

describe('the address of PostgreSQL in production', () => {
  const server = (address: string, more: Record<string, string> = {}) =>
    faultsOf({ ...production, DATABASE_URL: address, ...more })

  it.each([
    'postgres://user:password@db.contoso.example/q?sslmode=verify-full',
    'postgresql://db.contoso.example:6432/q?sslmode=verify-full&sslnegotiation=direct',
    'postgres://db.contoso.example/q?sslmode=verify-full&uselibpqcompat=true',
    'postgres://localhost/q',
    'postgres://127.0.0.1:5433/q?sslmode=disable',
    'postgres://[::1]/q',
    'postgres:///q?host=/var/run/postgresql',
    'postgres://%2Fvar%2Frun%2Fpostgresql/q',
    'postgres://db.contoso.example/q?host=127.0.0.1',
  ])('accepts %s', (address) => {
    expect(server(address)).toEqual([])
  })

  it.each([
    'postgres://user:password@db.contoso.example/q',
    ...['disable', 'allow', 'prefer', 'require', 'verify-ca', 'no-verify', 'nonsense', ''].map(
      (mode) => `postgres://db.contoso.example/q?sslmode=${mode}`,
    ),
    'postgres://db.contoso.example/q?ssl=true',
    'postgres://db.contoso.example/q?ssl=no-verify',
    'postgres://db.contoso.example/q?ssl=false',
    'postgres://db.contoso.example/q?sslmode=require&uselibpqcompat=true',
    'postgres://db.contoso.example/q?sslmode=verify-full&sslmode=disable',
    'postgres://db.contoso.example/q?sslmode=disable&sslmode=verify-full',
    'postgres://127.0.0.1.contoso.example/q',
    'postgres://localhost/q?host=db.contoso.example',
    'postgres://127.0.0.1@db.contoso.example/q',
    'postgres://2130706433/q',
  ])('refuses %s, and names the missing part', (address) => {
    expect(server(address)).toEqual([
      expect.stringMatching(
        /^DATABASE_URL must use TLS and verify the server .*add sslmode=verify-full, and sslrootcert/,
      ),
    ])
    expect(server(address).join()).not.toContain('password')
  })

  it('reads the environment as the driver does', () => {
    onTestFinished(() => void vi.unstubAllEnvs())
    expect(server('postgres:///q')).toEqual([])
    vi.stubEnv('PGHOST', 'db.contoso.example')
    expect(server('postgres:///q').join()).toContain('verify the server db.contoso.example')
    // Other tools would not see a setting outside the address.
    vi.stubEnv('PGSSLMODE', 'verify-full')
    expect(server('postgres:///q').join()).toContain('add sslmode=verify-full')
    expect(server('postgres:///q?sslmode=verify-full')).toEqual([])
  })

  it('reports an unreadable file, and several hosts', () => {
    const file = 'postgres://db.contoso.example/q?sslmode=verify-full&sslrootcert=/nowhere/ca.pem'
    expect(server(file)).toEqual([expect.stringMatching(/DATABASE_URL names the file \/nowhere\/ca.pem.*ENOENT/)])
    expect(server(file.replace('/nowhere/ca.pem', 'system')).join()).toContain('Without sslrootcert the public')
    expect(server('postgres://one,two/q?sslmode=verify-full')).toEqual([expect.stringContaining('several hosts')])
  })

  it('is refused if certificate checks are disabled', () => {
    expect(faultsOf({ ...production, NODE_TLS_REJECT_UNAUTHORIZED: '0' })).toEqual([
      expect.stringMatching(/NODE_TLS_REJECT_UNAUTHORIZED=0 .*remove it/),
    ])
    expect(faultsOf({ NODE_TLS_REJECT_UNAUTHORIZED: '0' })).toEqual([])
  })

  it('can have any value in local mode', () => {
    expect(faultsOf({ DATABASE_URL: 'postgres://db.contoso.example/q' })).toEqual([])
  })
})
