import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { deliveryDetails, deliveryView } from '../../src/core/index.ts'
import { caller } from '../support/rest-caller.ts'
import { templates, withService } from '../support/service.ts'
import { until } from '../support/until.ts'
import { startSubscriber } from '../support/webhook-subscriber.ts'

const secrets = [1, 2].map((byte) => `whsec_${Buffer.alloc(32, byte).toString('base64')}`)
const page = z.strictObject({ value: z.array(deliveryView), nextCursor: z.string().optional() })

describe('the delivery log', () => {
  const service = withService({ FOLLOW_UP_FIRST_SECONDS: '36000' })
  const { call, problem } = caller(service)
  let subscriber: Awaited<ReturnType<typeof startSubscriber>>
  const path = `/templates/v1/${templates.workingGroup}`
  const log = '/webhooks/v1/deliveries'

  async function writeWebhook(secret: string, url = subscriber.url) {
    const { body, headers } = await call('sam', 'GET', path)
    const webhook = { url, secret, events: ['site.provisioned'] }
    const template = { ...z.record(z.string(), z.unknown()).parse(body), webhook }
    const answer = await call('sam', 'PUT', path, {
      body: template,
      headers: { 'if-match': headers.get('etag') ?? '' },
    })
    expect(answer.status, answer.text).toBe(200)
    return answer
  }
  async function ask(displayName: string): Promise<string> {
    const body = { displayName, templateId: templates.workingGroup }
    const answer = await call('kim', 'POST', '/collab/v1/spo/', { body })
    expect(answer.status).toBe(202)
    return z.object({ requestId: z.uuid() }).parse(answer.body).requestId
  }
  const list = async (query: string) => page.parse((await call('sam', 'GET', `${log}/${query}`)).body)
  const read = async (id: string) => deliveryDetails.parse((await call('sam', 'GET', `${log}/${id}`)).body)
  const ended = (requestId: string) =>
    until(async () => {
      const { value } = await list(`?requestId=${requestId}&templateId=${templates.workingGroup}`)
      return value.find(({ status }) => status !== 'pending')
    }, 'the end of its delivery')

  beforeAll(async () => {
    subscriber = await startSubscriber()
    await writeWebhook(secrets[0] ?? '')
    await writeWebhook(secrets[1] ?? '')
  })
  afterAll(() => subscriber.close())

  it('shows each attempt with its time, status and duration, without the current and the former secret', async () => {
    const requestId = await ask('Logged')
    const { deliveryId } = await ended(requestId)
    const shown = await read(deliveryId)
    expect(shown).toMatchObject({
      ...{ requestId, templateId: templates.workingGroup, type: 'site.provisioned', url: subscriber.url },
      ...{ status: 'delivered', attemptCount: 1, lastStatus: '204', nextAttemptAt: null, replays: [], receiver: null },
      attempts: [{ status: '204', at: expect.any(String), milliseconds: expect.any(Number) }],
    })
    const received = subscriber.received.find(({ headers }) => headers['webhook-id'] === deliveryId)
    expect(shown.body).toBe(received?.body)
    expect(received?.headers['webhook-signature']?.split(' ')).toHaveLength(2)
    const answers = [
      ...[path, '/templates/v1/', `${log}/`, `${log}/${deliveryId}`, `/requests/v1/${requestId}`],
      `/requests/v1/${requestId}/timeline`,
    ].map((address) => call('sam', 'GET', address))
    for (const { text } of await Promise.all(answers))
      for (const secret of secrets) expect(text).not.toContain(secret.slice(6, 30))
  })

  it('lists the newest first, by status, template and request, page by page', async () => {
    const requestIds: string[] = []
    // One after another: a delivery is written when its request has ended, whatever its submission time.
    for (const name of ['One', 'Two', 'Three']) {
      const requestId = await ask(name)
      await ended(requestId)
      requestIds.push(requestId)
    }
    const own = `?templateId=${templates.workingGroup}`
    const all = (await list(`${own}&limit=100`)).value
    expect(all.slice(0, 3).map(({ requestId }) => requestId)).toEqual(requestIds.toReversed())
    expect(all.map(({ createdAt }) => createdAt)).toEqual(
      all
        .map(({ createdAt }) => createdAt)
        .sort()
        .reverse(),
    )
    const paged: unknown[] = []
    for (let cursor: string | undefined = ''; cursor !== undefined; ) {
      const { value, nextCursor } = await list(`${own}&limit=2${cursor && `&cursor=${cursor}`}`)
      paged.push(...value)
      cursor = nextCursor
    }
    expect(paged).toEqual(all)
    expect((await list(`${own}&status=failed`)).value).toEqual([])
    expect((await list(`?templateId=${randomUUID()}`)).value).toEqual([])
    const both = (await list(`?requestId=${requestIds[0]}`)).value
    expect(new Set(both.map(({ templateId }) => templateId))).toEqual(new Set([templates.workingGroup, null]))
  })

  it.each([
    ['?status=lost', '#/status'],
    ['?templateId=1', '#/templateId'],
    ['?requestId=REQ-1', '#/requestId'],
    ['?limit=0', '#/limit'],
    ['?cursor=djE6bm93', '#/cursor'],
    ['?url=x', '#/url'],
  ])('answers 422 for %s', async (query, pointer) => {
    const { status, errors } = problem(await call('sam', 'GET', `${log}/${query}`))
    expect([status, errors?.map((one) => one.pointer)]).toEqual([422, [pointer]])
  })

  it('is for admins: other people read this, and see nothing of it', async () => {
    const { deliveryId } = await ended(await ask('Hidden'))
    for (const who of ['kim', 'dana'] as const)
      for (const id of [deliveryId, randomUUID()]) {
        const responses = [
          await call(who, 'GET', `${log}/${id}`),
          await call(who, 'POST', `${log}/${id}/replay`),
          await call(who, 'GET', `${log}/`),
        ]
        expect(responses.map((answer) => [answer.status, problem(answer).code])).toEqual(
          responses.map(() => [403, 'forbidden']),
        )
      }
    expect(problem(await call('sam', 'GET', `${log}/${randomUUID()}`)).code).toBe('not-found')
    expect(problem(await call('sam', 'POST', `${log}/${randomUUID()}/replay`)).code).toBe('not-found')
    expect((await read(deliveryId)).replays).toEqual([])
  })

  it('resends a finished delivery once, with the same id, also after a restart', async () => {
    subscriber.answers.push(410)
    const requestId = await ask('Sent again')
    const { deliveryId } = await ended(requestId)
    const gone = await read(deliveryId)
    expect(gone).toMatchObject({ status: 'failed', receiver: { reason: 'gone', disabledAt: expect.any(String) } })
    const refused = problem(await call('sam', 'POST', `${log}/${deliveryId}/replay`))
    expect([refused.status, refused.detail]).toEqual([409, expect.stringContaining('disabled')])
    await writeWebhook(secrets[1] ?? '')
    await service.restart()
    const headers = { 'idempotency-key': 'replay-1' }
    const again = await call('sam', 'POST', `${log}/${deliveryId}/replay`, { headers })
    expect([again.status, again.headers.get('location')]).toEqual([202, `${log}/${deliveryId}`])
    expect(deliveryDetails.parse(again.body)).toMatchObject({
      status: 'pending',
      replays: [{ by: { displayName: 'Sam Roy' } }],
    })
    await until(async () => (await read(deliveryId)).status === 'delivered' || undefined, 'the replay')
    const repeated = await call('sam', 'POST', `${log}/${deliveryId}/replay`, { headers })
    expect([repeated.status, repeated.headers.get('idempotency-replayed')]).toEqual([202, 'true'])
    const received = subscriber.received.filter((one) => one.headers['webhook-id'] === deliveryId)
    expect(received.map(({ body }) => body)).toEqual([gone.body, gone.body])
    expect((await read(deliveryId)).attempts.map(({ status }) => status)).toEqual(['410', '204'])
    expect((await read(deliveryId)).receiver).toBeNull()
  })

  it('notifies admins in chat with one card when a receiver is disabled after failures', async () => {
    await service.sam.installs()
    const shown = () => service.sam.chat().filter(({ card }) => JSON.stringify(card ?? '').includes('410'))
    subscriber.answers.push(410)
    const first = await ended(await ask('Told once'))
    const second = await ended(await ask('Not told'))
    expect([first.lastStatus, second.attemptCount]).toEqual(['410', 0])
    await until(() => shown()[0], 'the card')
    expect(JSON.stringify(shown())).toContain('Working group')
    expect(shown()).toHaveLength(1)
  })
})
