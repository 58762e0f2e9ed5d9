import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Application } from '@microsoft/microsoft-graph-types'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { readConfig } from '../../src/app/config.ts'
import { template } from '../../src/core/index.ts'
import { certificateFromPem, permissions } from '../../src/microsoft365/index.ts'
import { administrator, emptyTenant, exchangeAdministrator, microsoft } from '../support/administrator.ts'
import { installation } from '../support/setup-run.ts'
import { ask } from '../support/simulator.ts'

const registrations = ['bot', 'sites-api', 'mailboxes-api', 'service', 'command-line']
const everything = { timeout: 60_000 }

describe('npm run setup in an empty tenant', everything, () => {
  it('creates everything that the service needs, and only files that their owner can read', async () => {
    const tenant = await emptyTenant()
    const own = await installation(tenant)
    const { exit, text } = await own.run()
    expect(text).toContain('Signed in as Sam Roy')
    expect(exit, text).toBe(0)
    const settings = own.settings()
    const graph = await administrator(tenant)

    const applications = new Map<string, Application>()
    for (const name of registrations) {
      const found: Application = await graph.api(`/applications(uniqueName='quartermaster-${name}')`).get()
      applications.set(name, found)
      expect(found).toMatchObject({
        signInAudience: 'AzureADMyOrg',
        servicePrincipalLockConfiguration: { isEnabled: true, allProperties: true },
      })
      const { value: owners } = await graph.api(`/applications/${found.id}/owners`).get()
      expect(owners).toMatchObject([{ userPrincipalName: 'sam@contoso.example' }])
      expect(await graph.api(`/servicePrincipals(appId='${found.appId}')`).get()).toHaveProperty('id')
    }
    const idOf = (name: string) => applications.get(name)?.appId
    expect(settings).toMatchObject({
      ...{ MODE: 'production', TENANT_ID: tenant.tenantId, MICROSOFT_APP_TENANT_ID: tenant.tenantId },
      ...{
        MICROSOFT_APP_ID: idOf('bot'),
        CLIENT_ID: idOf('service'),
        BASE_URL: 'https://provisioning.contoso.example',
      },
      ...{ COLLAB_AUDIENCE: idOf('sites-api'), MAIL_AUDIENCE: idOf('mailboxes-api') },
      DOCS_CLIENT_ID: idOf('command-line'),
      COLLAB_SCOPE: `api://${idOf('sites-api')}/App.ReadWrite.All`,
      MAIL_SCOPE: `api://${idOf('mailboxes-api')}/App.ReadWrite.All`,
      MICROSOFT_APP_PASSWORD_EXPIRES: expect.stringMatching(/^\d{4}-\d\d-\d\d$/),
    })
    for (const name of ['sites-api', 'mailboxes-api']) {
      const { api, identifierUris, optionalClaims } = applications.get(name) ?? {}
      expect(api?.requestedAccessTokenVersion).toBe(2)
      expect(api?.oauth2PermissionScopes).toMatchObject([{ value: 'App.ReadWrite.All', isEnabled: true }])
      expect(identifierUris).toEqual([`api://${idOf(name)}`])
      expect(optionalClaims?.accessToken).toMatchObject([{ name: 'idtyp' }])
    }
    expect(applications.get('mailboxes-api')?.appRoles).toMatchObject([
      { value: 'App.ReadWrite.All', allowedMemberTypes: ['Application'] },
    ])
    expect(applications.get('command-line')).toMatchObject({
      isFallbackPublicClient: true,
      spa: { redirectUris: ['https://provisioning.contoso.example/docs/oauth2-redirect.html'] },
    })

    const service = await graph.api(`/servicePrincipals(appId='${idOf('service')}')`).get()
    const { value: granted } = await graph.api(`/servicePrincipals/${service.id}/appRoleAssignments`).get()
    expect(granted).toHaveLength(permissions.filter(({ kind }) => kind === 'application permission').length)
    const filter = `principalId eq '${service.id}'`
    const { value: roles } = await graph.api('/roleManagement/directory/roleAssignments').filter(filter).get()
    expect(roles).toMatchObject([{ roleDefinitionId: exchangeAdministrator, directoryScopeId: '/' }])
    const extension = await graph.api(`/schemaExtensions/${settings['DIRECTORY_EXTENSION']}`).get()
    expect(extension).toMatchObject({ owner: idOf('service'), targetTypes: ['Group'] })
    const { value: members } = await graph.api(`/groups/${settings['ADMINS']}/members`).get()
    expect(members).toMatchObject([{ userPrincipalName: 'sam@contoso.example' }])
    const app = await graph.api(`/appCatalogs/teamsApps/${settings['TEAMS_APP_ID']}`).get()
    expect(app).toMatchObject({ externalId: idOf('bot') })

    const { CLIENT_CERTIFICATE_PATH: path = '', TEMPLATES_FILE: templates = '' } = settings
    expect(certificateFromPem(readFileSync(path)).endsAt?.getTime()).toBeGreaterThan(Date.now() + 300 * 24 * 3600_000)
    const written = z.array(template).parse(JSON.parse(readFileSync(templates, 'utf8')))
    expect(written.map(({ kind }) => kind)).toHaveLength(5)
    expect(JSON.stringify(written)).not.toMatch(/contoso/i)
    const files = readdirSync(own.folder)
    expect(files.toSorted()).toEqual(['.env', 'certificate.pem', 'quartermaster.zip', 'templates.json'])
    expect(files.map((name) => (statSync(join(own.folder, name)).mode & 0o777).toString(8))).toEqual(
      files.map(() => '600'),
    )
    // The simulated sites do not use https. Everything else meets the requirements of npm start.
    expect(() => readConfig({ ...settings, SHAREPOINT_URL: 'https://contoso.sharepoint.com' })).not.toThrow()
  })

  it('changes nothing when it runs again, and reports this', async () => {
    const tenant = await emptyTenant()
    const own = await installation(tenant)
    expect((await own.run()).exit).toBe(0)
    const before = readFileSync(own.path, 'utf8')
    const again = await own.run()
    expect([again.exit, again.writes]).toEqual([0, []])
    expect(again.text).toContain('Everything is set up. Nothing was changed.')
    expect(readFileSync(own.path, 'utf8')).toBe(before)
    const elsewhere = await own.run({ args: ['--plan'] })
    expect([elsewhere.exit, elsewhere.writes]).toEqual([0, []])
    expect(elsewhere.text).toContain('Everything is set up. Nothing was changed.')
  })

  it('stores the cloud of GCC High, so that the next run and the service use it too', async () => {
    const tenant = await emptyTenant()
    const own = await installation(tenant)
    // The simulated tenant knows Graph and the connector by their addresses in the public cloud.
    const inPublicCloud: typeof fetch = (input, init) => {
      if (!(init?.body instanceof URLSearchParams || typeof init?.body === 'string')) return fetch(input, init)
      const body = String(init.body).replaceAll(/(graph\.microsoft|api\.botframework)\.us/g, '$1.com')
      return fetch(input, { ...init, body: typeof init.body === 'string' ? body : new URLSearchParams(body) })
    }
    const run = (cloud: string[]) => own.run({ args: [...own.answers, ...cloud], fetch: inPublicCloud })
    const first = await run(['--cloud', 'usgov'])
    expect(first.exit, first.text).toBe(0)
    expect(first.text).toContain('Open https://portal.azure.us/#create/Microsoft.AzureBot')
    expect(first.text).not.toMatch(/two ways|portal\.azure\.com|dev\.teams\.microsoft\.com/)
    expect(first.text).toContain('The bot’s secret works.')
    const settings = own.settings()
    expect(settings).toMatchObject({ CLOUD: 'usgov' })
    expect(() => readConfig({ ...settings, SHAREPOINT_URL: 'https://contoso.sharepoint.us' })).not.toThrow()
    const again = await run([])
    expect(again.text).toContain('Everything is set up. Nothing was changed.')
  })

  it('makes no change with --plan, neither in the tenant nor on the disk', async () => {
    const own = await installation(await emptyTenant())
    const { exit, text, writes } = await own.run({ args: ['--plan'] })
    expect([exit, writes]).toEqual([0, []])
    expect(readdirSync(own.folder)).toEqual([])
    for (const { name } of permissions) expect(text).toContain(name)
    for (const part of ['Quartermaster bot', 'certificate', 'extension', 'Quartermaster admins', 'app package'])
      expect(text).toContain(part)
    expect(text).toContain('(BASE_URL)')
    expect(text).toContain('Nothing was changed.')
  })

  it('allows everybody to use the command line, and prints its sign-in command', async () => {
    const tenant = await emptyTenant()
    const own = await installation(tenant)
    const { text } = await own.run()
    const graph = await administrator(tenant)
    const idOf = async (key: string): Promise<string> =>
      (await graph.api(`/servicePrincipals(${key})`).select('id').get()).id
    const { appId } = await graph.api("/applications(uniqueName='quartermaster-command-line')").get()
    const client = await idOf(`appId='${appId}'`)
    const { value: consents } = await graph.api(`/oauth2PermissionGrants?$filter=clientId eq '${client}'`).get()
    const { COLLAB_AUDIENCE, MAIL_AUDIENCE, COLLAB_SCOPE, MAIL_SCOPE } = own.settings()
    const granted = async (api: string | undefined, scope: string) => ({
      ...{ consentType: 'AllPrincipals', resourceId: await idOf(`appId='${api}'`), scope },
    })
    const expected = [
      await granted(COLLAB_AUDIENCE, 'App.ReadWrite.All'),
      await granted(MAIL_AUDIENCE, 'App.ReadWrite.All'),
      await granted(microsoft.graph, 'User.ReadBasic.All'),
    ]
    expect(consents).toHaveLength(expected.length)
    expect(consents).toEqual(expect.arrayContaining(expected.map((one) => expect.objectContaining(one))))
    const flags = `--base-url https://provisioning.contoso.example --client-id ${appId}`
    const scopes = `--collab-scope ${COLLAB_SCOPE} --mail-scope ${MAIL_SCOPE}`
    const authority = `--authority ${tenant.url}/${tenant.tenantId}`
    const login = (shown: string) =>
      /npx quartermaster login (.*)/
        .exec(shown)?.[1]
        ?.split(/ (?=--)/)
        .toSorted()
    expect(login(text)).toEqual(`${flags} ${scopes} ${authority}`.split(/ (?=--)/).toSorted())
    // The next run changes nothing, and prints the command again.
    expect(login((await own.run()).text)).toEqual(login(text))
  })

  it('prints no secret', async () => {
    const own = await installation(await emptyTenant())
    const { text } = await own.run()
    const { MICROSOFT_APP_PASSWORD, AUDIT_SECRET, EXPORT_SECRET, WEBHOOK_SECRET } = own.settings()
    for (const secret of [MICROSOFT_APP_PASSWORD, AUDIT_SECRET, EXPORT_SECRET, WEBHOOK_SECRET]) {
      expect(secret?.length).toBeGreaterThan(20)
      expect(text).not.toContain(secret)
    }
    const [, key = ''] =
      /PRIVATE KEY-----\n(.{40})/.exec(readFileSync(join(own.folder, 'certificate.pem'), 'utf8')) ?? []
    expect(key).not.toBe('')
    expect(text).not.toContain(key)
    expect(text).not.toMatch(/eyJ[\w-]+\./)
  })

  it('separates a second installation by its instance name', async () => {
    const tenant = await emptyTenant()
    const first = await installation(tenant)
    const second = await installation(tenant, { folder: first.folder, file: '.env.test' })
    await first.run()
    const before = readFileSync(first.path)
    const args = ['--yes', '--instance', 'test', '--base-url', 'https://test.contoso.example']
    const { exit, text } = await second.run({
      args: [...args, '--database-url', 'embedded', '--sharepoint-url', tenant.sharePointUrl],
    })
    expect(exit, text).toBe(0)
    expect(readFileSync(first.path)).toEqual(before)
    const files = ['certificate-test.pem', 'quartermaster-test.zip', 'templates-test.json', '.env.test']
    expect(readdirSync(first.folder)).toEqual(expect.arrayContaining(files))
    const [one, other] = [first.settings(), second.settings()]
    for (const name of [
      'MICROSOFT_APP_ID',
      'CLIENT_ID',
      'COLLAB_AUDIENCE',
      'ADMINS',
      'DIRECTORY_EXTENSION',
      'TEAMS_APP_ID',
      'TEAMS_APP_NAME',
      'CLIENT_CERTIFICATE_PATH',
      'TEMPLATES_FILE',
      'DATA_DIR',
    ])
      expect(one[name], name).not.toBe(other[name])
    expect(text).toContain('“Quartermaster bot (test)”')
    const graph = await administrator(tenant)
    const { value: apps } = await graph.api('/appCatalogs/teamsApps').get()
    expect(apps.map(({ displayName }: { displayName: string }) => displayName).toSorted()).toEqual([
      ...['Quartermaster', 'Quartermaster test'],
    ])
    expect(text).toContain(`Start the service: ENV_FILE=${second.path} npm start`)
  })

  it('keeps the folder of an embedded database when the answer is repeated', async () => {
    const own = await installation(await emptyTenant())
    expect((await own.run()).exit).toBe(0)
    const before = readFileSync(own.path, 'utf8').replace(/^DATA_DIR=.*$/m, 'DATA_DIR=data/earlier')
    writeFileSync(own.path, before)
    expect((await own.run()).exit).toBe(0)
    expect(readFileSync(own.path, 'utf8')).toBe(before)
  })
})

