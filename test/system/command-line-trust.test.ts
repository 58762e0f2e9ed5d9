import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { decodeJwt } from 'jose'
import { describe, expect, test } from 'vitest'
import { isScopeOf, isTrustedLogin } from '../../src/client/command-line/settings.ts'
import { createSignIn } from '../../src/client/sign-in.ts'
import { newHome, runQuartermaster, signIn } from '../support/command-line.ts'
import { hostileServer, type Reply, reply } from '../support/hostile-server.ts'
import { ask, tenantFor } from '../support/simulator.ts'
import { apiIds } from '../support/teams-user.ts'

const graph = 'https://graph.microsoft.com/.default'
const payroll = 'https://payroll.contoso.example/collab/App.ReadWrite.All'
const registered = 'api://99992222-3333-4444-8555-666677778888/App.ReadWrite.All'

/** Creates an OpenAPI document with arbitrary sign-in data. */
const documentOf = (login: string, collab: string, mail: string) => ({
  components: {
    securitySchemes: {
      entra: { flows: { authorizationCode: { tokenUrl: login, scopes: { [collab]: '', [mail]: '' } } } },
    },
  },
  paths: {
    '/collab/v1/spo': { post: { security: [{ entra: [collab] }, { token: [] }] } },
    '/mail/v1/mailboxes': { post: { security: [{ entra: [mail] }, { token: [] }] } },
  },
})

/** Starts a service that offers scopes, and records every token that it receives. */
async function offering(scopes: (own: string) => { collab: string; mail: string; login?: string }) {
  const simulator = await tenantFor()
  const home = newHome()
  const answer: Reply = (response, request) => {
    const own = `http://${request.headers.host}`
    const { collab, mail, login = `${simulator.url}/${simulator.tenantId}/oauth2/v2.0/token` } = scopes(own)
    reply(200, request.url === '/openapi.json' ? documentOf(login, collab, mail) : { value: [] })(response, request)
  }
  const { url, heard } = await hostileServer(answer)
  const register = (clientId: string, ...appIdUris: string[]) =>
    ask('POST', `${simulator.url}/control/apis`, { body: { clientId, appIdUris } })
  for (const name of [url, url.replace('127.0.0.1', 'localhost')]) {
    await register(apiIds.collab, `${name}/collab`)
    await register(apiIds.mail, `${name}/mail`)
  }
  await register('99992222-3333-4444-8555-666677778888', 'api://99992222-3333-4444-8555-666677778888')
  await register('aaaa2222-3333-4444-8555-666677778888', 'https://payroll.contoso.example/collab')
  const audiences = () =>
    heard.flatMap(({ headers: { authorization } }) =>
      authorization === undefined ? [] : [decodeJwt(authorization.replace('Bearer ', '')).aud],
    )
  const codes = async () => (await ask('GET', `${simulator.url}/control/calls?operation=login.devicecode`)).body.value
  const run = (...args: string[]) => runQuartermaster(args, { home })
  return { simulator, home, url, heard, audiences, codes, run }
}

/** Returns the command in a message, without the program's name. */
const commandIn = (errorText: string): string[] =>
  /trust \S+: quartermaster (.*)$/m.exec(errorText)?.[1]?.split(' ') ?? []

