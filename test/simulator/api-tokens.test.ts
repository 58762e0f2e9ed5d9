import { mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import { decodeJwt } from 'jose'
import { beforeAll, describe, expect, inject, it } from 'vitest'
import { type Simulator, startSimulator } from '../../src/simulator/index.ts'
import { ask, kim } from '../support/simulator.ts'
import { apiIds, contosoTenant, scopes } from '../support/teams-user.ts'

const client = '5f0a1b2c-3d4e-4f5a-8b6c-7d8e9f0a1b2c'
const baseUrl = 'https://provisioning.contoso.example'

describe('a token for an API of the organisation', () => {
  let simulator: Simulator
  beforeAll(async () => {
    const dataDir = mkdtempSync(join(inject('runFolder'), 'api-tokens-'))
    simulator = await startSimulator({ dataDir, port: 0, baseUrl })
    return () => simulator.close()
  })
  const forPerson = async (scope: string) => {
    const body = { userId: kim, scope, clientId: client }
    return (await ask('POST', `${simulator.url}/control/token`, { body })).body.access_token as string
  }
  const login = (path: string, form: Record<string, string>) =>
    ask('POST', `${simulator.url}/${contosoTenant}/oauth2/v2.0/${path}`, {
      body: new URLSearchParams({ client_id: client, ...form }),
    })
  const forApp = (scope: string) => login('token', { grant_type: 'client_credentials', client_secret: 'any', scope })
  const version = (apiTokenVersion: 1 | 2) =>
    ask('POST', `${simulator.url}/control/tenant`, { body: { apiTokenVersion } })

  it.each([
    ['its App ID URI', scopes.collab],
    ['its client id', `${apiIds.collab}/App.ReadWrite.All`],
    ['the address of the service', `${baseUrl}/collab/App.ReadWrite.All`],
    ['all scopes with consent', `api://${apiIds.collab}/.default`],
  ])('has the client id as its audience if the client requests %s', async (_, scope) => {
    const claims = decodeJwt(await forPerson(scope))
    expect(claims).toMatchObject({
      ...{ aud: apiIds.collab, iss: `${simulator.url}/${contosoTenant}/v2.0`, ver: '2.0', tid: contosoTenant },
      ...{ azp: client, azpacr: '0', scp: 'App.ReadWrite.All', oid: kim, preferred_username: 'kim@contoso.example' },
    })
    expect(claims).not.toHaveProperty('roles')
  })

  it('has roles for an application, and neither a scope nor the optional claim idtyp', async () => {
    const claims = decodeJwt((await forApp(`api://${apiIds.mail}/.default`)).body.access_token)
    expect(claims).toMatchObject({ aud: apiIds.mail, azp: client, azpacr: '1', roles: ['App.ReadWrite.All'] })
    expect(claims.sub).toBe(claims['oid'])
    expect(Object.keys(claims)).not.toEqual(expect.arrayContaining(['scp']))
    expect(claims).not.toHaveProperty('idtyp')
  })

  it('is of version 1 on demand: with the requested URI, another issuer and other names of claims', async () => {
    await version(1)
    const claims = decodeJwt(await forPerson(`${baseUrl}/collab/App.ReadWrite.All`))
    expect(claims).toMatchObject({
      ...{ aud: `${baseUrl}/collab`, iss: `https://sts.windows.net/${contosoTenant}/`, ver: '1.0' },
      ...{ appid: client, appidacr: '0', scp: 'App.ReadWrite.All', oid: kim, upn: 'kim@contoso.example' },
    })
    for (const name of ['azp', 'azpacr', 'preferred_username']) expect(claims).not.toHaveProperty(name)
    const app = decodeJwt((await forApp(`api://${apiIds.mail}/.default`)).body.access_token)
    expect(app).toMatchObject({ aud: `api://${apiIds.mail}`, appid: client, appidacr: '1', ver: '1.0' })
    // Microsoft's services choose the version of their tokens themselves.
    const graph = await forApp('https://graph.microsoft.com/.default')
    expect(decodeJwt(graph.body.access_token)).toMatchObject({ ver: '2.0', idtyp: 'app' })
    await version(2)
    expect(decodeJwt(await forPerson(scopes.collab))).toMatchObject({ ver: '2.0' })
  })

  it('is refused for a resource until the resource is registered', async () => {
    const scope = 'api://payroll/App.ReadWrite.All'
    const refusal = { status: 400, body: { error: 'invalid_resource', error_codes: [500011] } }
    expect(await forApp('api://payroll/.default')).toMatchObject(refusal)
    expect(await login('devicecode', { scope })).toMatchObject(refusal)
    expect(await ask('POST', `${simulator.url}/control/token`, { body: { userId: kim, scope } })).toMatchObject(refusal)
    const body = { clientId: '99992222-3333-4444-8555-666677778888', appIdUris: ['api://payroll'] }
    expect(await ask('POST', `${simulator.url}/control/apis`, { body })).toMatchObject({ status: 201, body })
    expect(decodeJwt(await forPerson(scope)).aud).toBe(body.clientId)
    expect((await login('devicecode', { scope })).status).toBe(200)
  })

  it('is refused for a scope that the API does not have', async () => {
    const answer = await login('devicecode', { scope: `api://${apiIds.collab}/Files.Read` })
    expect(answer).toMatchObject({ status: 400, body: { error: 'invalid_scope', error_codes: [70011] } })
    expect(answer.body.error_description).toContain("no scope 'Files.Read'")
  })
})
