import { BearerToken, BrowserFetch, body, DefaultParse, HttpRequestError } from '@pnp/queryable'
import { DefaultHeaders, DefaultInit, SPQueryable, spGet, spPatch, spPost } from '@pnp/sp'
import { SiteGroup } from '@pnp/sp/site-groups/types.js'
import { Site } from '@pnp/sp/sites/types.js'
import { Web } from '@pnp/sp/webs/types.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startTenant } from '../support/simulated-tenant.ts'
import { tokenOf } from '../support/simulator.ts'

/** SharePoint Online's application id, the resource of its tokens. */
const sharePoint = '00000003-0000-0ff1-ce00-000000000000/.default'
const owner = 'dana@contoso.example'
const label = '33333333-cccc-4ccc-8ccc-000000000002'

describe('PnP’s client for SharePoint, app-only', () => {
  let tenant: Awaited<ReturnType<typeof startTenant>>
  let token: string
  let root: string
  beforeAll(async () => {
    tenant = await startTenant({ siteReadySeconds: 0 })
    root = tenant.simulator.sharePointUrl
    token = await tokenOf(tenant.simulator, undefined, sharePoint)
  })
  afterAll(() => tenant.close())
  const at = (url: string, bearer = token) => {
    const sp = SPQueryable(url).using(
      DefaultHeaders(),
      DefaultInit(),
      BrowserFetch(),
      DefaultParse(),
      BearerToken(bearer),
    )
    return { site: Site(sp), web: Web(sp) }
  }
  const call = (path: string) => SPQueryable([at(root).web, root], path)

  it('creates a communication site, reads its status, site, web and owners', async () => {
    const url = `${root}/sites/artemis`
    const { site } = at(root)
    expect(await site.exists(url)).toBe(false)
    const created = await site.createCommunicationSiteFromProps({
      ...{ Title: 'Artemis', Description: 'To the moon', Url: url, Owner: owner, Lcid: 1033 },
    })
    expect(created).toMatchObject({ SiteStatus: 2, SiteUrl: url })
    expect(await site.exists(url)).toBe(true)
    expect(await spGet(call(`_api/SPSiteManager/status?url='${encodeURIComponent(url)}'`))).toEqual(created)

    const own = at(url)
    expect(await own.site.select('Id', 'Url')()).toEqual({ Id: created.SiteId, Url: url })
    expect(await own.web.select('Title', 'Description')()).toEqual({ Title: 'Artemis', Description: 'To the moon' })
    const { users } = SiteGroup(own.web, 'associatedownergroup')
    expect((await users()).map(({ Email }) => Email)).toEqual([owner])
    await users.add('i:0#.f|membership|omar@contoso.example')
    expect(await users()).toHaveLength(2)
  })

  it('reads and changes the tenant’s properties of a site', async () => {
    const { SiteId } = await at(root).site.createCommunicationSiteFromProps({
      ...{ Title: 'Gemini', Url: `${root}/sites/gemini`, Owner: owner, Lcid: 1033 },
    })
    const properties = call(`_api/SPO.Tenant/sites('${SiteId}')`)
    await spPatch(SPQueryable(properties), body({ SensitivityLabel2: label }))
    expect(await spGet(SPQueryable(properties).select('Owner', 'SensitivityLabel2'))).toEqual({
      Owner: owner,
      SensitivityLabel2: label,
    })
  })

  it('reads SharePoint’s refusals', async () => {
    const refusal = (calling: Promise<unknown>) => calling.catch((error: unknown) => error)
    const nowhere = await refusal(at(`${root}/sites/nowhere`).web())
    expect(nowhere).toBeInstanceOf(HttpRequestError)
    expect(nowhere).toMatchObject({ status: 404, isHttpRequestError: true })
    expect(await refusal(spPost(call('_api/SPSiteManager/create'), body({})))).toMatchObject({ status: 400 })
    expect(await refusal(at(root, 'no token').site.exists(root))).toMatchObject({ status: 401 })
  })
})