describe('a scope that does not belong to the service', () => {
  test.each([
    ['Microsoft Graph', graph],
    ['another service of the organisation', payroll],
    ['a registration by its id', registered],
  ])('causes no sign-in and no token: %s', async (_, collab) => {
    const { url, heard, codes, run } = await offering((own) => ({ collab, mail: `${own}/mail/App.ReadWrite.All` }))
    const { exit, errorText } = await run('login', '--base-url', url)
    expect(exit).toBe(2)
    expect(errorText).toContain(`${url} uses the scope ${collab}, which does not belong to ${url}.`)
    expect(errorText).toContain('could open another service')
    expect(commandIn(errorText)).toEqual(['login', '--base-url', url, '--collab-scope', collab])
    expect(heard.map(({ call }) => call)).toEqual(['GET /openapi.json'])
    expect(await codes()).toEqual([])
    expect((await run('templates', '--base-url', url)).exit).toBe(3)
  })

  test('is accepted by the command in the message, for this service only', async () => {
    const { simulator, home, url, audiences, run } = await offering(() => ({ collab: registered, mail: payroll }))
    const refused = await run('login', '--base-url', url)
    const [, , , ...flags] = commandIn(refused.errorText)
    expect(flags).toEqual(['--collab-scope', registered, '--mail-scope', payroll])
    expect(await signIn(home, url, 'kim', flags)).toMatchObject({ exit: 0 })
    expect(await run('templates')).toMatchObject({ exit: 0 })
    expect(audiences()).toEqual(['99992222-3333-4444-8555-666677778888'])
    // The choice is stored: the next sign-in needs no flag.
    expect(await signIn(home, url, 'kim')).toMatchObject({ exit: 0 })
    const login = `${simulator.url}/${simulator.tenantId}/oauth2/v2.0/token`
    const other = await hostileServer(reply(200, documentOf(login, registered, payroll)))
    expect(await run('login', '--base-url', other.url)).toMatchObject({ exit: 2 })
    expect(other.heard.every(({ headers }) => headers.authorization === undefined)).toBe(true)
  })

  test('is refused again when the service offers another scope than the accepted one', async () => {
    let collab = registered
    const { home, url, run } = await offering((own) => ({ collab, mail: `${own}/mail/App.ReadWrite.All` }))
    expect(await signIn(home, url, 'kim', ['--collab-scope', registered])).toMatchObject({ exit: 0 })
    collab = graph
    expect(await run('login', '--base-url', url)).toMatchObject({ exit: 2, errorText: expect.stringContaining(graph) })
  })

  test('is not accepted by a variable, nor because an earlier version stored it', async () => {
    const own = (url: string) => ({
      collab: `${url}/collab/App.ReadWrite.All`,
      mail: `${url}/mail/App.ReadWrite.All`,
    })
    const { home, url, audiences, run } = await offering(own)
    const variables = { QUARTERMASTER_COLLAB_SCOPE: graph }
    const byVariable = await runQuartermaster(['login', '--base-url', url], { home, variables })
    expect(byVariable).toMatchObject({ exit: 2, errorText: expect.stringContaining(`--collab-scope ${graph}`) })
    expect(await signIn(home, url, 'kim')).toMatchObject({ exit: 0 })
    expect(await run('templates')).toMatchObject({ exit: 0 })
    expect(await runQuartermaster(['templates'], { home, variables })).toMatchObject({ exit: 2 })
    const path = join(home, 'settings.json')
    const saved = JSON.parse(readFileSync(path, 'utf8'))
    saved.services[url].collabScope = payroll
    writeFileSync(path, JSON.stringify(saved))
    const stale = await run('templates')
    expect(stale).toMatchObject({ exit: 2, errorText: expect.stringContaining(`--collab-scope ${payroll}`) })
    expect(audiences()).toEqual([apiIds.collab])
  })

  test('never becomes part of a command that a shell would execute, nor of a list of scopes', async () => {
    for (const collab of ['api://x/$(touch owned)', `api://x/a ${graph}`, 'api://x/a;id', "api://x/'`id`'"]) {
      const { url, codes, run } = await offering((own) => ({ collab, mail: `${own}/mail/App.ReadWrite.All` }))
      const { exit, errorText } = await run('login', '--base-url', url)
      expect([exit, errorText.includes('quartermaster login --base-url')]).toEqual([2, false])
      expect(errorText).toContain('is not a valid scope')
      const typed = await run('login', '--base-url', url, '--collab-scope', collab)
      expect(typed).toMatchObject({ exit: 2, errorText: expect.stringContaining('--collab-scope needs one scope') })
      expect(await codes()).toEqual([])
    }
  })
})

test('a scope of the service itself needs no flag, by each name of this computer', async () => {
  const { home, url, audiences, run } = await offering((own) => ({
    collab: `${own.replace('localhost', '127.0.0.1')}/collab/App.ReadWrite.All`,
    mail: `${own}/mail/App.ReadWrite.All`,
  }))
  const byName = url.replace('127.0.0.1', 'localhost')
  expect(await signIn(home, byName, 'kim')).toMatchObject({ exit: 0 })
  expect(await run('templates')).toMatchObject({ exit: 0 })
  expect(audiences()).toEqual([apiIds.collab])
})

