import { describe, expect, it } from 'vitest'
import { withProcesses } from '../support/processes.ts'
import { templates } from '../support/service.ts'
import { until } from '../support/until.ts'

describe('a process that is told to stop', () => {
  const processes = withProcesses()
  const statusOf = async (requestId: string) => (await processes.get(`/requests/v1/${requestId}`))['status']
  const submit = (displayName: string) =>
    processes.post('/collab/v1/spo/', { displayName, templateId: templates.openCommunity })

  it('while a job hangs ends in order within 10 s, leaves nobody without an answer, and goes on afterwards', async () => {
    await processes.fault({ operation: 'sharepoint.site.create', kind: 'delay', seconds: 60 })
    const { requestId } = (await (await submit('Goes on')).json()) as { requestId: string }
    await until(async () => (await statusOf(requestId)) === 'provisioning' || undefined, 'work on it')

    const answers: number[] = []
    const unanswered: string[] = []
    // Each goes on asking until nobody listens any more; bodies that are refused, so that nothing is made of them.
    const callers = Array.from({ length: 8 }, async () => {
      let reset: string | undefined
      for (;;) {
        const answer = await processes.post('/collab/v1/spo/', {}).catch(codeOf)
        if (answer === 'ECONNREFUSED') return
        // A connection that nobody has taken yet is reset when the listener goes: like a refused one, it is the last.
        if (reset !== undefined) unanswered.push(reset)
        if (typeof answer === 'string') reset = answer
        else answers.push(answer.status)
      }
    })
    await until(() => answers.length > 20 || undefined, 'answers')
    const code = await processes.stop()
    await Promise.all(callers)
    expect(code).toBe(0)
    expect(unanswered).toEqual([])
    expect(new Set(answers)).toEqual(new Set([422, 503]))

    await processes.healthy()
    await processes.start()
    await until(async () => (await statusOf(requestId)) === 'succeeded' || undefined, 'it to be made')
    expect(processes.made(requestId, 'Goes on', 'goes-on')).toMatchObject({ unifiedGroups: 0, sites: 1 })
  }, 60_000)

  it('while the connector does not answer to a card ends within 10 s, and the card is sent once afterwards', async () => {
    const { connector, dana } = processes
    await dana.installs()
    const name = 'Hangs in the air'
    const isIts = (activity: object) => JSON.stringify(activity).includes(name)
    const fault = connector.fail({ method: 'POST', how: 'lose', count: 1, when: isIts })
    const metadata = { costCentre: '4711', audience: 'internal' }
    const asked = { displayName: name, templateId: templates.projectSite, metadata }
    expect((await processes.post('/collab/v1/spo/', asked)).status).toBe(202)
    await until(() => fault.count === 0 || undefined, 'the card to be on its way')
    expect(await processes.stop()).toBe(0)
    expect(connector.sent.filter(isIts)).toEqual([])
    await processes.start()
    await until(() => connector.sent.some(isIts) || undefined, 'the card', 30)
    // What would send it again has had its turn when a card that was ordered later is there.
    const later = 'Ordered later'
    expect((await processes.post('/collab/v1/spo/', { ...asked, displayName: later })).status).toBe(202)
    await until(() => connector.sent.some((one) => JSON.stringify(one).includes(later)) || undefined, 'a later card')
    expect(connector.sent.filter(isIts)).toHaveLength(1)
  }, 90_000)
})

/** The system's word for why there was no answer, such as ECONNREFUSED. */
function codeOf(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
  return typeof cause === 'object' && cause !== null && 'code' in cause ? String(cause.code) : String(cause)
}
