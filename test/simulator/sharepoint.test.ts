import { describe, expect, it, vi } from 'vitest'
import type { Simulator } from '../../src/simulator/index.ts'
import { clientOf, kim, tenantFor, userUrl } from '../support/simulator.ts'

const confidential = '33333333-cccc-4ccc-8ccc-000000000003'

const creation = (simulator: Simulator, changes: Record<string, unknown> = {}) => ({
  request: {
    Title: 'News',
    Url: `${simulator.url}/sites/news`,
    Description: 'What is new',
    Lcid: 1033,
    WebTemplate: 'SITEPAGEPUBLISHING#0',
    Owner: 'kim@contoso.example',
    ...changes,
  },
})

describe('a communication site', () => {
  it('is provisioning, then ready; a second one at its address receives "already exists"', async () => {
    const simulator = await tenantFor({ siteReadySeconds: 0.3 })
    const call = await clientOf(simulator)
    const status = `/_api/SPSiteManager/status?url='${encodeURIComponent(`${simulator.url}/sites/news`)}'`
    expect((await call('GET', status)).body).toEqual({ SiteId: '', SiteStatus: 0, SiteUrl: '' })
    const made = await call('POST', '/_api/SPSiteManager/create', creation(simulator))
    expect(made).toMatchObject({ status: 200, body: { SiteStatus: 1, SiteUrl: `${simulator.url}/sites/news` } })
    await vi.waitUntil(async () => (await call('GET', status)).body.SiteStatus === 2, { timeout: 60_000 })
    const again = await call('POST', '/_api/SPSiteManager/create', creation(simulator))
    expect(again).toMatchObject({ status: 200, body: { SiteStatus: 4 } })
    const web = await call('GET', '/sites/news/_api/web?$select=Title,Url,IsProvisioningComplete')
    expect(web.body).toMatchObject({ Title: 'News', IsProvisioningComplete: true })
    const exists = await call('POST', '/_api/SP.Site.Exists', { url: `${simulator.url}/sites/news` })
    expect(exists.body.value).toBe(true)
  })

  it.each([
    ['without an owner, for an app', { Owner: undefined }],
    ['with an owner nobody knows', { Owner: 'nobody@contoso.example' }],
    ['outside /sites/', { Url: 'https://elsewhere.example/sites/news' }],
    ['with a label nobody knows', { SensitivityLabel: kim }],
  ])('%s ends with SiteStatus 3 and HTTP 200', async (_, changes) => {
    const simulator = await tenantFor()
    const call = await clientOf(simulator)
    const answer = await call('POST', '/_api/SPSiteManager/create', creation(simulator, changes))
    expect(answer).toMatchObject({ status: 200, body: { SiteStatus: 3 } })
  })

  it('has owners, each once however often it is added', async () => {
    const simulator = await tenantFor()
    const call = await clientOf(simulator)
    await call('POST', '/_api/SPSiteManager/create', creation(simulator))
    const owners = '/sites/news/_api/web/associatedownergroup/users'
    const body = { LoginName: 'i:0#.f|membership|dana@contoso.example' }
    expect((await call('POST', owners, body)).status).toBe(201)
    expect((await call('POST', owners, body)).status).toBe(201)
    const { value } = (await call('GET', owners)).body
    expect(value.map((user: { LoginName: string }) => user.LoginName)).toEqual([
      'i:0#.f|membership|kim@contoso.example',
      'i:0#.f|membership|dana@contoso.example',
    ])
    const unknown = await call('POST', owners, { LoginName: 'i:0#.f|membership|nobody@contoso.example' })
    expect(unknown.status).toBe(400)
    expect(unknown.body['odata.error'].message.value).toContain('could not be found')
    expect((await call('GET', '/sites/nowhere/_api/web')).status).toBe(404)
  })
})

describe('the label of a site', () => {
  it('is set by the tenant administration, and Graph shows it on the group', async () => {
    const simulator = await tenantFor()
    const call = await clientOf(simulator)
    const group = await call('POST', '/v1.0/groups', {
      displayName: 'Aurora',
      mailNickname: 'aurora',
      groupTypes: ['Unified'],
      mailEnabled: true,
      securityEnabled: false,
      'owners@odata.bind': [userUrl(kim)],
    })
    const site = await call('GET', `/v1.0/groups/${group.body.id}/sites/root`)
    const properties = `/_api/SPO.Tenant/sites('${site.body.id.split(',')[1]}')`
    expect((await call('GET', `${properties}?$select=SensitivityLabel2`)).body).toEqual({ SensitivityLabel2: '' })
    expect((await call('PATCH', properties, { SensitivityLabel2: confidential })).status).toBe(204)
    expect((await call('GET', properties)).body.SensitivityLabel2).toBe(confidential)
    const labels = await call('GET', `/v1.0/groups/${group.body.id}?$select=assignedLabels`)
    expect(labels.body.assignedLabels).toEqual([{ labelId: confidential, displayName: 'Confidential' }])
    expect((await call('PATCH', properties, { SensitivityLabel2: kim })).status).toBe(400)
    expect((await call('POST', properties, { SensitivityLabel2: '' }, { 'X-HTTP-Method': 'MERGE' })).status).toBe(204)
    expect((await call('GET', properties)).body.SensitivityLabel2).toBe('')
  })
})

it('an alias is offered as an address until it is taken', async () => {
  const simulator = await tenantFor()
  const call = await clientOf(simulator)
  const path = "/_api/GroupSiteManager/GetValidSiteUrlFromAlias?alias='news'"
  expect((await call('GET', path)).body.value).toBe(`${simulator.url}/sites/news`)
  await call('POST', '/_api/SPSiteManager/create', creation(simulator))
  expect((await call('GET', path)).body.value).toBe('')
})
