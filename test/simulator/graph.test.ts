import { describe, expect, it, vi } from 'vitest'
import { clientOf, consent, dana, kim, tenantFor, userUrl } from '../support/simulator.ts'

const group = (changes: Record<string, unknown> = {}) => ({
  displayName: 'Project Aurora',
  mailNickname: 'project-aurora',
  groupTypes: ['Unified'],
  mailEnabled: true,
  securityEnabled: false,
  visibility: 'Private',
  'owners@odata.bind': [userUrl(kim)],
  ...changes,
})
const securityGroup = (changes: Record<string, unknown> = {}) =>
  group({ groupTypes: [], mailEnabled: false, securityEnabled: true, ...changes })
const upsert = { Prefer: 'create-if-missing' }
const keyed = (key: string) => `/v1.0/groups(uniqueName='${key}')`

describe('people', () => {
  it('are found by the beginning of a name, with or without accents, only with ConsistencyLevel', async () => {
    const call = await clientOf(await tenantFor())
    const path = '/v1.0/users?$search="displayName:mull"&$select=id,displayName,department'
    expect((await call('GET', path)).status).toBe(400)
    const found = await call('GET', path, undefined, { ConsistencyLevel: 'eventual' })
    expect(found.body.value).toEqual([
      { id: expect.any(String), displayName: 'Zoë Müller', department: 'Digital Workplace' },
    ])
    const filtered = await call('GET', "/v1.0/users?$filter=startswith(displayName,'Siobhán O''B')&$top=1")
    expect(filtered.body.value).toHaveLength(1)
  })

  it('have a manager and nested groups', async () => {
    const simulator = await tenantFor()
    await consent(simulator, 'graph', ['Directory.Read.All'])
    const call = await clientOf(simulator)
    const manager = await call('GET', '/v1.0/users/kim@contoso.example/manager')
    expect(manager.body).toMatchObject({ id: dana, displayName: 'Dana Fox' })
    const samsGroups = async (kind: string) => {
      const answer = await call('GET', `/v1.0/users/sam@contoso.example/${kind}?$select=displayName`)
      return answer.body.value.map((each: { displayName: string }) => each.displayName)
    }
    expect(await samsGroups('memberOf')).toEqual(['Service admins'])
    expect(await samsGroups('transitiveMemberOf')).toEqual(['Service admins', 'All Zürich staff'])
    const groupIds = ['22222222-bbbb-4bbb-8bbb-000000000001', '22222222-bbbb-4bbb-8bbb-000000000003']
    const checked = await call('POST', `/v1.0/users/${dana}/checkMemberGroups`, { groupIds })
    expect(checked.body.value).toEqual(groupIds)
    expect((await call('GET', '/v1.0/users/ingrid@contoso.example/manager')).status).toBe(404)
    expect((await call('GET', '/v1.0/users/nobody')).body.error.code).toBe('Request_ResourceNotFound')
  })

  it('are listed in pages', async () => {
    const simulator = await tenantFor()
    const call = await clientOf(simulator)
    const first = await call('GET', '/v1.0/users?$top=40')
    const next = await call('GET', first.body['@odata.nextLink'].slice(simulator.url.length))
    expect(next.body.value).toHaveLength(12)
    expect(next.body).not.toHaveProperty('@odata.nextLink')
  })
})

describe('a group created by its uniqueName', () => {
  it('is created once, however often it is requested', async () => {
    const call = await clientOf(await tenantFor())
    expect((await call('PATCH', keyed('r-1'), group())).status).toBe(404)
    const made = await call('PATCH', keyed('r-1'), group(), upsert)
    expect(made.status).toBe(201)
    expect(made.headers.get('location')).toContain(made.body.id)
    expect(made.body).toMatchObject({ uniqueName: 'r-1', groupTypes: ['Unified'], visibility: 'Private' })

    const { 'owners@odata.bind': _, ...withoutOwners } = group()
    expect((await call('PATCH', keyed('r-1'), withoutOwners, upsert)).status).toBe(204)
    const again = await call('PATCH', keyed('r-1'), group(), upsert)
    expect(again.status).toBe(400)
    expect(again.body.error.message).toMatch(/references already exist .* 'owners'/)
    expect((await call('GET', keyed('r-1'))).body.id).toBe(made.body.id)
    expect((await call('GET', keyed('r-2'))).status).toBe(404)
    const owners = await call('GET', `/v1.0/groups/${made.body.id}/owners?$select=id`)
    expect(owners.body.value).toEqual([{ '@odata.type': '#microsoft.graph.user', id: kim }])
  })

  it('does not exist after an attempt with an unknown owner', async () => {
    const call = await clientOf(await tenantFor())
    const body = group({ 'owners@odata.bind': [userUrl(kim), userUrl('11111111-0000-4000-8000-000000000000')] })
    expect((await call('PATCH', keyed('r-1'), body, upsert)).status).toBe(404)
    expect((await call('GET', keyed('r-1'))).status).toBe(404)
  })
})

