import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { auditReport, from, originOf } from '../../src/core/index.ts'
import { textOf } from '../support/cards.ts'
import { templates, withService } from '../support/service.ts'
import { opens } from '../support/site-request.ts'
import { endPatience } from '../support/unreadable.ts'
import { until } from '../support/until.ts'
import { startSubscriber } from '../support/webhook-subscriber.ts'

const secret = `whsec_${Buffer.alloc(32, 3).toString('base64')}`
const headersOf = (trace: string) => ({ traceparent: `00-${trace}-00f067aa0ba902b7-01` })
const traceOf = (traceparent: string | undefined): string | undefined => originOf(traceparent).trace

describe('a trace', () => {
  const lines: Record<string, unknown>[] = []
  const service = withService({ LOG_LEVEL: 'debug' }, () => ({
    writeLog: (line) => void lines.push(JSON.parse(line)),
  }))
  let subscriber: Awaited<ReturnType<typeof startSubscriber>>

  beforeAll(async () => {
    subscriber = await startSubscriber()
    const path = `/templates/v1/${templates.workingGroup}`
    const { body, headers } = await service.rest('sam', 'GET', path)
    const webhook = { url: subscriber.url, secret, events: ['site.provisioned'] }
    await service.rest('sam', 'PUT', path, { ...body, webhook }, { 'if-match': headers.get('etag') ?? '' })
  })
  afterAll(() => subscriber.close())

  const audit = async (requestId: string) =>
    auditReport.parse((await service.rest('sam', 'GET', `/audit/v1/requests/${requestId}`)).body).entries
  const announced = (requestId: string) =>
    until(async () => {
      const entries = await audit(requestId)
      return entries.some(({ action }) => action === 'announced') ? entries : undefined
    }, 'the site to be announced')
  const requestIdOf = async (displayName: string): Promise<string> => {
    const sql = `SELECT request_id AS id FROM requests WHERE body -> 'details' ->> 'displayName' = $1`
    const { rows } = await service.app.database.query<{ id: string }>(sql, [displayName])
    return rows[0]?.id ?? ''
  }
  /** Returns the calls of the tenant under a trace. */
  const callsOf = async (trace: string): Promise<string[]> => {
    const calls = await service.calls()
    return calls.filter(({ traceparent }) => traceOf(traceparent) === trace).map(({ operation }) => operation)
  }

  it('connects a REST call with its jobs, Microsoft 365, the receiver of the webhook, the card and the audit', async () => {
    const trace = '4bf92f3577b34da6a3ce929d0e0e4736'
    await service.kim.installs()
    const accepted = await service.rest(
      'kim',
      'POST',
      '/collab/v1/spo/',
      { displayName: 'Cygnus', templateId: templates.workingGroup },
      headersOf(trace),
    )
    expect(accepted.status).toBe(202)
    // The call has its own id: two calls with the same trace create two requests.
    expect(accepted.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/)
    const entries = await announced(String(accepted.body['requestId']))
    expect(new Set(entries.map(({ traceId }) => traceId))).toEqual(new Set([trace]))
    expect(new Set(entries.map(({ from }) => from))).toContain('job')

    const webhook = await until(() => subscriber.received[0], 'the webhook')
    expect(webhook.headers['traceparent']).toMatch(new RegExp(`^00-${trace}-[0-9a-f]{16}-01$`))
    const calls = await callsOf(trace)
    for (const operation of ['graph.groups.upsert', 'graph.groups.list']) expect(calls).toContain(operation)
    expect((await service.calls('graph.groups.upsert')).map(({ traceparent }) => traceOf(traceparent))).toEqual(
      calls.filter((operation) => operation === 'graph.groups.upsert').map(() => trace),
    )
    const card = await service.kim.sees(/Your site is ready/)
    const sent = service.connector.calls.filter(({ traceparent }) => traceOf(traceparent) === trace)
    expect(sent.map(({ activity }) => JSON.stringify(activity)).join()).toContain('Your site is ready')
    expect(textOf(card.card)).toContain('Cygnus')

    const ofTrace = lines.filter(({ traceId }) => traceId === trace)
    expect(ofTrace.find(({ msg }) => msg === 'a call completed')).toMatchObject({
      route: '/collab/v1/spo',
      status: 202,
    })
    for (const job of ['provision', 'deliver-webhook', 'notify'])
      await until(() => lines.find((line) => line['traceId'] === trace && line['job'] === job), `the line of ${job}`)
  })

  it('starts with each click in chat and connects the same parts', async () => {
    const { kim, dana } = service
    await dana.installs()
    const choose = await opens(kim, 'site')
    const form = await kim.clicks(choose, 'Choose Project site')
    const filled = {
      displayName: 'Draco',
      'metadata.costCentre': '4711',
      'metadata.audience': 'internal',
      reason: 'Why',
    }
    const review = await kim.clicks({ id: choose.id, card: form.card }, 'Review', filled)
    await kim.clicks({ id: choose.id, card: review.card }, 'Send')
    await dana.clicks(await dana.sees(/Your decision, please/), 'Approve', { comment: 'Go ahead' })
    const entries = await announced(await requestIdOf('Draco'))
    const traceFor = (action: string) => entries.find((entry) => entry.action === action)?.traceId ?? ''
    const [accepted, approved] = [traceFor('pendingApproval'), traceFor('approved')]
    expect(accepted).toMatch(/^[0-9a-f]{32}$/)
    expect(approved).not.toBe(accepted)
    // All later entries belong to the trace of the approval.
    const later = entries.slice(entries.findIndex(({ action }) => action === 'approved'))
    expect(new Set(later.map(({ traceId }) => traceId))).toEqual(new Set([approved]))
    expect(await callsOf(approved)).toContain('graph.groups.upsert')
    const turn = lines.find(({ traceId, kind }) => traceId === approved && kind !== undefined)
    expect(turn).toMatchObject({ kind: 'click', what: 'approval.approve', outcome: 'done', personId: dana.id })
    for (const job of ['provision', 'refresh-cards'])
      await until(() => lines.find((line) => line['traceId'] === approved && line['job'] === job), `the line of ${job}`)
  })

  it('is shown to a person whose turn failed, and identifies the failure in the log', async () => {
    await service.app.database.query('ALTER TABLE requests RENAME TO requests_away')
    const listCard = await service.kim.says('my requests')
    await service.app.database.query('ALTER TABLE requests_away RENAME TO requests')
    const [trace = 'none'] = /[0-9a-f]{32}/.exec(textOf(listCard.card)) ?? []
    const line = lines.find(({ traceId, level }) => traceId === trace && level === 50)
    expect(line).toMatchObject({
      msg: 'a turn failed',
      what: 'my requests',
      outcome: 'failed',
      personId: service.kim.id,
    })
    expect(line?.['err']).toMatchObject({ message: expect.stringContaining('requests') })
  })

  it('of a failed request ends there; a retry starts another trace', async () => {
    const [trace, other] = ['0af7651916cd43dd8448eb211c80319c', '1af7651916cd43dd8448eb211c80319c']
    await service.fault({ operation: 'graph.groups.upsert', kind: 'failBeforeCommit', status: 405 })
    const body = { displayName: 'Eridanus', templateId: templates.workingGroup }
    const accepted = await service.rest('kim', 'POST', '/collab/v1/spo/', body, headersOf(trace))
    const requestId = String(accepted.body['requestId'])
    const hasFailed = async () => (await audit(requestId)).find(({ action }) => action === 'failed')
    expect((await until(hasFailed, 'it to fail')).traceId).toBe(trace)
    await service.heal()
    await service.rest('sam', 'POST', `/requests/v1/${requestId}/retry`, {}, headersOf(other))
    expect((await announced(requestId)).at(-1)?.traceId).toBe(other)
  })

  it('of a dead letter is the trace of its origin, also after a retry', async () => {
    const trace = '2af7651916cd43dd8448eb211c80319c'
    const requestId = await requestIdOf('Eridanus')
    const { queue, database } = service.app
    const payload = { v: 2, requestId, version: 1, cards: 'all' }
    await from({ from: 'rest', trace }, () => queue.enqueue('refresh-cards', payload))
    const letterBut = (known?: string) => async () => {
      await endPatience(database, 'refresh-cards')
      return (await queue.deadLetters.list()).find(({ letterId }) => letterId !== known)
    }
    const first = await until(letterBut(), 'the job to be given up')
    await from({ from: 'chat' }, () => queue.deadLetters.replay(first.letterId))
    const second = await until(letterBut(first.letterId), 'the job to be given up again')
    expect(second.payload).toMatchObject({ ...payload, traceparent: expect.stringContaining(trace) })
    const failures = lines.filter(({ traceId, msg }) => traceId === trace && msg === 'a job failed for good')
    expect(failures).toHaveLength(2)
  })
})
