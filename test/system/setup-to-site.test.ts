import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { request as callHttp } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { join, resolve } from 'node:path'
import { parseEnv } from 'node:util'
import { describe, expect, it, onTestFinished } from 'vitest'
import { administrator } from '../support/administrator.ts'
import { bareEnvironment } from '../support/bare-environment.ts'
import { type Authority, newAuthority } from '../support/certificates.ts'
import { answerCode, startQuartermaster, watchProcess } from '../support/command-line.ts'
import { freePort } from '../support/free-port.ts'
import { startProduct } from '../support/process.ts'
import { ask, temporaryFolder, tenantFor } from '../support/simulator.ts'
import { people } from '../support/teams-user.ts'
import { until } from '../support/until.ts'

/** A proxy with TLS, as it stands before the service and before Microsoft's hosts. */
async function tlsBefore(authority: Authority, port: number): Promise<string> {
  const { key, certificate: cert } = authority.issue(['localhost'])
  const server = createServer({ key, cert }, (incoming, answer) => {
    const { method, url: path, headers } = incoming
    const outgoing = callHttp({ host: '127.0.0.1', port, method, path, headers }, (response) => {
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
  return `https://localhost:${(server.address() as AddressInfo).port}`
}

describe('an empty tenant', { timeout: 120_000 }, () => {
  it('gets its first sites: npm run setup, npm run check:tenant, npm start in production, one by REST and one by the command line', async () => {
    const folder = await temporaryFolder()
    const authority = newAuthority('Contoso authority')
    const trusted = join(folder, 'authority.pem')
    writeFileSync(trusted, authority.certificate)
    const [tenantPort, port] = [await freePort(), await freePort()]
    const [tenantUrl, baseUrl] = [await tlsBefore(authority, tenantPort), await tlsBefore(authority, port)]
    const tenant = await tenantFor({ tenant: 'empty', port: tenantPort, publicUrl: tenantUrl })
    const direct = `http://127.0.0.1:${tenantPort}`
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
    const { exit, printed, told } = await setup.ended
    expect(exit, printed + told).toBe(0)
    expect(printed).toContain('Setup is complete.')
    expect(printed).not.toContain('npm start would not start')
    const settings = parseEnv(readFileSync(join(cwd, '.env'), 'utf8'))

    // npm run check:tenant, before the first start: nobody answers at BASE_URL yet.
    const check = watchProcess(spawn(process.execPath, [resolve('src/app/check/main.ts')], { cwd, env: variables }))
    const checked = await check.ended
    expect(checked.exit, checked.printed + checked.told).toBe(0)
    expect(checked.printed).not.toContain('✗')
    expect(checked.printed).toMatch(/✓ Permissions/)

    // npm start
    const more = { HOST: '127.0.0.1', PORT: String(port), LOG_LEVEL: 'fatal' }
    const service = await startProduct('main.ts', {
      cwd,
      variables: { ...variables, ...more },
      up: /Quartermaster answers at/,
    })
    onTestFinished(() => service.kill())

    // A person signs in with the command-line client that setup has created.
    const graph = await administrator({ url: direct })
    const client = await graph.api("/applications(uniqueName='quartermaster-command-line')").get()
    const tokenOf = async (person: string): Promise<string> => {
      const root = `${direct}/${tenant.tenantId}/oauth2/v2.0`
      const own = { client_id: client.appId, scope: settings['COLLAB_SCOPE'] ?? '' }
      const shown = await ask('POST', `${root}/devicecode`, { body: new URLSearchParams(own) })
      await signIn(shown.body.user_code, person)
      const grant = { ...own, grant_type: 'urn:ietf:params:oauth:grant-type:device_code' }
      const body = new URLSearchParams({ ...grant, device_code: shown.body.device_code })
      return (await ask('POST', `${root}/token`, { body })).body.access_token
    }
    const call = async (method: string, path: string, token: string, body?: object) =>
      ask(method, `http://127.0.0.1:${port}${path}`, { token, ...(body && { body }) })
    const kim = await tokenOf(people.kim.id)
    const templates = await call('GET', '/templates/v1/', kim)
    expect(templates.status, JSON.stringify(templates.body)).toBe(200)
    const template = templates.body.value.find(({ kind }: { kind: string }) => kind === 'teamSite')
    const sent = await call('POST', '/collab/v1/spo/', kim, { displayName: 'First steps', templateId: template.id })
    expect(sent.status, JSON.stringify(sent.body)).toBe(202)

    const request = `/requests/v1/${sent.body.requestId}`
    const { approvals } = (await call('GET', request, kim)).body
    const approver = approvals[0]?.approvers[0]?.id
    expect(approver, JSON.stringify(approvals)).toBeDefined()
    const decided = await call('POST', `${request}/approve`, await tokenOf(approver), { comment: 'Welcome' })
    expect(decided.status, JSON.stringify(decided.body)).toBe(200)
    const made = await until(
      async () => {
        const { body } = await call('GET', request, kim)
        if (body.status === 'failed') throw new Error(JSON.stringify(body.problem))
        return body.status === 'succeeded' ? body : undefined
      },
      'the first site',
      60,
    )
    expect(made.resource.url).toMatch(/\/sites\//)
    const group = await graph
      .api(`/groups/${made.resource.securityGroupId}`)
      .select(`id,${settings['DIRECTORY_EXTENSION']}`)
      .get()
    expect(group[settings['DIRECTORY_EXTENSION'] ?? '']).toMatchObject({ requestId: sent.body.requestId })

    // The same person by the command line, which signs in with the client of setup.
    const home = join(folder, 'kim')
    const shown = { NODE_EXTRA_CA_CERTS: trusted, NO_COLOR: '1' }
    const quartermaster = (...args: string[]) => startQuartermaster(args, home, shown)
    // The scopes do not begin with the service's address, so the person accepts them.
    const { COLLAB_SCOPE = '', MAIL_SCOPE = '' } = settings
    const scopes = ['--collab-scope', COLLAB_SCOPE, '--mail-scope', MAIL_SCOPE]
    const login = quartermaster('login', '--base-url', baseUrl, '--client-id', client.appId, ...scopes)
    const prompt = await until(async () => /Open (\S+) .* code ([A-Z]+)\./.exec(login.told()) ?? undefined, 'a code')
    expect(prompt[1]).toContain(tenantUrl)
    await answerCode(`${direct}/devicelogin`, prompt[2] ?? '', 'kim', 'allow')
    const loggedIn = await login.ended
    expect(loggedIn.exit, loggedIn.told).toBe(0)
    const wanted = ['--template', template.name, '--display-name', 'Second steps', '--yes', '--json']
    const created = await quartermaster('site', 'create', ...wanted).ended
    expect(created.exit, created.told).toBe(0)
    const { requestId } = JSON.parse(created.printed)
    const following = quartermaster('request', 'watch', requestId)
    const approval = await call('POST', `/requests/v1/${requestId}/approve`, await tokenOf(approver), {
      comment: 'Yes',
    })
    expect(approval.status, JSON.stringify(approval.body)).toBe(200)
    const followed = await following.ended
    expect(followed.exit, followed.told).toBe(0)
    expect(followed.printed + followed.told).toMatch(/\/sites\/.*second-steps/)
    expect(await service.stop()).toBe(0)
  })
})
