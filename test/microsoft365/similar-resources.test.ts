import { afterEach, describe, expect, it } from 'vitest'
import type { ResourceKind } from '../../src/core/index.ts'
import { sendJson, startServer } from '../support/http-server.ts'
import { answersSignIn, connectTo, dana, kim } from '../support/microsoft365.ts'
import { runSteps, siteInput, withTenant } from '../support/simulated-tenant.ts'

describe('resources with similar names', () => {
  const tenant = withTenant()
  afterEach(() => tenant.healthy())

  const query = (kind: ResourceKind, beginnings: string[]) => ({
    kind,
    beginnings,
    signal: AbortSignal.timeout(20_000),
  })
  async function seenBy(person: typeof kim, kind: ResourceKind, ...beginnings: string[]) {
    const search = query(kind, beginnings)
    const found = await tenant.directory.visibleTo(person, await tenant.directory.similar(search), search)
    return found.map(({ displayName }) => displayName).toSorted()
  }

  it('include team sites by any part of their names, with the address of the site', async () => {
    const found = await tenant.directory.similar(query('teamSite', ['emea']))
    expect(found).toMatchObject([
      { of: 'group', displayName: 'Marketing EMEA', alias: 'marketing-emea', isPublic: true },
    ])
    expect(found[0]?.address).toBe(`${tenant.simulator.url}/sites/marketing-emea`)
    expect(await seenBy(kim, 'communicationSite', 'market')).toEqual(['Marketing', 'Marketing EMEA'])
    expect(await seenBy(kim, 'teamSite', 'arketing')).toEqual([])
  })

  it('include communication sites only for people who may open them', async () => {
    expect(await seenBy(kim, 'teamSite', 'news')).toEqual(['Company News'])
    expect(await seenBy(dana, 'teamSite', 'news')).toEqual(['Company News', 'Company News Drafts'])
  })

  it('omit groups that hide their members or are hidden from address lists', async () => {
    expect(await seenBy(kim, 'teamSite', 'merger')).toEqual([])
    expect(await seenBy(kim, 'teamSite', 'reorg')).toEqual([])
  })

  it('include mailboxes of the requested kind, and no people', async () => {
    expect(await seenBy(kim, 'sharedMailbox', 'sale', 'info')).toEqual(['Info', 'Sales'])
    expect(await seenBy(kim, 'roomMailbox', 'matter')).toEqual(['Matterhorn (Zürich, floor 2)'])
    expect(await seenBy(kim, 'roomMailbox', 'zür')).toEqual(['Matterhorn (Zürich, floor 2)'])
    expect(await seenBy(kim, 'equipmentMailbox', 'proj')).toEqual(['Projector 1'])
    expect(await seenBy(kim, 'roomMailbox', 'proj')).toEqual([])
    expect(await seenBy(kim, 'sharedMailbox', 'dana')).toEqual([])
  })

  it('include resources that this service has created', async () => {
    const made = siteInput({ displayName: 'Glacier Watch', alias: 'glacier-watch' })
    await runSteps(tenant.tenant, ['create-site', 'wait-for-site'], made)
    const [found] = await tenant.directory.similar(query('teamSite', ['glac']))
    expect(found).toMatchObject({ of: 'group', displayName: 'Glacier Watch' })
    expect(found?.address).toBe(`${tenant.simulator.url}/sites/glacier-watch`)
  })

  it("are found with Graph's documented calls, without a call for a group's site, which could create the site", async () => {
    await tenant.forgetCalls()
    await seenBy(kim, 'teamSite', 'market')
    const calls = (await tenant.calls()).filter(({ operation }) => !operation.startsWith('login'))
    expect(calls.map(({ operation }) => operation).toSorted()).toEqual([
      'exchange.get-recipient',
      'graph.groups.list',
      'graph.sites.search',
    ])
  })

  it('are searched with letters and digits only, whatever the input', async () => {
    await tenant.forgetCalls()
    expect(await seenBy(kim, 'teamSite', '" OR "displayName:a', '*', "'", '')).toEqual([])
    expect((await tenant.calls()).filter(({ operation }) => operation.startsWith('graph'))).toEqual([])
  })

  it('cause an error when Graph refuses the search, and include only groups without the permission for sites', async () => {
    const refused = { kind: 'failBeforeCommit', count: undefined, status: 403 }
    await tenant.fault({ operation: 'graph.sites.search', ...refused })
    const found = await tenant.directory.similar(query('teamSite', ['emea', 'news']))
    expect(found).toMatchObject([{ displayName: 'Marketing EMEA', address: 'marketing-emea@contoso.example' }])
    await tenant.fault({ operation: 'graph.groups.list', ...refused })
    await expect(tenant.directory.similar(query('teamSite', ['market']))).rejects.toMatchObject({ retryable: false })
  })
})

it('similar sites omit other hosts, pages and personal sites', async () => {
  const server = await startServer((request, response) => {
    if (answersSignIn(request, response)) return
    const site = (webUrl: string) => ({ displayName: 'Aurora', webUrl })
    const foreign = [
      'https://evil.example/sites/aurora',
      'javascript:alert(1)',
      `${server.url}.evil.example/sites/aurora`,
    ]
    const other = ['/personal/kim', '/sites/aurora/lists', '/sites/', '/sites/a?b=c', '/teams/aurora'].map(
      (path) => `${server.url}${path}`,
    )
    const isSites = request.url?.startsWith('/v1.0/sites') === true
    const sites = [...foreign, ...other, `${server.url}/sites/aurora/`].map(site)
    const broken = [{ id: 'x' }, null, 'text', { displayName: 7, webUrl: 7 }]
    sendJson(response, 200, { value: isSites ? [...broken, ...sites] : broken })
  })
  const { directory } = connectTo(server.url)
  const found = await directory.similar({ kind: 'teamSite', beginnings: ['auro'], signal: AbortSignal.timeout(20_000) })
  expect(found.map(({ address }) => address)).toEqual([`${server.url}/sites/aurora`])
  await server.close()
})
