import { afterEach, describe, expect, test } from 'vitest'
import { sendJson, startServer } from '../support/http-server.ts'
import { answersSignIn, connectTo } from '../support/microsoft365.ts'

const open: { close(): Promise<void> }[] = []
afterEach(async () => {
  for (const server of open.splice(0)) await server.close()
})

/** Creates a directory that answers everything except the sign-in with `body`, and records the calls. */
async function directoryThat(body: (url: string) => unknown, status = 200) {
  const received: { url: string; body: string }[] = []
  const server = await startServer((request, response) => {
    if (answersSignIn(request, response)) return
    let sent = ''
    request.on('data', (chunk) => {
      sent += String(chunk)
    })
    request.on('end', () => {
      received.push({ url: request.url ?? '', body: sent })
      sendJson(response, status, body(request.url ?? ''))
    })
  })
  open.push(server)
  return { directory: connectTo(server.url).directory, received }
}

const injections = [
  "o'neil",
  "x' or 'a' eq 'a",
  "'",
  "''",
  "x') or (1 eq 1",
  'x&$select=*',
  'x#',
  'x%27',
  'ä\u202e',
  '../../..',
  'a b',
]

describe('a hostile value in a call to the directory', () => {
  test.each(injections)('stays one literal inside a filter: %s', async (alias) => {
    const { directory, received } = await directoryThat(() => ({ value: [] }))
    // SharePoint is called as well; its answer is unreadable here.
    await directory.isSiteAddressFree(alias).catch(() => undefined)
    const { pathname, searchParams } = new URL(
      received.find(({ url }) => url.startsWith('/v1.0'))?.url ?? '',
      'http://graph',
    )
    expect([pathname, [...searchParams.keys()]]).toEqual(['/v1.0/groups', ['$filter', '$select']])
    const filter = searchParams.get('$filter') ?? ''
    expect(filter).toBe(`mailNickname eq '${alias.replaceAll("'", "''")}'`)
    // OData 4.01: each quote in a literal is doubled, so no single quote remains that ends the literal.
    expect(filter.slice("mailNickname eq '".length, -1).replaceAll("''", '')).not.toContain("'")
  })

  test.each(injections)('is not a mail address, so no call is sent: %s', async (local) => {
    const { directory, received } = await directoryThat(() => ({ value: [] }))
    await expect(directory.isMailAddressFree(`${local}@contoso.example`)).rejects.toThrow(TypeError)
    await expect(directory.isMailAddressFree(`help@${local}`)).rejects.toThrow(TypeError)
    expect(received).toEqual([])
  })

  test.each([...injections, 'REQ-1042', ''])('is not an object id, so no call is sent: %s', async (id) => {
    const { directory, received } = await directoryThat(() => ({ value: [] }))
    const person = { id, displayName: 'x', userPrincipalName: 'x' }
    await expect(directory.unknownToExchange([person])).rejects.toThrow(TypeError)
    await expect(directory.findProvisionedGroup(id)).rejects.toThrow(TypeError)
    expect(received).toEqual([])
  })

  test.each(['..', '.', '', '../groups', 'a/b', 'a?b', 'a#b', '%2e%2e', "a'b", 'me'])(
    'stays one segment of a path, or no call is sent: %s',
    async (id) => {
      const { directory, received } = await directoryThat(() => ({ error: { code: 'x', message: 'x' } }), 404)
      await directory.membersOf(id).catch(() => undefined)
      await directory.groupsOf(id).catch(() => undefined)
      for (const { url } of received)
        expect(url).toMatch(/^\/v1\.0\/(groups|users)\/[^/?#]+\/transitiveMember(s|Of)\?\$select=/)
    },
  )
})

describe('an answer of the directory', () => {
  const id = '77777777-aaaa-4aaa-8aaa-000000000001'
  const other = '77777777-aaaa-4aaa-8aaa-000000000002'

  test.each([
    ['another person', { id: other, displayName: 'Eve', userPrincipalName: 'eve@contoso.example' }],
    ['a person without a sign-in name', { id, displayName: 'Eve' }],
    ['an invalid id', { id: '../me', displayName: 'Eve', userPrincipalName: 'eve@contoso.example' }],
    ['a name that is not a text', { id, displayName: { a: 1 }, userPrincipalName: 'eve@contoso.example' }],
    ['a list', [{ id }]],
    ['a text', 'Eve'],
  ])('about a person is refused if it contains %s', async (_, body) => {
    const { directory } = await directoryThat(() => body)
    await expect(directory.person(id)).rejects.toMatchObject({ name: 'TenantError', code: 'unreadable-answer' })
  })

  test('omits domains that are invalid in an address', async () => {
    const domain = (name: unknown) => ({ name, isDefault: false, capabilities: 'Email' })
    const names = ["x' -or '1", 'a b', 'x@y', 7, null, '', 'Contoso.example', 'labs.contoso.example']
    const { directory } = await directoryThat(() => ({ value: [{ verifiedDomains: [...names.map(domain), 'x'] }] }))
    expect(await directory.mailDomains()).toEqual({
      default: 'contoso.example',
      accepted: ['contoso.example', 'labs.contoso.example'],
    })
  })

  test('about a list omits entries of another shape', async () => {
    const good = { id: other, displayName: 'Dana', userPrincipalName: 'dana@contoso.example' }
    const odd = [null, 7, 'x', [], {}, { id: 'x' }, { ...good, id: '../me' }, { ...good, userPrincipalName: 7 }]
    const read = { ...good, accountEnabled: true, userType: 'Member' }
    const { directory } = await directoryThat(() => ({ value: [...odd, read] }))
    expect(await directory.membersOf(id)).toEqual([good])
    expect([...(await directory.groupsOf(id))]).toEqual([other])
  })
})
