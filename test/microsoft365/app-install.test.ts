import type { ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { afterEach, describe, expect, it } from 'vitest'
import { answersSignIn, connectTo, dana, kim, omar, send, sendJson, startServer } from '../support/microsoft365.ts'
import { startTenant } from '../support/simulated-tenant.ts'

const teamsAppId = '66666666-ffff-4fff-8fff-000000000001'
const open: { close(): Promise<void> }[] = []
afterEach(async () => {
  for (const one of open.splice(0)) await one.close()
})

/** A Graph that answers as told, and what it was asked. */
async function graphThat(answer: (response: ServerResponse) => void, appId: string | undefined = teamsAppId) {
  const asked: { call: string; body: unknown }[] = []
  const warned: object[] = []
  const server = await startServer((request, response) => {
    if (answersSignIn(request, response)) return
    void text(request).then((body) => {
      asked.push({ call: `${request.method} ${request.url}`, body: JSON.parse(body || 'null') })
      answer(response)
    })
  })
  open.push(server)
  const { tenant } = connectTo(server.url, {
    ...(appId !== undefined && { teamsAppId: appId }),
    warn: (message, fields) => warned.push({ message, ...fields }),
  })
  return { tenant, asked, warned, url: server.url }
}
const refusing = (status: number, code: string, message = 'No.') =>
  graphThat((response) => sendJson(response, status, { error: { code, message } }))

describe('the installation of the app for a person', () => {
  it('asks for what Graph documents', async () => {
    const { tenant, asked, warned, url } = await graphThat((response) => send(response, 201))
    await tenant.installApp(dana.id)
    const body = { 'teamsApp@odata.bind': `${url}/v1.0/appCatalogs/teamsApps/${teamsAppId}` }
    expect(asked).toEqual([{ call: `POST /v1.0/users/${dana.id}/teamwork/installedApps`, body }])
    expect(warned).toEqual([])
  })

  it('asks nothing where no app is named', async () => {
    const server = await startServer((_, response) => send(response, 500))
    open.push(server)
    await connectTo(server.url).tenant.installApp(dana.id)
  })

  it('has nothing to do for somebody who has it', async () => {
    const { tenant, asked, warned } = await refusing(409, 'Conflict')
    await tenant.installApp(dana.id)
    expect(asked).toHaveLength(1)
    expect(warned).toEqual([])
  })

  it.each([
    [400, 'BadRequest'],
    [401, 'Unauthorized'],
    [403, 'Forbidden'],
    [404, 'NotFound'],
  ])('is refused with %i: told to the log once, and nobody fails for it', async (status, code) => {
    const { tenant, warned } = await refusing(status, code, "AAD App Id 'x' is not allowed to manage the Teams App 'y'")
    for (const { id } of [dana, omar, kim]) await tenant.installApp(id)
    expect(warned).toEqual([expect.objectContaining({ personId: dana.id, err: expect.objectContaining({ code }) })])
  })

  it('tells of each reason', async () => {
    let status = 403
    const { tenant, warned } = await graphThat((response) => sendJson(response, status, { error: { code: 'x' } }))
    for (status of [403, 404, 403, 404]) await tenant.installApp(dana.id)
    expect(warned).toHaveLength(2)
  })

  it.each([429, 500, 502, 503, 504])('meets %i: it can be asked again later', async (status) => {
    const { tenant, asked, warned } = await graphThat((response) =>
      sendJson(response, status, { error: { code: 'x' } }, { 'retry-after': '7' }),
    )
    await expect(tenant.installApp(dana.id)).rejects.toMatchObject({ retryable: true, retryAfterSeconds: 7 })
    expect(asked, 'a write is not repeated at once').toHaveLength(1)
    expect(warned).toEqual([])
  })

  it('works in the simulated tenant, whose answer may be lost: the next try finds it installed', async () => {
    const tenant = await startTenant({}, { teamsAppId })
    open.push(tenant)
    await tenant.fault({ operation: 'graph.installedApps.add', kind: 'resetAfterCommit' })
    await expect(tenant.tenant.installApp(dana.id)).rejects.toMatchObject({ retryable: true })
    await tenant.tenant.installApp(dana.id)
    const statuses = (await tenant.calls())
      .filter(({ operation }) => operation === 'graph.installedApps.add')
      .map(({ status }) => status)
    expect(statuses.toSorted()).toEqual([201, 409])
  })
})
