import { describe, expect, it } from 'vitest'
import { withProcesses } from '../support/processes.ts'
import { templates } from '../support/service.ts'
import { until } from '../support/until.ts'

describe('a process that receives SIGTERM', () => {
  const processes = withProcesses()
  const statusOf = async (requestId: string) => (await processes().get(`/requests/v1/${requestId}`))['status']
  const submit = (displayName: string) =>
    processes().post('/collab/v1/spo/', { displayName, templateId: templates.openCommunity })

  it('during a hanging job stops in order within 10 s, answers every call, and continues after the restart', async () => {
    await processes().fault({ operation: 'sharepoint.site.create', kind: 'delay', seconds: 60 })
    const { requestId } = (await (await submit('Goes on')).json()) as { requestId: string }
    await until(async () => (await statusOf(requestId)) === 'provisioning' || undefined, 'work on it')

    const answers: number[] = []
    const unanswered: string[] = []
    // Each caller continues until the port is closed. The bodies are refused, so that nothing is created.
    const callers = Array.from({ length: 8 }, async () => {
      let reset: string | undefined
      for (;;) {
        const answer = await processes().post('/collab/v1/spo/', {}).catch(codeOf)
        if (answer === 'ECONNREFUSED') return
        // A connection that is not accepted yet is reset when the listener closes. Like a refused one, it is the last.
        if (reset !== undefined) unanswered.push(reset)
        if (typeof answer === 'string') reset = answer
        else answers.push(answer.status)
      }
    })
    await until(() => answers.length > 20 || undefined, 'answers')
    const code = await processes().stop()
    await Promise.all(callers)
    expect(code).toBe(0)
    expect(unanswered).toEqual([])
    expect(new Set(answers)).toEqual(new Set([422, 503]))

    await processes().healthy()
    await processes().start()
    await until(async () => (await statusOf(requestId)) === 'succeeded' || undefined, 'it to be made')
    expect(processes().made(requestId, 'Goes on', 'goes-on')).toMatchObject({ unifiedGroups: 0, sites: 1 })
  })

  it('while the connector does not answer stops within 10 s, and the card is sent once afterwards', async () => {
    const { connector, dana } = processes()
    await dana.installs()
    const name = 'Hangs in the air'
    const isIts = (activity: object) => JSON.stringify(activity).includes(name)
    const fault = connector.fail({ method: 'POST', how: 'lose', count: 1, when: isIts })
    const metadata = { costCentre: '4711', audience: 'internal' }
    const body = { displayName: name, templateId: templates.projectSite, metadata }
    expect((await processes().post('/collab/v1/spo/', body)).status).toBe(202)
    await until(() => fault.count === 0 || undefined, 'the card to be on its way')
    expect(await processes().stop()).toBe(0)
    expect(connector.sent.filter(isIts)).toEqual([])
    await processes().start()
    await until(() => connector.sent.some(isIts) || undefined, 'the card', 30)
    // Once a card that was ordered later has arrived, a repeated card would have arrived as well.
    const later = 'Ordered later'
    expect((await processes().post('/collab/v1/spo/', { ...body, displayName: later })).status).toBe(202)
    await until(() => connector.sent.some((one) => JSON.stringify(one).includes(later)) || undefined, 'a later card')
    expect(connector.sent.filter(isIts)).toHaveLength(1)
  })
})

/** Returns the system's error code for a missing answer, such as ECONNREFUSED. */
function codeOf(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
  return typeof cause === 'object' && cause !== null && 'code' in cause ? String(cause.code) : String(cause)
}
