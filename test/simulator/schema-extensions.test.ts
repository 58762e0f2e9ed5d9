import type { Client } from '@microsoft/microsoft-graph-client'
import type { Group, SchemaExtension } from '@microsoft/microsoft-graph-types'
import { beforeEach, describe, expect, it } from 'vitest'
import type { Simulator } from '../../src/simulator/index.ts'
import { administrator, emptyTenant, register } from '../support/administrator.ts'
import { ask, userUrl } from '../support/simulator.ts'

const sam = '11111111-aaaa-4aaa-8aaa-000000000004'
const failure = (call: Promise<unknown>) => call.then(() => undefined).catch((error: unknown) => error)

describe('a schema extension', () => {
  let tenant: Simulator
  let graph: Client
  let owner: string
  beforeEach(async () => {
    tenant = await emptyTenant()
    graph = await administrator(tenant)
    const app = await register(graph, {})
    owner = app.appId
    await graph.api(`/applications/${app.id}/owners/$ref`).post({ '@odata.id': userUrl(sam) })
  })
  const properties = ['requestId', 'extensionAttribute1'].map((name) => ({ name, type: 'String' }))
  const bodyOf = (change: SchemaExtension = {}) => ({
    ...{ id: 'quartermaster', description: 'Records', targetTypes: ['Group'], owner, properties },
    ...change,
  })
  const create = (change?: SchemaExtension): Promise<SchemaExtension> =>
    graph.api('/schemaExtensions').post(bodyOf(change))
  const newGroup = (body: object): Promise<Group> =>
    graph
      .api('/groups')
      .post({ displayName: 'R', mailEnabled: false, mailNickname: 'r', securityEnabled: true, ...body })

  it('receives a prefix, and belongs to a registration that the person owns', async () => {
    expect(await create()).toMatchObject({
      id: expect.stringMatching(/^ext[a-z0-9]{8}_quartermaster$/),
      ...{ status: 'InDevelopment', owner, targetTypes: ['Group'], properties },
    })
    const foreign = await register(graph, {})
    expect(await failure(create({ owner: foreign.appId }))).toMatchObject({
      statusCode: 403,
      code: 'Authorization_RequestDenied',
    })
    // Without an owner, the extension would belong to the client, which is Microsoft's.
    const { owner: _, ...ownerless } = bodyOf()
    expect(await failure(graph.api('/schemaExtensions').post(ownerless))).toMatchObject({ statusCode: 403 })
    const listed = await graph.api('/schemaExtensions').filter(`owner eq '${owner}'`).get()
    expect(listed.value).toHaveLength(1)
  })

  it.each([
    [{ id: 'fabrikam_records' }, 'not a verified domain'],
    [{ properties: [] }, "Property 'properties'"],
    [{ targetTypes: ['Chair'] }, "Property 'targetTypes"],
    [{ properties: [{ name: 'x', type: 'Colour' }] }, "Property 'properties"],
  ])('is refused with the reason: %j', async (change, message) => {
    const refusal = await failure(create(change))
    expect(refusal).toMatchObject({ statusCode: 400, message: expect.stringContaining(message) })
  })

  it('is a property of groups that can be written, selected and filtered', async () => {
    const { id = '' } = await create()
    const group = await newGroup({ [id]: { requestId: 'r-1', extensionAttribute1: 'x' } })
    const shown = await graph.api(`/groups/${group.id}`).select(`id,${id}`).get()
    expect(shown[id]).toMatchObject({ requestId: 'r-1', extensionAttribute1: 'x' })
    const found = await graph.api('/groups').filter(`${id}/requestId eq 'r-1'`).select(`id,${id}`).get()
    expect(found.value).toMatchObject([{ id: group.id }])
    expect(await failure(newGroup({ [id]: { colour: 'red' } }))).toMatchObject({ statusCode: 400 })
    expect(await failure(newGroup({ ext00000000_other: { requestId: 'x' } }))).toMatchObject({ statusCode: 400 })
    const second = (await create({ id: 'second' })).id ?? ''
    await graph.api(`/groups/${group.id}`).patch({ [second]: { requestId: 'r-2' }, [id]: null })
    const changed = await graph.api(`/groups/${group.id}`).select(`${id},${second}`).get()
    expect(changed).toMatchObject({ [second]: { requestId: 'r-2' } })
    expect(changed).not.toHaveProperty(id)
  })

  it('is unknown to groups at first, in bodies and in queries', async () => {
    await ask('POST', `${tenant.url}/control/tenant`, { body: { replicationSeconds: 3600 } })
    const app = await graph.api('/applications').post({ displayName: 'x', 'owners@odata.bind': [userUrl(sam)] })
    const { id = '' } = await create({ owner: app.appId })
    expect(await failure(newGroup({ [id]: { requestId: 'r' } }))).toMatchObject({
      statusCode: 400,
      message: `The following extension properties are not available: ${id}_requestId.`,
    })
    const unknown = {
      statusCode: 400,
      message: `Could not find a property named '${id}' on type 'microsoft.graph.group'.`,
    }
    expect(await failure(graph.api('/groups').select(id).get())).toMatchObject(unknown)
    expect(await failure(graph.api('/groups').filter(`${id}/requestId eq 'r'`).get())).toMatchObject(unknown)
    await ask('POST', `${tenant.url}/control/tenant`, { body: { replicationSeconds: 0 } })
    expect((await newGroup({ [id]: { requestId: 'r' } })).id).toBeDefined()
  })

  it('stays available permanently, and then only accepts further properties', async () => {
    const { id } = await create()
    const patch = (body: object) => graph.api(`/schemaExtensions/${id}`).patch(body)
    await patch({ status: 'Available' })
    expect(await failure(patch({ status: 'InDevelopment' }))).toMatchObject({ statusCode: 400 })
    expect(await failure(patch({ properties: properties.slice(1) }))).toMatchObject({ statusCode: 400 })
    await patch({ properties: [...properties, { name: 'extensionAttribute3', type: 'String' }] })
    expect(await failure(graph.api(`/schemaExtensions/${id}`).delete())).toMatchObject({ statusCode: 400 })
    const read: SchemaExtension = await graph.api(`/schemaExtensions/${id}`).get()
    expect(read).toMatchObject({ status: 'Available', properties: [{}, {}, { name: 'extensionAttribute3' }] })
    const draft = await create()
    await graph.api(`/schemaExtensions/${draft.id}`).delete()
  })
})