describe('a trial of local mode', everything, () => {
  it('keeps its store apart from that of production', async () => {
    const own = await installation(await emptyTenant())
    writeFileSync(own.path, 'MODE=local\nDATA_DIR=data\nBASE_URL=https://quartermaster.contoso.example\n')
    const unanswered = await own.run({ args: ['--yes'] })
    expect([unanswered.exit, unanswered.text]).toEqual([1, expect.stringContaining('--database-url')])
    expect((await own.run()).exit).toBe(0)
    expect(own.settings()).toMatchObject({ MODE: 'production', DATA_DIR: 'data/production' })
  })

  it('is no reason to replace a folder that the administrator has set', async () => {
    const own = await installation(await emptyTenant())
    writeFileSync(own.path, 'DATA_DIR=data/ours\n')
    expect((await own.run()).exit).toBe(0)
    expect(own.settings()).toMatchObject({ MODE: 'production', DATA_DIR: 'data/ours' })
  })
})

describe('the person who runs setup', everything, () => {
  it('may have the administrator role by a group', async () => {
    const tenant = await emptyTenant()
    const graph = await administrator(tenant)
    const [kim] = (await graph.api('/users').filter("userPrincipalName eq 'kim@contoso.example'").get()).value
    const group = await graph.api('/groups').post({
      ...{ displayName: 'Admins of all', mailNickname: 'admins-of-all', mailEnabled: false, securityEnabled: true },
      ...{ groupTypes: [], isAssignableToRole: true },
      'members@odata.bind': [`https://graph.microsoft.com/v1.0/users/${kim.id}`],
    })
    await graph.api('/roleManagement/directory/roleAssignments').post({
      ...{ principalId: group.id, roleDefinitionId: '62e90394-69f5-4237-9190-012177145e10', directoryScopeId: '/' },
    })
    const { exit, text } = await (await installation(tenant)).run({ who: 'kim' })
    expect(exit, text).toBe(0)
    expect(text).not.toContain('no built-in role')
  })

  it('without a role reads which roles are needed, and Microsoft refuses the first change', async () => {
    const tenant = await emptyTenant()
    // An administrator has consented for everybody, as in organisations that use these tools.
    const own = await installation(tenant)
    await consentForAll(tenant.url)
    const { exit, text, writes } = await own.run({ who: 'kim' })
    expect([exit, writes.map(({ status }) => status)]).toEqual([1, [403]])
    expect(text).toContain('Kim Lee seems to have no built-in role that allows these changes:')
    expect(text).toContain('Kim Lee lacks the permission for this: Create the registration “Quartermaster bot”')
    expect(text).toContain('Cloud Application Administrator, Application Administrator or Global Administrator')
    expect(text).toContain('Privileged Role Administrator or Global Administrator')
    const plan = await own.run({ who: 'kim', args: ['--plan'] })
    expect(plan.exit).toBe(0)
    expect(plan.text).toContain('Kim Lee seems to have no built-in role that allows these changes:')
  })

  it('reads at once which role is needed for the sign-in', async () => {
    const own = await installation(await emptyTenant())
    const { text } = await own.run({ args: ['--plan'] })
    expect(text).toMatch(/Sign in as Global Administrator.*\n.*enter the code/)
  })
})

