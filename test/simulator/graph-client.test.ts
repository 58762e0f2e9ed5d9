import { type Client, GraphError } from '@microsoft/microsoft-graph-client'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { graphClient } from '../support/graph-client.ts'
import { caller, siteView } from '../support/rest-caller.ts'
import { templates, withService } from '../support/service.ts'
import { people } from '../support/teams-user.ts'
import { tokenFor } from '../support/tenant-control.ts'
import { until } from '../support/until.ts'

/** The record in the API document ("Provisioned group record"). */
const groups = z.object({
  '@odata.context': z.string(),
  value: z.array(
    z.strictObject({
      id: z.uuid(),
      displayName: z.string(),
      svc_group: z.looseObject({ extensionAttribute1: z.string(), extensionAttribute3: z.url() }),
    }),
  ),
})

describe('Microsoft’s own Graph client', () => {
  const service = withService()
  const { call } = caller(service)

  async function graph(who?: keyof typeof people): Promise<Client> {
    const directoryUrl = service.app.endpoints.simulator?.url ?? ''
    const token = who && (await tokenFor(directoryUrl, people[who].id, 'https://graph.microsoft.com/Group.Read.All'))
    return graphClient(directoryUrl, token)
  }
  const lookFor = async (requestId: string, who?: keyof typeof people): Promise<unknown> =>
    (await graph(who))
      .api('/groups')
      .filter(`svc_group/requestId eq '${requestId}'`)
      .select('id,displayName,svc_group')
      .get()

  /** Requests a site as Kim, and returns it as the API shows it once it is ready. */
  async function provisioned(displayName: string) {
    const body = { displayName, templateId: templates.workingGroup }
    const response = await call('kim', 'POST', '/collab/v1/spo/', { body })
    const { requestId } = z.object({ requestId: z.uuid() }).parse(response.body)
    return until(async () => {
      const request = siteView.parse((await call('kim', 'GET', `/requests/v1/${requestId}`)).body)
      return request.status === 'succeeded' ? request : undefined
    }, `${displayName} to be made`)
  }

  it('reads the group of a provisioned site from the directory, with the filter of the API document', async () => {
    const [apollo, hermes] = [await provisioned('Apollo'), await provisioned('Hermes')]
    for (const { requestId, resource } of [apollo, hermes]) {
      const { value } = groups.parse(await lookFor(requestId, 'kim'))
      expect(value.map(({ svc_group }) => svc_group)).toMatchObject([
        { extensionAttribute1: resource?.siteId, extensionAttribute3: resource?.url },
      ])
      expect(value.map(({ id }) => id)).toEqual([resource?.securityGroupId])
    }
  })

  it('finds nothing for an unknown request, and is refused without a token', async () => {
    expect(groups.parse(await lookFor('6f2f8f0e-3a51-4c0b-9a57-0d6f3a1f7c11', 'kim')).value).toEqual([])
    const refusal = await lookFor('6f2f8f0e-3a51-4c0b-9a57-0d6f3a1f7c11').catch((error: unknown) => error)
    expect(refusal).toBeInstanceOf(GraphError)
    expect(refusal).toMatchObject({ statusCode: 401, code: 'InvalidAuthenticationToken' })
  })
})
