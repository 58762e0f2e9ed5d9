import { afterEach, describe, expect, it } from 'vitest'
import { because, siteSteps } from '../../src/core/index.ts'
import { sendJson, startServer } from '../support/http-server.ts'
import { answersSignIn, connectTo, type OtherHosts } from '../support/microsoft365.ts'
import { runStep, runSteps, siteInput, withTenant } from '../support/simulated-tenant.ts'

const contoso = withTenant()
const usual = {
  ...{ refusesODataVersion: false, newSitesHost: null, groupPrefix: '', groupPrefixConduct: 'refuses' },
  groupsAcceptExtension: true,
}
afterEach(async () => {
  await contoso.modes(usual)
  await contoso.forgetCalls()
})
const withoutLabel = siteSteps.filter((step) => step !== 'apply-label')
const connect = (otherSharePointHosts?: OtherHosts) => connectTo(contoso.simulator.url, { otherSharePointHosts }).tenant
const refusedCalls = async () => (await contoso.calls()).filter(({ status }) => status >= 400 && status !== 404)

describe('a tenant whose manager of sites refuses odata-version', () => {
  it('creates the site after one repeat without the header, and omits the header from then on', async () => {
    await contoso.modes({ refusesODataVersion: true })
    const tenant = connect()
    for (const turn of ['first', 'second']) {
      const input = siteInput({ kind: 'communicationSite' })
      const { progress } = await runSteps(tenant, withoutLabel, input)
      expect(progress.url, turn).toBe(`${contoso.simulator.url}/sites/${input.alias}`)
    }
    expect(await refusedCalls()).toMatchObject([{ operation: 'sharepoint.site.status', status: 400 }])
    const created = (await contoso.calls()).filter(({ operation }) => operation === 'sharepoint.site.create')
    expect(created.map(({ status }) => status)).toEqual([200, 200])
  })

  it.each([400, 401, 403, 500])('is recognised by the text of the refusal with status %i', async (status) => {
    const versions: (string | undefined)[] = []
    const server = await startServer((request, response) => {
      if (answersSignIn(request, response)) return
      const version = request.headers['odata-version']
      if (request.method === 'POST') versions.push(version?.toString())
      const value = 'Elevated context should be used only to create service asserted level PoP'
      const error = { 'odata.error': { code: '-1', message: { lang: 'en-US', value } } }
      if (version !== undefined && request.method === 'POST') return sendJson(response, status, error)
      const isPost = request.method === 'POST'
      const SiteUrl = isPost ? `${server.url}/sites/a` : ''
      sendJson(response, 200, { SiteId: '', SiteStatus: isPost ? 2 : 0, SiteUrl })
    })
    const { tenant } = connectTo(server.url)
    const input = siteInput({ kind: 'communicationSite', alias: 'a' })
    expect(await tenant.siteSteps['create-site'](input)).toMatchObject({ done: true })
    expect(versions.at(-1)).toBeUndefined()
    expect(versions.filter((version) => version === undefined)).toHaveLength(1)
    await server.close()
  })

  it('does not repeat the call after another refusal', async () => {
    await contoso.fault({ operation: 'sharepoint.site.create', kind: 'failBeforeCommit', status: 400 })
    const input = siteInput({ kind: 'communicationSite' })
    await expect(connect().siteSteps['create-site'](input)).rejects.toMatchObject({ status: 400 })
    expect((await contoso.calls()).filter(({ operation }) => operation === 'sharepoint.site.create')).toHaveLength(1)
  })
})

describe('a tenant with a second SharePoint host', () => {
  const second = () => {
    const url = new URL(contoso.simulator.url)
    url.hostname = 'localhost'
    return url.origin
  }

  it('completes its sites at a host that SHAREPOINT_URL lists, with tokens for that host', async () => {
    await contoso.modes({ newSitesHost: 'localhost' })
    const tenant = connect([{ url: second(), adminUrl: contoso.simulator.url }])
    const input = siteInput()
    const { progress } = await runSteps(tenant, withoutLabel, input)
    expect(progress.url).toBe(`${second()}/sites/${input.alias}`)
    expect(progress.siteId).toMatch(/^localhost,/)
    expect(await refusedCalls()).toEqual([])
  })

  it('receives no token at a host that is not listed; the error names the setting, and a retry completes', async () => {
    await contoso.modes({ newSitesHost: 'localhost' })
    const input = await runSteps(connect(), ['create-site'], siteInput())
    const wait = runStep(connect(), 'wait-for-site', input)
    await expect(wait).rejects.toMatchObject({ code: 'foreign-address', retryable: false })
    await expect(wait).rejects.toThrow(/on localhost:\d+\. SHAREPOINT_URL does not list this host/)
    expect((await contoso.calls()).filter(({ operation }) => operation === 'sharepoint.web.get')).toEqual([])
    const listed = connect([{ url: second(), adminUrl: contoso.simulator.url }])
    expect((await runSteps(listed, withoutLabel.slice(1), input)).progress.url).toContain('//localhost:')
  })
})