/** Runs what a Global Administrator does with “Consent on behalf of your organisation”. */
async function consentForAll(url: string): Promise<void> {
  const graph = await administrator({ url })
  const tools = "appId='14d82eec-204b-4c2f-b7e8-296a70dab67e'"
  const client = await graph.api(`/servicePrincipals(${tools})`).get()
  const resource = await graph.api("/servicePrincipals(appId='00000003-0000-0000-c000-000000000000')").get()
  const { scopes, catalogueScope } = await import('../../src/app/setup/administrator.ts')
  const scope = [...scopes, catalogueScope].join(' ')
  const grant = { clientId: client.id, consentType: 'AllPrincipals', resourceId: resource.id, scope }
  await graph.api('/oauth2PermissionGrants').post(grant)
}

describe('setup in a tenant with existing objects', everything, () => {
  it('keeps a managed identity of Azure as the bot', async () => {
    const tenant = await emptyTenant()
    const own = await installation(tenant)
    const bot = '0c0ffee0-1111-4111-8111-000000000001'
    writeFileSync(own.path, `MICROSOFT_APP_TYPE=UserAssignedMSI\nMICROSOFT_APP_ID=${bot}\n`)
    const { exit, text } = await own.run()
    expect(exit, text).toBe(0)
    expect(own.settings()).toMatchObject({ MICROSOFT_APP_TYPE: 'UserAssignedMSI', MICROSOFT_APP_ID: bot })
    expect(own.settings()).not.toHaveProperty('MICROSOFT_APP_PASSWORD')
    const { value } = await (await administrator(tenant)).api('/applications').get()
    expect(value.map(({ displayName }: Application) => displayName)).not.toContain('Quartermaster bot')
    expect((await own.run()).writes).toEqual([])
  })

  it('creates the first templates again with the same ids', async () => {
    const own = await installation(await emptyTenant())
    await own.run()
    const path = own.settings()['TEMPLATES_FILE'] ?? ''
    const before = readFileSync(path, 'utf8')
    rmSync(path)
    expect((await own.run()).exit).toBe(0)
    expect(readFileSync(path, 'utf8')).toBe(before)
  })

  it('reads a folder of the database from the environment, and prefers the file of settings', async () => {
    const tenant = await emptyTenant()
    const own = await installation(tenant)
    const args = ['--yes', '--base-url', 'https://a.contoso.example', '--sharepoint-url', tenant.sharePointUrl]
    const { exit, text } = await own.run({ args, variables: { DATA_DIR: '/srv/quartermaster' } })
    expect(exit, text).toBe(0)
    expect(own.settings()).toMatchObject({ DATA_DIR: '/srv/quartermaster' })
    const variables = { DATA_DIR: '/srv/other', BASE_URL: 'https://b.contoso.example' }
    expect((await own.run({ args: ['--yes'], variables })).exit).toBe(0)
    expect(own.settings()).toMatchObject({ DATA_DIR: '/srv/quartermaster', BASE_URL: 'https://a.contoso.example' })
  })
})