describe('a new group', () => {
  it('cannot have the mailNickname of another Microsoft 365 group', async () => {
    const call = await clientOf(await tenantFor())
    await call('POST', '/v1.0/groups', group())
    const second = await call('POST', '/v1.0/groups', group({ mailNickname: 'Project-Aurora' }))
    expect(second.status).toBe(400)
    expect(second.body.error).toMatchObject({
      code: 'Request_BadRequest',
      details: [{ code: 'ObjectConflict', target: 'mailNickname' }],
    })
    expect(second.body.error.innerError['request-id']).toBe(second.headers.get('request-id'))
  })

  it('can be a duplicate without an error if it is a security group', async () => {
    const call = await clientOf(await tenantFor())
    expect((await call('POST', '/v1.0/groups', securityGroup())).status).toBe(201)
    expect((await call('POST', '/v1.0/groups', securityGroup())).status).toBe(201)
    const found = await call('GET', "/v1.0/groups?$filter=mailNickname eq 'project-aurora'")
    expect(found.body.value).toHaveLength(2)
  })

  it.each([
    ['no owners in the list', { 'owners@odata.bind': [] }],
    ['too many references', { 'members@odata.bind': Array(20).fill(userUrl(dana)) }],
    ['a space in the mailNickname', { mailNickname: 'project aurora' }],
    ['no displayName', { displayName: '' }],
    ['a displayName of 257 characters', { displayName: 'x'.repeat(257) }],
    ['an unknown property', { colour: 'red' }],
  ])('is refused with %s', async (_, changes) => {
    const call = await clientOf(await tenantFor())
    const answer = await call('POST', '/v1.0/groups', group(changes))
    expect(answer).toMatchObject({ status: 400, body: { error: { code: 'Request_BadRequest' } } })
  })

  it('accepts a sensitivity label from a person, not from an app', async () => {
    const simulator = await tenantFor()
    const app = await clientOf(simulator)
    const person = await clientOf(simulator, 'kim@contoso.example')
    const labelled = group({ assignedLabels: [{ labelId: '33333333-cccc-4ccc-8ccc-000000000003' }] })
    const refused = await app('POST', '/v1.0/groups', labelled)
    expect(refused).toMatchObject({ status: 401, body: { error: { code: 'Unauthorized' } } })
    const made = await person('POST', '/v1.0/groups', labelled)
    const read = await app('GET', `/v1.0/groups/${made.body.id}?$select=assignedLabels`)
    expect(read.body.assignedLabels[0].displayName).toBe('Confidential')
  })

  it('accepts owners and members one by one, each once', async () => {
    const call = await clientOf(await tenantFor())
    const { body } = await call('POST', '/v1.0/groups', group())
    const path = `/v1.0/groups/${body.id}/members/$ref`
    const reference = { '@odata.id': userUrl(dana) }
    expect((await call('POST', path, reference)).status).toBe(204)
    expect((await call('POST', path, reference)).body.error.message).toMatch(/already exist .* 'members'/)
    const unknown = { '@odata.id': userUrl('11111111-0000-4000-8000-000000000000') }
    expect((await call('POST', path, unknown)).status).toBe(404)
  })
})