describe('a login that only the service names', () => {
  test('receives no call until the person confirms it', async () => {
    const login = 'https://login.contoso.example'
    const { url, run, heard } = await offering((own) => ({
      collab: `${own}/collab/App.ReadWrite.All`,
      mail: `${own}/mail/App.ReadWrite.All`,
      login: `${login}/t/oauth2/v2.0/token`,
    }))
    const { exit, errorText } = await run('login', '--base-url', url, '--client-id', 'c')
    expect([exit, errorText]).toEqual([
      2,
      expect.stringContaining(`${url} uses the login ${login}, which is not a Microsoft login.`),
    ])
    expect(commandIn(errorText)).toEqual(['login', '--base-url', url, '--client-id', 'c', '--authority', login])
    expect(heard.map(({ call }) => call)).toEqual(['GET /openapi.json'])
  })

  test.each([
    ['https://login.microsoftonline.com', true],
    ['https://login.microsoftonline.us', true],
    ['https://login.partner.microsoftonline.cn', true],
    ['http://login.microsoftonline.com', false],
    ['https://login.microsoftonline.com:8443', false],
    ['https://login.microsoftonline.com.', false],
    ['https://login.microsoftonline.com.evil.example', false],
    ['https://login-microsoftonline.com', false],
    ['https://login.microsoftonline.com@evil.example', false],
    ['https://lоgin.microsoftonline.com', false],
    ['http://127.0.0.1:3979', false],
  ])('%s is accepted from a service on another computer: %s', (login, believed) => {
    expect(isTrustedLogin(login, 'https://provisioning.contoso.example')).toBe(believed)
    expect(isTrustedLogin('http://127.0.0.1:3979', 'http://localhost:3978')).toBe(true)
  })

  test('over http is accepted on this computer only, also for programs', () => {
    const options = { loginUrl: 'http://login.contoso.example', tenantId: 't', clientId: 'c', cacheFile: '/dev/null' }
    expect(() => createSignIn(options)).toThrow('https://')
  })
})

describe('the rule for scopes that belong to a service', () => {
  const base = 'https://base.example/tenants/one'
  test.each([
    ['https://base.example/tenants/one/collab/App.ReadWrite.All', true],
    ['https://base.example/tenants/one/collab/.default', true],
    ['https://base.example/tenants/one/mail/App.ReadWrite.All', false],
    ['https://base.example/tenants/one/collab/', false],
    ['https://base.example/collab/App.ReadWrite.All', false],
    ['https://base.example/tenants/one/../two/collab/x', false],
    ['https://base.example/tenants/one/collab/../../two/collab/x', false],
    ['https://base.example/tenants/one/collab/%2e%2e/x', false],
    ['https://base.example.evil/tenants/one/collab/x', false],
    ['https://base.example./tenants/one/collab/x', false],
    ['https://base.example:8443/tenants/one/collab/x', false],
    ['https://base.example@evil.example/tenants/one/collab/x', false],
    ['https://evil@base.example/tenants/one/collab/x', false],
    ['http://base.example/tenants/one/collab/x', false],
    ['https:base.example/tenants/one/collab/x', false],
    ['https:\\\\base.example/tenants/one/collab/x', false],
    ['https://bаse.example/tenants/one/collab/x', false],
    ['https://base.example/tenants/one/collab/x https://graph.microsoft.com/.default', false],
    ['blob:https://base.example/tenants/one/collab/x', false],
    ['api://base.example/tenants/one/collab/x', false],
    ['App.ReadWrite.All', false],
    ['', false],
  ])('%s: %s', (scope, belongs) => {
    expect(isScopeOf(base, 'collab', scope)).toBe(belongs)
  })

  test('accepts only text that begins with the base address and the API', () => {
    const pieces = fc.constantFrom(
      'https://',
      'base.example',
      '.evil',
      '@',
      ':8443',
      '/',
      'tenants',
      'one',
      'collab',
      '..',
    )
    const scopes = fc.oneof(
      fc.webUrl(),
      fc.string(),
      fc.array(pieces, { maxLength: 12 }).map((each) => each.join('')),
      fc.string().map((end) => `${base}/collab/${end}`),
    )
    fc.assert(
      fc.property(scopes, (scope) => {
        if (!isScopeOf(base, 'collab', scope)) return
        expect(scope.startsWith(`${base}/collab/`)).toBe(true)
        expect(new URL(scope).href).toBe(scope)
        expect(scope).not.toMatch(/\s|@|\.\.\//)
      }),
    )
  })
})
