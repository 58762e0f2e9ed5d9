import { expect, test } from 'vitest'
import { sendJson, startServer } from '../support/http-server.ts'
import { answersSignIn, connectTo } from '../support/microsoft365.ts'
import { siteInput } from '../support/simulated-tenant.ts'

const groupId = '77777777-aaaa-4aaa-8aaa-000000000001'

test('a site that Graph reports on another host is refused and receives no call with our token', async () => {
  const visits: string[] = []
  const stranger = await startServer((request, response) => {
    visits.push(request.url ?? '')
    sendJson(response, 200, { Title: 'x', IsProvisioningComplete: true })
  })
  const graph = await startServer((request, response) => {
    if (answersSignIn(request, response)) return
    sendJson(response, 200, { id: `host,${groupId},${groupId}`, webUrl: `${stranger.url}/sites/aurora` })
  })
  try {
    const { tenant } = connectTo(graph.url)
    const waiting = tenant.siteSteps['wait-for-site'](siteInput({ progress: { groupId } }))
    await expect(waiting).rejects.toMatchObject({ code: 'foreign-address', retryable: false })
    expect(visits).toEqual([])
  } finally {
    await Promise.all([stranger.close(), graph.close()])
  }
})

test('an aborted step ends at once with a retryable error', async () => {
  const silent = await startServer((request, response) => {
    answersSignIn(request, response)
  })
  try {
    const { tenant } = connectTo(silent.url)
    const stopping = new AbortController()
    const step = tenant.siteSteps['create-site'](siteInput({ signal: stopping.signal }))
    setTimeout(() => stopping.abort(new Error('The process is stopping.')), 50)
    await expect(step).rejects.toMatchObject({ name: 'TenantError', retryable: true })
  } finally {
    await silent.close()
  }
})