describe('the schema extension', () => {
  const value = { requestId: 'r-1', extensionAttribute1: 'host,a,b', extensionAttribute3: 'http://x/sites/y' }
  const find = "/v1.0/groups?$filter=svc_group/requestId eq 'r-1'&$select=id,displayName,svc_group"

  it('appears in the filter only after the directory has caught up, in the documented shape', async () => {
    const simulator = await tenantFor({ directorySeconds: 1.5 })
    const call = await clientOf(simulator)
    const made = await call('POST', '/v1.0/groups', securityGroup({ svc_group: value }))
    expect(made.body).not.toHaveProperty('svc_group')
    expect((await call('GET', find)).body.value).toEqual([])
    const itself = await call('GET', `/v1.0/groups/${made.body.id}?$select=svc_group`)
    expect(itself.body.svc_group).toMatchObject(value)
    const found = await vi.waitUntil(
      async () => {
        const { body } = await call('GET', find)
        return body.value.length > 0 && body
      },
      { timeout: 60_000 },
    )
    expect(found).toEqual({
      '@odata.context': `${simulator.url}/v1.0/$metadata#groups(id,displayName,svc_group)`,
      value: [
        {
          id: made.body.id,
          displayName: 'Project Aurora',
          svc_group: { '@odata.type': '#microsoft.graph.ComplexExtensionValue', ...value },
        },
      ],
    })
    // Writing the same value again does not hide a value that the directory already shows.
    expect((await call('PATCH', `/v1.0/groups/${made.body.id}`, { svc_group: value })).status).toBe(204)
    expect((await call('GET', find)).body.value).toHaveLength(1)
  })

  it('can have another name, and refuses properties that it does not declare', async () => {
    const simulator = await tenantFor({ directoryExtension: 'ext1a2b3c4d_svcgroup' })
    await consent(simulator, 'graph', ['Group.ReadWrite.All', 'Application.Read.All'])
    const call = await clientOf(simulator)
    const { body } = await call('POST', '/v1.0/groups', securityGroup({ ext1a2b3c4d_svcgroup: { requestId: 'r-2' } }))
    const filter = "$filter=ext1a2b3c4d_svcgroup/requestId eq 'r-2'&$select=id"
    expect((await call('GET', `/v1.0/groups?${filter}`)).body.value).toEqual([{ id: body.id }])
    const wrong = { ext1a2b3c4d_svcgroup: { extensionAttribute2: 'x' } }
    expect((await call('PATCH', `/v1.0/groups/${body.id}`, wrong)).status).toBe(400)
    const declared = await call('GET', "/v1.0/schemaExtensions?$filter=id eq 'ext1a2b3c4d_svcgroup'")
    expect(declared.body.value[0].targetTypes).toEqual(['Group'])
  })
})

describe('the site of a group', () => {
  it('is missing at first, then exists at an address that opens in a browser', async () => {
    const simulator = await tenantFor({ siteReadySeconds: 1.5 })
    const call = await clientOf(simulator)
    const description = '<b>Northern lights</b>'
    const { body } = await call('POST', '/v1.0/groups', group({ description }))
    const path = `/v1.0/groups/${body.id}/sites/root`
    const early = await call('GET', path)
    expect(early).toMatchObject({ status: 404, body: { error: { code: 'ResourceNotFound' } } })
    const site = await vi.waitUntil(
      async () => {
        const answer = await call('GET', path)
        return answer.status === 200 && answer.body
      },
      { timeout: 60_000 },
    )
    expect(site.webUrl).toBe(`${simulator.url}/sites/project-aurora`)
    expect(site.id).toMatch(/^127\.0\.0\.1,[0-9a-f-]{36},[0-9a-f-]{36}$/)
    expect((await call('GET', `/v1.0/sites/${site.id}`)).body.webUrl).toBe(site.webUrl)
    expect((await call('GET', '/v1.0/sites/127.0.0.1:/sites/project-aurora')).body.id).toBe(site.id)
    const page = await fetch(site.webUrl)
    const html = await page.text()
    expect(html).toContain('Project Aurora')
    expect(html).toContain('&lt;b&gt;Northern lights')
    expect(html).toContain('Kim Lee')
  })

  it('has the next free address when its own address is taken', async () => {
    const simulator = await tenantFor()
    const call = await clientOf(simulator)
    const request = {
      Title: 'Aurora',
      Url: `${simulator.url}/sites/project-aurora`,
      WebTemplate: 'SITEPAGEPUBLISHING#0',
      Owner: 'kim@contoso.example',
    }
    await call('POST', '/_api/SPSiteManager/create', { request })
    const { body } = await call('POST', '/v1.0/groups', group())
    const site = await call('GET', `/v1.0/groups/${body.id}/sites/root`)
    expect(site.body.webUrl).toBe(`${simulator.url}/sites/project-aurora2`)
  })
})

it('an address that Graph does not have is refused in Graph’s format', async () => {
  const call = await clientOf(await tenantFor())
  expect(await call('GET', '/v1.0/planets')).toMatchObject({ status: 400, body: { error: { code: 'BadRequest' } } })
  expect((await call('DELETE', '/v1.0/groups')).headers.get('allow')).toBe('GET, POST')
  expect((await call('GET', '/v1.0/organization')).body.value[0].displayName).toBe('Contoso')
})