describe('setup at a terminal', everything, () => {
  it('asks the questions that only an administrator can answer, and before each group of changes', async () => {
    const tenant = await emptyTenant()
    const own = await installation(tenant)
    const questions: string[] = []
    const answers: readonly (readonly [RegExp, string])[] = [
      [/Public address/, 'https://provisioning.contoso.example'],
      [/PostgreSQL/, 'postgres://quartermaster:hush-hush@127.0.0.1/quartermaster'],
      [/SharePoint/, tenant.sharePointUrl],
      [/Make these changes/, 'y'],
    ]
    const typing = (question: string) => {
      questions.push(question)
      return answers.find(([pattern]) => pattern.test(question))?.[1]
    }
    const { exit, text } = await own.run({ args: [], typing })
    expect(exit, text).toBe(0)
    expect(questions.filter((question) => question.includes('Make these changes'))).toHaveLength(6)
    expect(own.settings()['DATABASE_URL']).toBe('postgres://quartermaster:hush-hush@127.0.0.1/quartermaster')
    expect(text).not.toContain('hush-hush')
    // Setup asks each question once.
    questions.length = 0
    expect((await own.run({ args: [], typing })).exit).toBe(0)
    expect(questions).toEqual([])
  })

  it('stops before a declined group, and continues there', async () => {
    const tenant = await emptyTenant()
    const own = await installation(tenant)
    const { path } = own
    const args = ['--base-url', 'https://a.contoso.example', '--database-url', 'embedded']
    const first = await own.run({ args: [...args, '--sharepoint-url', tenant.sharePointUrl], typing: () => 'n' })
    expect([first.exit, first.writes]).toEqual([1, []])
    expect(first.text).toContain('Stopped before “registrations in Entra ID”')
    expect(existsSync(path)).toBe(true)
    // npm start names the missing settings, and starts no local mode with these settings.
    expect(() => readConfig(own.settings())).toThrow('CLIENT_ID is needed when MODE=production.')
    const second = await own.run({ args: ['--resume', '--yes'] })
    expect(second.exit, second.text).toBe(0)
  })

  it('names the option when nobody can answer', async () => {
    const own = await installation(await emptyTenant())
    const { exit, text, writes } = await own.run({ args: ['--yes'] })
    expect([exit, writes]).toEqual([1, []])
    expect(text).toContain('--base-url')
  })

  it.each([
    ['http://plain.contoso.example', 'https://'],
    ['not an address', 'https://'],
  ])('refuses %s as public address', async (address, hint) => {
    const own = await installation(await emptyTenant())
    const { exit, text } = await own.run({ args: ['--yes', '--base-url', address] })
    expect(exit).toBe(1)
    expect(text).toContain(hint)
    expect(existsSync(own.path)).toBe(false)
  })

  it.each([
    [['--unknown'], '--unknown'],
    [['word'], 'word'],
    [['--instance', 'Not OK'], '--instance'],
    [['--instance', 'example'], '--instance'],
    [['--secret-days', 'long'], '--secret-days'],
    [['--database-url', 'postgres://quartermaster:hush-hush@127.0.0.1/quartermaster'], 'DATABASE_URL'],
  ])('refuses the options %j', async (args, shown) => {
    const own = await installation(await emptyTenant())
    const { exit, text, calls } = await own.run({ args })
    expect([exit, calls.filter(({ operation }) => !operation.startsWith('control.'))]).toEqual([2, []])
    expect(text).toContain(shown)
    expect(text).not.toContain('hush-hush')
  })

  it('refuses SharePoint of another organisation', async () => {
    const tenant = await emptyTenant()
    const own = await installation(tenant)
    const foreign: typeof fetch = async (url, init) =>
      String(url).startsWith('https://fabrikam.sharepoint.com/')
        ? new Response(null, {
            status: 401,
            headers: { 'www-authenticate': 'Bearer realm="99999999-1111-4111-8111-000000000365"' },
          })
        : fetch(url, init)
    const args = ['--yes', '--base-url', 'https://a.contoso.example', '--database-url', 'embedded']
    const { exit, text, writes } = await own.run({
      args: [...args, '--sharepoint-url', 'https://fabrikam.sharepoint.com'],
      fetch: foreign,
    })
    expect([exit, writes]).toEqual([1, []])
    expect(text).toContain('https://fabrikam.sharepoint.com belongs to another organisation.')
    expect((await ask('GET', `${tenant.url}/_vti_bin/client.svc`)).headers.get('www-authenticate')).toContain(
      tenant.tenantId,
    )
  })
})
