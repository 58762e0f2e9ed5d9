import { describe, expect, it } from 'vitest'
import { ask, clientOf, dana, kim, tenantFor } from '../support/simulator.ts'

const app = '66666666-ffff-4fff-8fff-000000000001'
const apps = (id: string) => `/v1.0/users/${id}/teamwork/installedApps`
const bind = (id: string) => ({ 'teamsApp@odata.bind': `https://graph.microsoft.com/v1.0/appCatalogs/teamsApps/${id}` })

describe('an app of the catalogue', () => {
  it('is installed for a person once, and listed', async () => {
    const call = await clientOf(await tenantFor())
    const made = await call('POST', apps(dana), bind(app))
    expect([made.status, made.body]).toEqual([201, ''])
    expect(await call('POST', apps(dana), bind(app))).toMatchObject({
      status: 409,
      body: { error: { code: 'Conflict' } },
    })
    const find = `?$expand=teamsApp&$filter=teamsApp/id eq '${app}'`
    const { body } = await call('GET', `${apps(dana)}${find}`)
    expect(body.value).toEqual([
      { id: expect.any(String), teamsApp: expect.objectContaining({ id: app, displayName: 'Quartermaster' }) },
    ])
    expect(body.value[0].id).not.toBe(app)
    expect((await call('GET', `${apps(kim)}${find}`)).body.value).toEqual([])
  })

  it('has a chat with the person, with an id that the connector knows; other people have no chat', async () => {
    const call = await clientOf(await tenantFor())
    await call('POST', apps(dana), bind(app))
    const [{ id }] = (await call('GET', `${apps(dana)}?$expand=teamsApp`)).body.value
    const chat = await call('GET', `${apps(dana)}/${encodeURIComponent(id)}/chat`)
    expect([chat.status, chat.body.id, chat.body.chatType]).toEqual([
      200,
      `19:66666666-ffff-4fff-8fff-000000000002_${dana}@unq.gbl.spaces`,
      'oneOnOne',
    ])
    expect((await call('GET', `${apps(kim)}/${encodeURIComponent(id)}/chat`)).status).toBe(404)
  })

  it('can be installed by a setup policy of the organisation', async () => {
    const simulator = await tenantFor()
    const call = await clientOf(simulator)
    const policy = (body: object) => ask('POST', `${simulator.url}/control/installed-apps`, { body })
    expect((await policy({ userId: dana, teamsAppId: app })).status).toBe(204)
    expect((await policy({ userId: dana, teamsAppId: dana })).status).toBe(404)
    expect((await call('POST', apps(dana), bind(app))).status).toBe(409)
    expect((await call('GET', apps(dana))).body.value).toHaveLength(1)
  })

  it.each([
    ['an app that is not in the catalogue', dana, bind('66666666-ffff-4fff-8fff-000000000002'), 404],
    ['no app', dana, {}, 400],
    ['an address that is not an app', dana, { 'teamsApp@odata.bind': 'https://evil.example/app' }, 400],
    ['an unknown person', '11111111-0000-4000-8000-000000000000', bind(app), 404],
    ['a person without a licence', 'max.frei@contoso.example', bind(app), 404],
  ])('is refused: %s', async (_, who, body, status) => {
    const call = await clientOf(await tenantFor())
    const answer = await call('POST', apps(who), body)
    expect([answer.status, typeof answer.body.error.code]).toEqual([status, 'string'])
  })

  it('can be refused by a fault', async () => {
    const simulator = await tenantFor()
    const call = await clientOf(simulator)
    const fault = { operation: 'graph.installedApps.add', kind: 'failBeforeCommit', status: 403, count: 1 }
    const headers = { 'content-type': 'application/json' }
    await fetch(`${simulator.url}/control/faults`, { method: 'POST', headers, body: JSON.stringify(fault) })
    expect(await call('POST', apps(dana), bind(app))).toMatchObject({
      status: 403,
      body: { error: { code: 'Forbidden' } },
    })
    expect((await call('POST', apps(dana), bind(app))).status).toBe(201)
  })
})

describe('people found by a filter', () => {
  const find = async (filter: string) => {
    const call = await clientOf(await tenantFor())
    const { body } = await call('GET', `/v1.0/users?$filter=${encodeURIComponent(filter)}&$select=id,displayName`)
    return body.value.map((one: { displayName: string }) => one.displayName)
  }

  it.each([
    ["userPrincipalName eq 'DANA@contoso.example' or mail eq 'DANA@contoso.example'", ['Dana Fox']],
    ["userPrincipalName eq 'huelya.demir@contoso.example' or mail eq 'huelya.demir@contoso.example'", ['Hülya Demir']],
    ["startswith(displayName,'Siobhán O''B')", ["Siobhán O'Brien"]],
    ["startswith(displayName,'x'' or id ne ''')", []],
  ])('%s', async (filter, names) => {
    expect(await find(filter)).toEqual(names)
  })
})
