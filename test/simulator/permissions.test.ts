import { describe, expect, it } from 'vitest'
import table from '../../src/simulator/graph/permissions.json' with { type: 'json' }
import { ask, clientOf, consent, dana, scopes, tenantFor, tokenOf } from '../support/simulator.ts'

const without = async (resource: string, roles: readonly string[]) => {
  const simulator = await tenantFor()
  await consent(simulator, resource, roles)
  return clientOf(simulator)
}
const invoke = (tenantId: string) => `/adminapi/beta/${tenantId}/InvokeCommand`
const getMailbox = { CmdletInput: { CmdletName: 'Get-Mailbox', Parameters: {} } }

describe('permissions', () => {
  it('are known for every simulated operation of Graph', async () => {
    const simulator = await tenantFor()
    const { value } = (await ask('GET', `${simulator.url}/control/operations`)).body
    const served = value.filter((name: string) => name.startsWith('graph.'))
    expect(served.filter((name: string) => !Object.hasOwn(table.operations, name))).toEqual([])
    const calls = new Set(Object.values(table.operations))
    expect([...calls].toSorted()).toEqual(Object.keys(table.calls).toSorted())
  })

  it('belong to one service: the other services refuse its token', async () => {
    const simulator = await tenantFor()
    const calls = {
      graph: (token: string) => ask('GET', `${simulator.url}/v1.0/groups`, { token }),
      sharePoint: (token: string) =>
        ask('POST', `${simulator.url}/_api/SP.Site.Exists`, { token, body: { url: `${simulator.url}/sites/x` } }),
      exchange: (token: string) =>
        ask('POST', `${simulator.url}${invoke(simulator.tenantId)}`, { token, body: getMailbox }),
    }
    const audiences = {
      ...scopes,
      'graph by id': '00000003-0000-0000-c000-000000000000/.default',
      'sharePoint by host': `${simulator.url}/.default`,
      'exchange by id': '00000002-0000-0ff1-ce00-000000000000/.default',
      'another API': `${simulator.url}/collab/.default`,
    }
    for (const [name, scope] of Object.entries(audiences)) {
      const token = await tokenOf(simulator, undefined, scope)
      for (const [service, call] of Object.entries(calls)) {
        const status = (await call(token)).status
        expect([name, service, status]).toEqual([name, service, name.split(' ')[0] === service ? 200 : 401])
      }
    }
  })

  it('stay unchanged in an issued token', async () => {
    const simulator = await tenantFor()
    const early = await clientOf(simulator)
    await consent(simulator, 'graph', ['User.Read.All'])
    const late = await clientOf(simulator)
    expect((await early('GET', '/v1.0/groups')).status).toBe(200)
    expect((await late('GET', '/v1.0/groups')).status).toBe(403)
    await ask('DELETE', `${simulator.url}/control/consents`)
    expect((await late('GET', '/v1.0/groups')).status).toBe(403)
    expect((await (await clientOf(simulator))('GET', '/v1.0/groups')).status).toBe(200)
  })

  it('that are missing cause Graph’s refusal in the format of each workload', async () => {
    const call = await without('graph', ['User.ReadBasic.All'])
    expect(await call('GET', '/v1.0/groups')).toMatchObject({
      status: 403,
      body: {
        error: {
          code: 'Authorization_RequestDenied',
          message: 'Insufficient privileges to complete the operation.',
        },
      },
    })
    expect(await call('GET', '/v1.0/sites?search=a')).toMatchObject({
      status: 403,
      body: { error: { code: 'accessDenied' } },
    })
    const teams = await call('GET', `/v1.0/users/${dana}/teamwork/installedApps`)
    expect(teams).toMatchObject({ status: 403, body: { error: { code: 'Forbidden' } } })
    expect(teams.body.error.message).toContain("Roles on the request 'User.ReadBasic.All'.")
  })

  it('that are missing cause SharePoint’s refusal, with 401 when the app has no role at all', async () => {
    const denied = { 'odata.error': { code: '-2147024891, System.UnauthorizedAccessException' } }
    const reader = await without('sharepoint', ['Sites.Read.All'])
    const status = "/_api/SPSiteManager/status?url='x'"
    expect(await reader('GET', status)).toMatchObject({ status: 403, body: denied })
    expect((await reader('GET', '/sites/marketing/_api/web')).status).toBe(200)
    const nobody = await without('sharepoint', [])
    expect(await nobody('GET', status)).toMatchObject({ status: 401, body: denied })
  })

  it.each([
    [401, ['Exchange Administrator'], 'User is not allowed to call Get-Mailbox'],
    [403, ['Exchange.ManageAsApp'], "isn't supported in this scenario"],
  ])('that are missing cause Exchange’s refusal: %i with only %j', async (status, roles, message) => {
    const simulator = await tenantFor()
    await consent(simulator, 'exchange', roles)
    const call = await clientOf(simulator)
    const answer = await call('POST', invoke(simulator.tenantId), getMailbox)
    expect(answer.status).toBe(status)
    expect(answer.body.error.message).toContain(message)
  })

  it('for names only hide whether accounts are enabled', async () => {
    const path = `/v1.0/users/${dana}?$select=displayName,accountEnabled,userType`
    const basic = await without('graph', ['User.ReadBasic.All'])
    expect((await basic('GET', path)).body).toMatchObject({
      displayName: 'Dana Fox',
      accountEnabled: null,
      userType: null,
    })
    const full = await without('graph', ['User.Read.All'])
    expect((await full('GET', path)).body).toMatchObject({ accountEnabled: true, userType: 'Member' })
  })

  it('of a person’s app are the scopes of the token', async () => {
    const simulator = await tenantFor()
    const statuses = ['User.Read', 'Group.Read.All', '.default'].map(async (scope) => {
      const token = await tokenOf(simulator, 'kim@contoso.example', `https://graph.microsoft.com/${scope}`)
      return (await ask('GET', `${simulator.url}/v1.0/groups`, { token })).status
    })
    expect(await Promise.all(statuses)).toEqual([403, 200, 200])
  })

  it('are granted for exactly the existing services', async () => {
    const simulator = await tenantFor()
    expect((await consent(simulator, 'teams', [])).status).toBe(400)
    expect((await consent(simulator, 'graph', ['Group.Read.All'])).body).toMatchObject({ graph: ['Group.Read.All'] })
    expect((await ask('GET', `${simulator.url}/control/consents`)).body).toMatchObject({
      graph: ['Group.Read.All'],
      sharepoint: ['Sites.FullControl.All'],
    })
  })
})
