import { describe, expect, it } from 'vitest'
import { sendJson, startServer } from '../support/http-server.ts'
import { answersSignIn, connectTo, dana, kim } from '../support/microsoft365.ts'
import { withTenant } from '../support/simulated-tenant.ts'

describe('the people found for a typed text', () => {
  const tenant = withTenant()
  const names = async (typed: string) =>
    (await tenant.directory.findPeople(typed)).map(({ displayName }) => displayName)

  it.each([
    ['dana@contoso.example', ['Dana Fox']],
    [' DANA@Contoso.Example ', ['Dana Fox']],
    ['huelya.demir@contoso.example', ['Hülya Demir']],
    ['dana', ['Dana Fox']],
    ["Siobhán O'B", ["Siobhán O'Brien"]],
    ['Siobhan', ["Siobhán O'Brien"]],
    ["siobhan o'brien", ["Siobhán O'Brien"]],
    ['Hulya', ['Hülya Demir']],
    ["O'Brien", ["Siobhán O'Brien"]],
    ['ma', ['Matteo Rossi', 'Max Frei', 'María José García Hernández'].toSorted()],
    ["x' or startswith(displayName,'D", []],
    ['nobody@contoso.example', []],
    ['', []],
    ['   ', []],
  ])('%j', async (typed, found) => {
    expect((await names(typed)).toSorted()).toEqual(found)
  })

  it('show who cannot decide: guests and blocked accounts', async () => {
    const [anna] = await tenant.directory.findPeople('Anna Kowalska')
    expect(anna).toMatchObject({ isGuest: true })
    const [ivo] = await tenant.directory.findPeople('ivo@contoso.example')
    expect(ivo).toMatchObject({ isBlocked: true })
  })

  it('come from the first page only, however many match', async () => {
    const received: string[] = []
    const server = await startServer((request, response) => {
      if (answersSignIn(request, response)) return
      received.push(decodeURIComponent(request.url ?? ''))
      sendJson(response, 200, { value: [kim, dana], '@odata.nextLink': `${server.url}/v1.0/users?$skiptoken=2` })
    })
    const { directory } = connectTo(server.url)
    expect((await directory.findPeople('A')).map(({ id }) => id)).toEqual([kim.id, dana.id])
    expect(received).toHaveLength(1)
    expect(received[0]).toContain("$filter=startswith(displayName,'A')")
    expect(received[0]).toContain('$top=10')
    await server.close()
  })
})

describe('the groups found for a typed text', () => {
  const tenant = withTenant()

  it.each([
    ['Site approvers', ['Site approvers']],
    [' site APPROVERS ', ['Site approvers']],
    ['s', ['Service admins', 'Site approvers']],
    ["x' or startswith(displayName,'S", []],
    ['Nobody', []],
    ['  ', []],
  ])('%j', async (typed, found) => {
    const groups = await tenant.directory.findGroups(typed)
    expect(groups.map(({ displayName }) => displayName).toSorted()).toEqual(found)
  })

  it('include the exact name, however many groups begin with the text', async () => {
    const received: string[] = []
    const group = { id: '22222222-bbbb-4bbb-8bbb-000000000001', displayName: 'IT' }
    const server = await startServer((request, response) => {
      if (answersSignIn(request, response)) return
      received.push(decodeURIComponent(request.url ?? ''))
      sendJson(response, 200, { value: [group] })
    })
    const { directory } = connectTo(server.url)
    expect(await directory.findGroups('IT')).toEqual([group])
    expect(received).toEqual(["/v1.0/groups?$filter=displayName eq 'IT'&$select=id,displayName&$top=10"])
    await server.close()
  })
})
