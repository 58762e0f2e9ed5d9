import type { IncomingMessage, ServerResponse } from 'node:http'
import { afterEach, describe, expect, test } from 'vitest'
import { TenantError } from '../../src/core/index.ts'
import { send, sendJson, startServer } from '../support/http-server.ts'
import { answersSignIn, connectTo } from '../support/microsoft365.ts'

const requestId = '66666666-ffff-4fff-8fff-000000000001'
const groupId = '77777777-aaaa-4aaa-8aaa-000000000001'
const siteId = `contoso.sharepoint.com,${requestId},${groupId}`

const open: { close(): Promise<void> }[] = []
afterEach(async () => {
  for (const server of open.splice(0)) await server.close()
})

/** Creates a directory that answers everything except the sign-in with `answer`. */
async function directoryThat(
  answer: (request: IncomingMessage, response: ServerResponse, url: string) => void,
  now?: () => number,
) {
  const received: string[] = []
  const warnings: string[] = []
  const server = await startServer((request, response) => {
    if (answersSignIn(request, response)) return
    received.push(`${request.method} ${request.url}`)
    answer(request, response, server.url)
  })
  open.push(server)
  const { directory } = connectTo(server.url, { warn: (message) => warnings.push(message), ...(now && { now }) })
  return { directory, received, warnings, url: server.url }
}
const group = (extension: unknown, id = groupId) => ({ id, displayName: 'SPO-aurora', svc_group: extension })

describe('the look-up of the provisioned group', () => {
  test('sends exactly the call in the API document', async () => {
    const { directory, received } = await directoryThat((_, response) => sendJson(response, 200, { value: [] }))
    expect(await directory.findProvisionedGroup(requestId)).toBeUndefined()
    expect(received).toHaveLength(1)
    expect(decodeURIComponent(received[0] ?? '')).toBe(
      `GET /v1.0/groups?$filter=svc_group/requestId eq '${requestId}'&$select=id,displayName,svc_group`,
    )
  })

  test('reads the documented record', async () => {
    const { directory } = await directoryThat((_, response, url) => {
      const record = group({ extensionAttribute1: siteId, extensionAttribute3: `${url}/sites/aurora` })
      sendJson(response, 200, { '@odata.context': 'x', value: [record] })
    })
    const found = await directory.findProvisionedGroup(requestId)
    expect(found).toMatchObject({ id: groupId, displayName: 'SPO-aurora', siteId })
    expect(found?.url).toMatch(/\/sites\/aurora$/)
  })

  test('refuses a request id that is not a UUID before any call', async () => {
    const { directory, received } = await directoryThat((_, response) => sendJson(response, 200, { value: [] }))
    await expect(directory.findProvisionedGroup("x' or id ne '")).rejects.toThrow(TypeError)
    expect(received).toEqual([])
  })

  test.each([
    ['another host', 'https://evil.example/sites/aurora'],
    ['a script', 'javascript:alert(1)'],
    ['a name before the host', 'USER@'],
    ['a host that only begins alike', 'ALIKE'],
    ['no URL at all', 'see the wiki'],
    ['a number', 42],
    ['an object', { href: 'x' }],
    ['null', null],
  ])('omits a URL that is %s', async (_, address) => {
    const { directory } = await directoryThat((_request, response, url) => {
      const named = { 'USER@': url.replace('//', '//user@'), ALIKE: url.replace(/:\d+$/, '.evil.example') }
      const value = named[address as keyof typeof named] ?? address
      sendJson(response, 200, { value: [group({ extensionAttribute1: siteId, extensionAttribute3: value })] })
    })
    expect(await directory.findProvisionedGroup(requestId)).toEqual({ id: groupId, displayName: 'SPO-aurora', siteId })
  })

  test("ignores another request's group", async () => {
    const { directory } = await directoryThat((_, response, url) =>
      sendJson(response, 200, { value: [group({ requestId: groupId, extensionAttribute3: `${url}/sites/other` })] }),
    )
    expect(await directory.findProvisionedGroup(requestId)).toBeUndefined()
  })

  test("returns no URL and warns when two groups have the request's id", async () => {
    const { directory, warnings } = await directoryThat((_, response, url) => {
      const claim = (name: string, id?: string) => group({ requestId, extensionAttribute3: `${url}/sites/${name}` }, id)
      sendJson(response, 200, { value: [claim('one'), claim('two', requestId)] })
    })
    expect(await directory.findProvisionedGroup(requestId)).toEqual({ id: groupId, displayName: 'SPO-aurora' })
    expect(warnings).toEqual(['Several groups carry the same request id'])
  })

  test('returns a group without the extension without a URL', async () => {
    const { directory } = await directoryThat((_, response) => sendJson(response, 200, { value: [group(undefined)] }))
    expect(await directory.findProvisionedGroup(requestId)).toEqual({ id: groupId, displayName: 'SPO-aurora' })
  })

  test.each<[string, (response: ServerResponse) => void]>([
    ['an HTML page', (response) => send(response, 200, '<html>Sign in</html>', { 'content-type': 'text/html' })],
    ['10 MB', (response) => sendJson(response, 200, { value: [], padding: 'x'.repeat(10_000_000) })],
    ['a list instead of an object', (response) => sendJson(response, 200, [])],
    ['a group whose id is a number', (response) => sendJson(response, 200, { value: [{ id: 7, displayName: 'x' }] })],
    ['a value that is no list', (response) => sendJson(response, 200, { value: 'none' })],
    ['null', (response) => sendJson(response, 200, null)],
    ['nothing', (response) => send(response, 200)],
  ])('handles an answer that is %s', async (_, answer) => {
    const { directory } = await directoryThat((_request, response) => answer(response))
    const failure = await directory.findProvisionedGroup(requestId).catch((error: unknown) => error)
    expect(failure).toBeInstanceOf(TenantError)
    expect(failure).toMatchObject({ code: 'unreadable-answer', retryable: true })
  })
})