describe('a tenant with a group naming policy', () => {
  it("refuses an address before the request if the policy's version of it is taken", async () => {
    const { alias, ...input } = siteInput()
    await contoso.modes({ groupPrefix: 'GRP ' })
    const directory = connectTo(contoso.simulator.url).directory
    expect(await directory.isSiteAddressFree(alias)).toBe(true)
    await runSteps(connect(), ['create-site'], { ...input, alias })
    expect(await connectTo(contoso.simulator.url).directory.isSiteAddressFree(alias)).toBe(false)
    await contoso.modes({ groupPrefix: '' })
    expect(await connectTo(contoso.simulator.url).directory.isSiteAddressFree(alias)).toBe(true)
  })

  it('may hide its policy: then only the requested address is checked', async () => {
    const { alias } = siteInput()
    await contoso.modes({ groupPrefix: 'GRP ' })
    await contoso.fault({ operation: 'graph.groupSettings.list', kind: 'failBeforeCommit', status: 403 })
    expect(await connectTo(contoso.simulator.url).directory.isSiteAddressFree(alias)).toBe(true)
  })

  it.each(['refuses', 'adds'])(
    'that %s names without the prefix: the site receives the names of the policy',
    async (conduct) => {
      await contoso.modes({ groupPrefix: 'GRP ', groupPrefixConduct: conduct })
      const input = siteInput()
      const { progress } = await runSteps(connect(), withoutLabel, input)
      const alias = `GRP${input.alias}`
      expect(progress.createdAs).toEqual({
        ...{ displayName: `GRP ${input.displayName}`, alias },
        mail: `${alias}@contoso.example`,
      })
      expect(progress.url).toBe(`${contoso.simulator.url}/sites/${alias}`)
      expect(progress.securityGroupName).toBe(`SPO-${alias}`)
      // Runs the first step again, as after a crash. It finds the same group.
      const again = await runStep(connect(), 'create-site', input)
      expect(again).toEqual({ groupId: progress.groupId, createdAs: progress.createdAs })
    },
  )

  it('reports the address that the policy produces when this address is taken', async () => {
    await contoso.modes({ groupPrefix: 'GRP-' })
    const { alias } = await runSteps(connect(), ['create-site'], siteInput())
    const other = connect().siteSteps['create-site'](siteInput({ alias }))
    await expect(other).rejects.toMatchObject({ code: 'name-taken' })
    await expect(other).rejects.toThrow(`The address GRP-${alias} is taken`)
  })

  it('leaves names unchanged that already follow the policy', async () => {
    await contoso.modes({ groupPrefix: 'GRP-' })
    const input = siteInput({ alias: 'GRP-plans', displayName: 'GRP-Plans' })
    const progress = await runStep(connect(), 'create-site', input)
    expect(progress.createdAs).toMatchObject({ displayName: 'GRP-Plans', alias: 'GRP-plans' })
  })

  it.each([
    ['a blocked word', [{ code: 'ContainsBlockedWord', target: 'displayName' }]],
    ['an invalid alias', [{ code: 'MissingPrefixSuffix', target: 'mailNickname', suggestedPropertyValue: 'a/b' }]],
    [
      'the same name again and again',
      [{ code: 'MissingPrefixSuffix', target: 'displayName', suggestedPropertyValue: 'Same' }],
    ],
  ])('causes an error that names the policy when it refuses because of %s', async (_, details) => {
    const server = await startServer((request, response) => {
      if (answersSignIn(request, response)) return
      if (request.method === 'GET') return sendJson(response, 404, { error: { code: 'Request_ResourceNotFound' } })
      const message = "The property is refused per your organization's Group naming requirements."
      sendJson(response, 400, { error: { code: 'Request_BadRequest', message, details } })
    })
    const step = connectTo(server.url).tenant.siteSteps['create-site'](siteInput())
    await expect(step).rejects.toMatchObject({ code: 'naming-policy', retryable: false })
    await expect(step).rejects.toThrow('group naming policy')
    await server.close()
  })
})

describe('a tenant whose groups do not know the schema extension', () => {
  it('waits with the last step, shows which setting to check, and completes once they know it', async () => {
    await contoso.modes({ groupsAcceptExtension: false })
    const tenant = connect()
    const input = await runSteps(tenant, withoutLabel.slice(0, -1), siteInput())
    const why = {
      code: 'extension-not-accepted',
      reason: because('extensionRefused', { service: 'Microsoft Graph', extension: expect.any(String) }),
    }
    expect(await tenant.siteSteps['link-group'](input)).toEqual({ done: false, retryAfterSeconds: 10, why })
    await contoso.modes({ groupsAcceptExtension: true })
    expect(await runStep(tenant, 'link-group', input)).toHaveProperty('securityGroupId')
  })

  it('explains the refused look-up of the provisioned group in the same way', async () => {
    await contoso.modes({ groupsAcceptExtension: false })
    const found = contoso.directory.findProvisionedGroup(siteInput().requestId)
    await expect(found).rejects.toThrow('DIRECTORY_EXTENSION')
  })
})
