import { type Client, GraphError, type GraphRequest } from '@microsoft/microsoft-graph-client'
import type { Chat, Group, GroupSetting, TeamsAppInstallation, User } from '@microsoft/microsoft-graph-types'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { graphClient } from '../support/graph-client.ts'
import { startTenant } from '../support/simulated-tenant.ts'
import { ask, dana, kim, tokenOf } from '../support/simulator.ts'

const requestId = '6f2f8f0e-3a51-4c0b-9a57-0d6f3a1f7c11'
const teamsAppId = '66666666-ffff-4fff-8fff-000000000001'
const people = (id: string) => `https://graph.microsoft.com/v1.0/users/${id}`
/** Returns the entries of a list. */
const list = async <T>(request: GraphRequest): Promise<T[]> => (await request.get()).value

describe('Microsoft’s own Graph client, with each Graph operation of our connector,', () => {
  let tenant: Awaited<ReturnType<typeof startTenant>>
  let graph: Client
  beforeAll(async () => {
    tenant = await startTenant({ siteReadySeconds: 0 })
    graph = graphClient(
      tenant.simulator.url,
      await tokenOf(tenant.simulator, undefined, 'https://graph.microsoft.com/.default'),
    )
  })
  afterAll(() => tenant.close())

  it('reads people, their managers and groups, and the domains of the organisation', async () => {
    const user: User = await graph.api(`/users/${dana}`).select('id,displayName,accountEnabled,userType').get()
    expect(user).toMatchObject({ id: dana, displayName: 'Dana Fox', accountEnabled: true, userType: 'Member' })
    const filtered = await list<User>(graph.api('/users').filter("startswith(displayName,'Dana')").select('id').top(5))
    expect(filtered).toEqual([{ id: dana }])
    const manager: User = await graph.api(`/users/${dana}/manager`).select('id,displayName').get()
    expect(manager.displayName).toBe('Rajesh Iyer')
    const groups = await list<Group>(graph.api(`/users/${dana}/transitiveMemberOf`).select('id').top(999))
    expect(groups).toContainEqual(expect.objectContaining({ id: '22222222-bbbb-4bbb-8bbb-000000000001' }))
    const [organisation] = await list<{ verifiedDomains: { name: string }[] }>(graph.api('/organization'))
    expect(organisation?.verifiedDomains.map(({ name }) => name)).toContain('contoso.example')
  })

  it('creates a group once by its alternate key, with owners and extension, and finds it by filter', async () => {
    const group: Group = {
      displayName: 'Apollo Rockets',
      mailNickname: 'apollo-rockets',
      groupTypes: ['Unified'],
      mailEnabled: true,
      securityEnabled: false,
      visibility: 'Private',
    }
    const upsert = () =>
      graph
        .api(`/groups(uniqueName='${requestId}')`)
        .header('Prefer', 'create-if-missing')
        .patch({ ...group, 'owners@odata.bind': [people(dana)] })
    const created: Group = await upsert()
    const found: Group = await graph.api(`/groups(uniqueName='${requestId}')`).select('id,mailNickname,svc_group').get()
    expect(found).toMatchObject({ id: created.id, mailNickname: 'apollo-rockets' })
    await graph.api(`/groups/${created.id}`).patch({ svc_group: { requestId } })
    const byExtension = graph.api('/groups').filter(`svc_group/requestId eq '${requestId}'`).select('id,svc_group')
    expect(await list<Group>(byExtension)).toMatchObject([{ id: created.id, svc_group: { requestId } }])
    expect(await list<Group>(graph.api('/groups').filter("mailNickname eq 'apollo-rockets'"))).toHaveLength(1)

    for (const relation of ['owners', 'members']) {
      await graph.api(`/groups/${created.id}/${relation}/$ref`).post({ '@odata.id': people(kim) })
      const ids = (await list<User>(graph.api(`/groups/${created.id}/${relation}`).select('id'))).map(({ id }) => id)
      expect(ids).toContain(kim)
    }
    const again = await graph
      .api(`/groups/${created.id}/owners/$ref`)
      .post({ '@odata.id': people(kim) })
      .catch(String)
    expect(again).toContain('added object references already exist')
    const nested = graph.api(`/groups/${created.id}/transitiveMembers/microsoft.graph.user`).select('id')
    expect(await list<User>(nested)).toContainEqual(expect.objectContaining({ id: kim }))
    expect((await graph.api(`/groups/${created.id}`).select('displayName').get()).displayName).toBe('Apollo Rockets')
    const search = graph.api('/groups').header('ConsistencyLevel', 'eventual').count(true).search('"displayName:apol"')
    expect(await list<Group>(search)).toMatchObject([{ id: created.id }])

    const site = await graph.api(`/groups/${created.id}/sites/root`).select('id,webUrl').get()
    expect(site.webUrl).toMatch(/\/sites\/apollo-rockets$/)
    const { host, pathname } = new URL(site.webUrl)
    expect((await graph.api(`/sites/${host}:${pathname}`).select('id').get()).id).toBe(site.id)
    expect(await list<object>(graph.api('/sites').query({ search: 'Apollo*' }))).toMatchObject([{ id: site.id }])
    expect(await list<object>(graph.api('/sites/getAllSites').select('webUrl'))).not.toEqual([])
  })

  it('blocks an account and reads deleted objects', async () => {
    await graph.api(`/users/${kim}`).patch({ accountEnabled: false } satisfies User)
    expect((await graph.api(`/users/${kim}`).select('accountEnabled').get()).accountEnabled).toBe(false)
    for (const kind of ['group', 'user'])
      expect(await list<object>(graph.api(`/directory/deletedItems/microsoft.graph.${kind}`).select('id'))).toEqual([])
  })

  it('reads the naming policy of groups, which a new tenant does not have', async () => {
    expect(await list<GroupSetting>(graph.api('/groupSettings'))).toEqual([])
    await ask('POST', `${tenant.simulator.url}/control/tenant`, { body: { groupPrefix: 'GRP ' } })
    const [setting] = await list<GroupSetting>(graph.api('/groupSettings'))
    expect(setting).toMatchObject({ displayName: 'Group.Unified', templateId: '62375ab9-6b52-47ed-826b-58e47e0e304b' })
    expect(setting?.values).toContainEqual({ name: 'PrefixSuffixNamingRequirement', value: 'GRP [GroupName]' })
    await ask('POST', `${tenant.simulator.url}/control/tenant`, { body: { groupPrefix: '' } })
  })

  it('installs the app for a person once, and finds their chat', async () => {
    const apps = `/users/${dana}/teamwork/installedApps`
    const install = () =>
      graph
        .api(apps)
        .post({ 'teamsApp@odata.bind': `https://graph.microsoft.com/v1.0/appCatalogs/teamsApps/${teamsAppId}` })
    await install()
    const again = await install().catch((error: unknown) => error)
    expect(again).toBeInstanceOf(GraphError)
    expect(again).toMatchObject({ statusCode: 409, code: 'Conflict' })
    const own = graph.api(apps).expand('teamsApp').filter(`teamsApp/id eq '${teamsAppId}'`)
    const [installation] = await list<TeamsAppInstallation>(own)
    expect(installation?.teamsApp).toMatchObject({ id: teamsAppId, distributionMethod: 'organization' })
    const chat: Chat = await graph.api(`${apps}/${installation?.id}/chat`).get()
    expect([chat.id, chat.chatType]).toEqual([expect.stringMatching(/^19:.+@unq\.gbl\.spaces$/), 'oneOnOne'])
  })

  it('uses every Graph operation that the connector uses', async () => {
    const used = new Set((await tenant.calls()).map(({ operation }) => operation))
    const operations = (await ask('GET', `${tenant.simulator.url}/control/operations`)).body.value as string[]
    const ofConnector = /^graph\.(deletedItems|groups|groupSettings|installedApps|organization|sites|users)\./
    const unused = operations.filter((name) => ofConnector.test(name) && !used.has(name))
    // The connector does not delete, and it addresses groups and sites in other ways.
    expect(unused.toSorted()).toEqual([
      'graph.groups.create',
      'graph.groups.delete',
      'graph.groups.members.remove',
      'graph.groups.owners.remove',
      'graph.sites.get',
      'graph.sites.root',
      'graph.users.checkMemberGroups',
      'graph.users.memberOf',
    ])
  })
})