describe('people and groups', () => {
  test('have ids that are percent-encoded in paths', async () => {
    const { directory, received } = await directoryThat((_, response) =>
      sendJson(response, 404, { error: { code: 'x' } }),
    )
    expect(await directory.person('../groups?x=#')).toBeUndefined()
    expect(received[0]).toMatch(/^GET \/v1\.0\/users\/\.\.%2Fgroups%3Fx%3D%23\?/)
  })

  test('are read from all pages of the same directory, without objects that are not people', async () => {
    const person = (id: string) => ({ id, displayName: 'Someone', userPrincipalName: `${id}@contoso.example` })
    const { directory } = await directoryThat((request, response, url) => {
      if (request.url?.includes('page=2')) return sendJson(response, 200, { value: [person(requestId)] })
      const value = [person(groupId), { id: requestId, displayName: 'A nested group' }, 'nonsense']
      sendJson(response, 200, { value, '@odata.nextLink': `${url}/v1.0/groups/x/transitiveMembers?page=2` })
    })
    expect((await directory.membersOf(groupId)).map(({ id }) => id)).toEqual([groupId, requestId])
  })

  test('distinguish guests from the organisation’s own people, in groups too', async () => {
    const person = (id: string, userType?: string | null) => ({ id, userPrincipalName: `${id}@x.example`, userType })
    const kinds = new Map([
      [groupId, 'Guest'],
      [requestId, 'Member'],
    ])
    const { directory } = await directoryThat((request, response) => {
      const [, id = ''] = /users\/([^/?]+)/.exec(request.url ?? '') ?? []
      if (id !== '') return sendJson(response, 200, person(id, kinds.get(id) ?? null))
      sendJson(response, 200, { value: [...kinds].map(([one, kind]) => person(one, kind)) })
    })
    expect(await directory.isGuest(groupId)).toBe(true)
    expect(await directory.isGuest(requestId)).toBe(false)
    expect(await directory.isGuest('7d3f1c5a-0000-4000-8000-000000000001')).toBe(false)
    const members = await directory.membersOf(groupId)
    expect(members.map((one) => [one.id, one.isGuest])).toEqual([
      [groupId, true],
      [requestId, undefined],
    ])
  })

  test('are not read from a next page on another host, which would receive our token', async () => {
    const stolen: string[] = []
    const thief = await startServer((request, response) => {
      stolen.push(request.headers.authorization ?? '')
      sendJson(response, 200, { value: [] })
    })
    open.push(thief)
    const { directory } = await directoryThat((_, response) =>
      sendJson(response, 200, { value: [], '@odata.nextLink': `${thief.url}/v1.0/groups` }),
    )
    await expect(directory.membersOf(groupId)).rejects.toMatchObject({ code: 'foreign-page', retryable: false })
    expect(stolen).toEqual([])
  })

  test('are not read through a redirect', async () => {
    const { directory, received } = await directoryThat((_, response, url) =>
      send(response, 302, undefined, { location: `${url}/elsewhere` }),
    )
    await expect(directory.person(groupId)).rejects.toMatchObject({ code: 'http-302', retryable: false })
    expect(received).toHaveLength(1)
  })

  test('are cached for a minute, including unknown people', async () => {
    let known = false
    let now = 0
    const found = {
      ...{ id: groupId, displayName: null, userPrincipalName: 'new@contoso.example' },
      ...{ accountEnabled: true, userType: 'Member' },
    }
    const { directory, received } = await directoryThat(
      (_, response) =>
        known
          ? sendJson(response, 200, found)
          : sendJson(response, 404, { error: { code: 'Request_ResourceNotFound', message: 'x' } }),
      () => now,
    )
    expect(await directory.person(groupId)).toBeUndefined()
    known = true
    now = 59_999
    expect(await directory.person(groupId)).toBeUndefined()
    expect(received).toHaveLength(1)
    now = 60_000
    const person = { id: groupId, displayName: 'new@contoso.example', userPrincipalName: 'new@contoso.example' }
    expect(await directory.person(groupId)).toEqual(person)
    known = false
    now = 119_999
    expect(await directory.person(groupId)).toEqual(person)
    expect(received).toHaveLength(2)
    now = 120_000
    expect(await directory.person(groupId)).toBeUndefined()
  })
})
