import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { request as callHttp } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { join, resolve } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { parseEnv } from 'node:util'
import { describe, expect, it, onTestFinished } from 'vitest'
import { freePort } from '../../src/app/free-port.ts'
import { administrator } from '../support/administrator.ts'
import { bareEnvironment } from '../support/bare-environment.ts'
import { type Authority, newAuthority } from '../support/certificates.ts'
import { answerCode, startQuartermaster, watchProcess } from '../support/command-line.ts'
import { type Connector, startConnector } from '../support/connector.ts'
import { withConnectorKeys } from '../support/connector-keys.ts'
import { linkOf } from '../support/journey.ts'
import { startProduct } from '../support/process.ts'
import { ask, temporaryFolder, tenantFor } from '../support/simulator.ts'
import { decisionAbout, readsAfter, reviews, subject } from '../support/site-request.ts'
import { people, TeamsUser } from '../support/teams-user.ts'
import { until } from '../support/until.ts'

/** Starts a TLS proxy, as in front of the service and of Microsoft's hosts. Returns its port. */
async function tlsBefore(authority: Authority, url: string, host = 'localhost'): Promise<number> {
  const { key, certificate: cert } = authority.issue([host])
  const server = createServer({ key, cert }, (incoming, answer) => {
    const { method } = incoming
    // The simulator accepts calls from this machine only.
    const headers = { ...incoming.headers, ...(host !== 'localhost' && { host: 'localhost' }) }
    // Microsoft's connector has the paths of its protocol below the name of the cloud or a region.
    const path = incoming.url?.replace(/^\/teams(?=\/v3\/)/, '')
    const outgoing = callHttp(`${url}${path}`, { method, headers }, (response) => {
      answer.writeHead(response.statusCode ?? 502, response.headers)
      response.pipe(answer)
    })
    // Not chained: restify, which other tests of this worker load, makes writeHead return nothing.
    outgoing.on('error', () => {
      answer.writeHead(502)
      answer.end()
    })
    incoming.pipe(outgoing)
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return (server.address() as AddressInfo).port
}

const teamsUrl = 'https://smba.trafficmanager.net/teams/'
const hostsOfMicrosoft = pathToFileURL(resolve('test/support/microsoft-hosts.ts'))

/** A person in Teams whose activities have the Bot connector's token. */
class RealTeamsUser extends TeamsUser {
  readonly #token: () => Promise<string>
  readonly #url: string

  constructor(url: string, connector: Connector, person: { id: string; name: string }, token: () => Promise<string>) {
    super(() => url, connector, person)
    this.#url = url
    this.#token = token
  }

  override activity(change: Record<string, unknown> = {}): Record<string, unknown> {
    return super.activity({ serviceUrl: teamsUrl, ...change })
  }

  override async post(activity: Record<string, unknown>): Promise<Response> {
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${await this.#token()}` }
    return fetch(`${this.#url}/api/messages`, { method: 'POST', headers, body: JSON.stringify(activity) })
  }
}

describe('an empty tenant', () => {
  const connectorKeys = withConnectorKeys()

  it('has its first sites after setup, check:tenant and a production start: one by chat and one by the command line', async () => {
    const folder = await temporaryFolder()
    const authority = newAuthority('Contoso authority')
    const trusted = join(folder, 'authority.pem')
    writeFileSync(trusted, authority.certificate)
    const [tenantPort, port] = [await freePort(), await freePort()]
    const [direct, own] = [`http://127.0.0.1:${tenantPort}`, `http://127.0.0.1:${port}`]
    const tenantUrl = `https://localhost:${await tlsBefore(authority, direct)}`
    const baseUrl = `https://localhost:${await tlsBefore(authority, own)}`
    await tenantFor({ tenant: 'empty', port: tenantPort, publicUrl: tenantUrl })
    const addresses = { LOGIN_URL: tenantUrl, DIRECTORY_URL: tenantUrl, EXCHANGE_URL: tenantUrl }
    const variables = { ...bareEnvironment, ...addresses, NODE_EXTRA_CA_CERTS: trusted, NO_COLOR: '1' }
    const cwd = join(folder, 'service')
    mkdirSync(cwd)

    // npm run setup
    const answers = ['--base-url', baseUrl, '--database-url', 'embedded', '--sharepoint-url', tenantUrl]
    const setup = watchProcess(
      spawn(process.execPath, [resolve('src/app/setup/main.ts'), '--yes', ...answers], { cwd, env: variables }),
    )
    const code = await until(async () => /enter the code ([A-Z]+)/.exec(setup.printed())?.[1], 'a code')
    const signIn = (user_code: string, person: string) =>
      ask('POST', `${direct}/devicelogin`, { body: new URLSearchParams({ user_code, person, answer: 'allow' }) })
    expect((await signIn(code, people.sam.id)).status).toBe(200)
    const { exit, printed, errorText } = await setup.ended
    expect(exit, printed + errorText).toBe(0)
    expect(printed).toContain('Setup is complete.')
    expect(printed).not.toContain('does not accept these settings')
    const settings = parseEnv(readFileSync(join(cwd, '.env'), 'utf8'))

    // npm run check:tenant before the first start: BASE_URL does not answer yet. All of the tenant's servers know the
    // new extension one second after setup.
    await setTimeout(1000)
    const check = watchProcess(spawn(process.execPath, [resolve('src/app/check/main.ts')], { cwd, env: variables }))
    const checked = await check.ended
    expect(checked.exit, checked.printed + checked.errorText).toBe(0)
    expect(checked.printed).not.toContain('✗')
    expect(checked.printed).toMatch(/✓ Permissions/)

    // npm start. This test provides Microsoft's hosts for the bot: the connector, its keys and the login.
    const connector = await startConnector()
    onTestFinished(() => connector.close())
    const servers = {
      'login.botframework.com': connectorKeys.url,
      'login.microsoftonline.com': direct,
      'smba.trafficmanager.net': connector.url,
    }
    const hosts: Record<string, number> = {}
    for (const [host, url] of Object.entries(servers)) hosts[host] = await tlsBefore(authority, url, host)
    const more = {
      ...{ HOST: '127.0.0.1', PORT: String(port), LOG_LEVEL: process.env['TEST_LOG_LEVEL'] ?? 'fatal' },
      ...{ NODE_OPTIONS: `--import=${hostsOfMicrosoft}`, MICROSOFT_HOSTS: JSON.stringify(hosts) },
    }
    const service = await startProduct('main.ts', {
      cwd,
      variables: { ...variables, ...more },
      up: /Quartermaster answers at/,
    })
    onTestFinished(() => service.kill())

    // In chat: Kim requests a site, Kim's manager approves it, and Kim receives the card with its address.
    const aud = settings['MICROSOFT_APP_ID']
    const token = () => connectorKeys.token({ aud, serviceurl: teamsUrl })
    const user = (name: keyof typeof people) => new RealTeamsUser(own, connector, people[name], token)
    const [kim, dana] = [user('kim'), user('dana')]
    await dana.installs()
    const { id, card } = await reviews(kim, { displayName: 'First steps', reason: 'A new team' }, 'team site')
    const { requestId: firstId } = subject(card, 'Send')
    expect(readsAfter(await kim.clicks({ id, card }, 'Send'))).toContain('Waiting for approval')
    const decision = await decisionAbout(dana, 'First steps')
    expect(readsAfter(await dana.clicks(decision, 'Approve'))).toContain('Approved by you')
    const ready = await kim.sees(/Your site is ready[\s\S]*First steps/)
    expect(linkOf(ready)).toMatch(/^https:.*\/sites\/.*first-steps/)
    const graph = await administrator({ url: direct })
    const extension = settings['DIRECTORY_EXTENSION'] ?? ''
    const { value: groups } = await graph
      .api('/groups')
      .filter(`${extension}/requestId eq '${firstId}'`)
      .select(`id,${extension}`)
      .get()
    expect(groups).toMatchObject([{ [extension]: { requestId: firstId } }])

    // The same person on the command line, with the command that setup has printed.
    const home = join(folder, 'kim')
    const shown = { NODE_EXTRA_CA_CERTS: trusted, NO_COLOR: '1' }
    const quartermaster = (...args: string[]) => startQuartermaster(args, home, shown)
    const [, command = ''] = /npx quartermaster (login .*)/.exec(printed) ?? []
    const login = quartermaster(...command.split(' '))
    const prompt = await until(
      async () => /Open (\S+) .* code ([A-Z]+)\./.exec(login.errorText()) ?? undefined,
      'a code',
    )
    expect(prompt[1]).toContain(tenantUrl)
    await answerCode(`${direct}/devicelogin`, prompt[2] ?? '', 'kim', 'allow')
    const loggedIn = await login.ended
    expect(loggedIn.exit, loggedIn.errorText).toBe(0)
    const wanted = ['--template', 'Team site', '--display-name', 'Second steps', '--owner', 'omar@contoso.example']
    const created = await quartermaster('site', 'create', ...wanted, '--yes', '--json').ended
    expect(created.exit, created.errorText).toBe(0)
    const following = quartermaster('request', 'watch', JSON.parse(created.printed).requestId)
    const second = await decisionAbout(dana, 'Second steps')
    expect(readsAfter(await dana.clicks(second, 'Approve'))).toContain('Approved by you')
    const followed = await following.ended
    expect(followed.exit, followed.errorText).toBe(0)
    expect(followed.printed + followed.errorText).toMatch(/\/sites\/.*second-steps/)
    // Setup does not allow everybody's command line to read groups.
    const groupless = await quartermaster('request', 'group', firstId).ended
    expect(groupless.errorText).toContain('grant the delegated permission Group.Read.All')
    expect(await service.stop()).toBe(0)
  })
})
