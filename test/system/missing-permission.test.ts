import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { permissions } from '../../src/microsoft365/index.ts'
import { textOf } from '../support/cards.ts'
import { partOn } from '../support/health-card.ts'
import { templates, withService } from '../support/service.ts'
import { until } from '../support/until.ts'

const graph = permissions.filter(({ service }) => service === 'graph').map(({ name }) => name)
const missing = 'Sites.Read.All'
const named = `the app registration lacks the application permission ${missing}`

describe('a request that stops for a missing permission', () => {
  const service = withService()
  const read = (who: 'kim' | 'sam', requestId: string) => service.rest(who, 'GET', `/requests/v1/${requestId}`)

  it('names the permission to admins only, and completes after the grant and a retry', async () => {
    await service.sam.says('help')
    await service.consent(
      'graph',
      graph.filter((name) => name !== missing),
    )
    await service.restart()
    const displayName = `Probe ${randomUUID().slice(0, 8)}`
    const body = { displayName, templateId: templates.workingGroup }
    const sent = Object(await service.rest('kim', 'POST', '/collab/v1/spo', body)).body
    const status = async () => Object((await read('sam', sent.requestId)).body)['status']
    await until(async () => (await status()) === 'failed', 'the failed request')

    expect(Object((await read('sam', sent.requestId)).body)['problem']).toMatchObject({
      code: 'permission-missing',
      detail: `Microsoft Graph answered 403 while waiting for the site: ${named}. Grant it with admin consent. A change takes effect within a minute. Then retry.`,
    })
    const forKim = JSON.stringify((await read('kim', sent.requestId)).body)
    expect(forKim).toContain('The service lacks a permission. The admins were notified.')
    expect(forKim).not.toContain(missing)
    const timeline = await service.rest('kim', 'GET', `/requests/v1/${sent.requestId}/timeline`)
    expect(JSON.stringify(timeline.body)).toContain('The service lacks a permission.')
    expect(JSON.stringify(timeline.body)).not.toContain(missing)
    const explanation = await service.rest('kim', 'GET', `/requests/v1/${sent.requestId}/explanation`)
    expect(JSON.stringify(explanation.body)).toContain('The service lacks a permission.')
    expect(JSON.stringify(explanation.body)).not.toContain(missing)
    const alert = await service.sam.sees(new RegExp(`Failed[\\s\\S]*${displayName}`), 'the alert')
    expect(textOf(alert.card)).toContain(named)
    expect(partOn((await service.sam.says('admin health')).card, 'Microsoft Graph')).toMatchObject({
      state: 'Red',
      says: expect.stringContaining(named),
    })

    await service.consent('graph', graph)
    await service.restart()
    await service.rest('sam', 'POST', `/requests/v1/${sent.requestId}/retry`, {})
    await until(async () => (await status()) === 'succeeded', 'the completed request')
    expect(partOn((await service.sam.says('admin health')).card, 'Microsoft Graph').state).toBe('Green')
  })
})
