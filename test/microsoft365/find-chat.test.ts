import type { IncomingMessage, ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { afterEach, describe, expect, it } from 'vitest'
import { send, sendJson, startServer } from '../support/http-server.ts'
import { answersSignIn, connectTo, dana, kim, omar } from '../support/microsoft365.ts'
import { startTenant } from '../support/simulated-tenant.ts'
import { control } from '../support/tenant-control.ts'

const teamsAppId = '66666666-ffff-4fff-8fff-000000000001'
const chatOfDana = `19:66666666-ffff-4fff-8fff-000000000002_${dana.id}@unq.gbl.spaces`
const [installing, lookingUp] = [{ install: true }, { install: false }]
const open: { close(): Promise<void> }[] = []
afterEach(async () => {
  for (const one of open.splice(0)) await one.close()
})

/** Creates a Graph with the given answer, and records its calls. */
async function graphThat(answer: (response: ServerResponse, request: IncomingMessage) => void, now?: () => number) {
  const calls: { call: string; body: unknown }[] = []
  const warned: object[] = []
  const server = await startServer((request, response) => {
    if (answersSignIn(request, response)) return
    void text(request).then((body) => {
      calls.push({
        call: `${request.method} ${decodeURIComponent(request.url ?? '')}`,
        body: JSON.parse(body || 'null'),
      })
      answer(response, request)
    })
  })
  open.push(server)
  const warn = (message: string, fields: object) => warned.push({ message, ...fields })
  const { tenant } = connectTo(server.url, { teamsAppId, warn, ...(now && { now }) })
  return { tenant, calls, warned, url: server.url }
}
const refusing = (status: number, code: string, message = 'No.') =>
  graphThat((response) => sendJson(response, status, { error: { code, message } }))

/** Creates a simulated organisation with its setup policies. */
async function contoso() {
  const tenant = await startTenant({}, { teamsAppId })
  open.push(tenant)
  const byPolicy = (userId: string) => control(tenant.simulator.url, 'POST', 'installed-apps', { userId, teamsAppId })
  const statuses = async (operation: string) =>
    (await tenant.calls()).filter((call) => call.operation === operation).map(({ status }) => status)
  return { ...tenant, byPolicy, statuses }
}

describe('the chat of a person with the bot', () => {
  it('starts with the installation of the app, as Graph documents it; then Teams notifies the bot', async () => {
    const { tenant, calls, warned, url } = await graphThat((response) => send(response, 201))
    expect(await tenant.findChat(dana.id, installing)).toBeUndefined()
    const body = { 'teamsApp@odata.bind': `${url}/v1.0/appCatalogs/teamsApps/${teamsAppId}` }
    expect(calls).toEqual([{ call: `POST /v1.0/users/${dana.id}/teamwork/installedApps`, body }])
    expect(warned).toEqual([])
  })

  it('is found when an admin has installed the app by a policy: Graph answers 409, then returns the chat', async () => {
    const { tenant, byPolicy, calls } = await contoso()
    await byPolicy(dana.id)
    expect(await tenant.findChat(dana.id, installing)).toBe(chatOfDana)
    const apps = `/v1.0/users/${dana.id}/teamwork/installedApps`
    const installation = Buffer.from(`${dana.id}##${teamsAppId}`).toString('base64')
    const found = (await calls()).filter(({ operation }) => operation.startsWith('graph.'))
    expect(found.map(({ method, path, status }) => `${method} ${path} ${status}`)).toEqual([
      `POST ${apps} 409`,
      `GET ${apps}?$expand=teamsApp&$filter=teamsApp/id eq '${teamsAppId}' 200`,
      `GET ${apps}/${installation}/chat?$select=id 200`,
    ])
  })

  it('is only looked up for a person who approves nothing: the app is not installed', async () => {
    const { tenant, byPolicy, statuses } = await contoso()
    await byPolicy(dana.id)
    expect(await tenant.findChat(kim.id, lookingUp)).toBeUndefined()
    expect(await tenant.findChat(dana.id, lookingUp)).toBe(chatOfDana)
    expect(await statuses('graph.installedApps.add')).toEqual([])
  })

  it('is not looked up without TEAMS_APP_ID', async () => {
    const server = await startServer((_, response) => send(response, 500))
    open.push(server)
    for (const how of [installing, lookingUp])
      expect(await connectTo(server.url).tenant.findChat(dana.id, how)).toBeUndefined()
  })

  it('is looked up once in ten minutes for a person who does not have a chat', async () => {
    let minutes = 0
    const { tenant, calls } = await graphThat(
      (response) => sendJson(response, 200, { value: [] }),
      () => minutes * 60_000,
    )
    for (minutes of [0, 1, 9, 11, 12]) await tenant.findChat(dana.id, lookingUp)
    expect(calls).toHaveLength(2)
  })

  it('is not the chat of another app, even if Graph ignores the filter', async () => {
    const other = { id: 'other', teamsApp: { id: '66666666-ffff-4fff-8fff-000000000009' } }
    const { tenant, calls } = await graphThat((response) => sendJson(response, 200, { value: [other] }))
    expect(await tenant.findChat(dana.id, lookingUp)).toBeUndefined()
    expect(calls).toHaveLength(1)
  })

  it('may not exist yet after an installation: the result is empty, without a warning', async () => {
    const installed = { value: [{ id: 'its-id', teamsApp: { id: teamsAppId } }] }
    const { tenant, warned } = await graphThat((response, { url = '' }) =>
      url.includes('/chat')
        ? sendJson(response, 404, { error: { code: 'NotFound' } })
        : sendJson(response, 200, installed),
    )
    expect(await tenant.findChat(dana.id, lookingUp)).toBeUndefined()
    expect(warned).toEqual([])
  })

  it.each([
    [400, 'BadRequest'],
    [401, 'Unauthorized'],
    [403, 'Forbidden'],
    [404, 'NotFound'],
  ])('is refused with %i: the log has one warning, and no job fails', async (status, code) => {
    const { tenant, warned } = await refusing(status, code, "AAD App Id 'x' is not allowed to manage the Teams App 'y'")
    for (const { id } of [dana, omar, kim]) await tenant.findChat(id, installing)
    expect(warned).toEqual([expect.objectContaining({ personId: dana.id, err: expect.objectContaining({ code }) })])
  })

  it('causes one warning for each reason', async () => {
    let status = 403
    const { tenant, warned } = await graphThat((response) => sendJson(response, status, { error: { code: 'x' } }))
    const people = [dana, omar, kim, { id: '11111111-aaaa-4aaa-8aaa-000000000004' }]
    for (const [index, { id }] of people.entries()) {
      status = index % 2 === 0 ? 403 : 404
      await tenant.findChat(id, installing)
    }
    expect(warned).toHaveLength(2)
  })

  it.each([429, 500, 502, 503, 504])('is looked up again after an answer %i', async (status) => {
    const { tenant, calls, warned } = await graphThat((response) =>
      sendJson(response, status, { error: { code: 'x' } }, { 'retry-after': '7' }),
    )
    for (const _ of [1, 2])
      await expect(tenant.findChat(dana.id, installing)).rejects.toMatchObject({
        retryable: true,
        retryAfterSeconds: 7,
      })
    expect(calls, 'a write is not repeated at once').toHaveLength(2)
    expect(warned).toEqual([])
  })

  it('is found when the answer to the installation was lost', async () => {
    const { tenant, fault, statuses } = await contoso()
    await fault({ operation: 'graph.installedApps.add', kind: 'resetAfterCommit' })
    await expect(tenant.findChat(dana.id, installing)).rejects.toMatchObject({ retryable: true })
    expect(await tenant.findChat(dana.id, installing)).toBe(chatOfDana)
    expect((await statuses('graph.installedApps.add')).toSorted()).toEqual([201, 409])
  })
})
