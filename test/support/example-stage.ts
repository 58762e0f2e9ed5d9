import { randomUUID } from 'node:crypto'
import { Webhook } from 'standardwebhooks'
import { afterAll } from 'vitest'
import { z } from 'zod'
import { type Caller, type RestAnswer, siteView } from './rest-caller.ts'
import { type Service, templates } from './service.ts'
import { takeAlias } from './simulator.ts'
import { people } from './teams-user.ts'
import { endPatience } from './unreadable.ts'
import { until } from './until.ts'
import { startSubscriber } from './webhook-subscriber.ts'

/** The caller of an example, and the values that replace the example's ids. */
export interface Cast {
  readonly who: Caller
  readonly params?: Readonly<Record<string, string>>
  readonly headers?: Record<string, string>
  /** The body that replaces the example's body. */
  readonly sent?: (body: unknown) => Sent
}
interface Sent {
  readonly body: unknown
  readonly headers?: Record<string, string>
}
type Stage = () => Cast | Promise<Cast>
type Call = (
  who: Caller,
  method: string,
  path: string,
  more?: { body?: unknown; headers?: Record<string, string> },
) => Promise<RestAnswer>

export const webhookSecret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
const withApproval = { templateId: templates.projectSite, metadata: { costCentre: '4711', audience: 'internal' } }
const fields = z.looseObject({})

/**
 * Returns the preparations for the example of each route, by the route's id, and by the example's name if necessary.
 */
export function stages(service: Service, call: Call): Readonly<Record<string, Stage>> {
  const list = z.object({ value: z.array(z.looseObject({})) })
  const subscribers: { close(): Promise<void> }[] = []
  afterAll(() => Promise.all(subscribers.map((one) => one.close())))
  const ask = async (who: Caller, body: object): Promise<string> => {
    const answer = await call(who, 'POST', '/collab/v1/spo/?another=true', { body })
    return z.object({ requestId: z.uuid() }).parse(answer.body).requestId
  }
  const ends = (requestId: string, status: string) =>
    until(
      async () =>
        fields.parse((await call('sam', 'GET', `/requests/v1/${requestId}`)).body)['status'] === status || undefined,
      `${requestId} to be ${status}`,
    )
  const made = async (displayName: string) => {
    const requestId = await ask('kim', { displayName, templateId: templates.workingGroup })
    await ends(requestId, 'succeeded')
    return requestId
  }
  const waiting = async (who: Caller, displayName: string) => ({
    who,
    params: { requestId: await ask('kim', { ...withApproval, displayName }) },
  })
  const delivered = async (displayName: string) => {
    const requestId = await made(displayName)
    const path = `/webhooks/v1/deliveries?requestId=${requestId}&status=delivered`
    const { deliveryId } = await until(
      async () => list.parse((await call('sam', 'GET', path)).body).value[0],
      'a delivery',
    )
    return { who: 'sam' as const, params: { deliveryId: String(deliveryId) } }
  }
  const letter = async () => {
    const letters = async () => list.parse((await call('sam', 'GET', '/admin/v1/dead-letters')).body).value
    const known = new Set((await letters()).map(({ id }) => id))
    const requestId = await made('Hermes')
    // Its payload has another version, so it cannot succeed.
    await service.app.queue.enqueue('refresh-cards', { v: 2, requestId, version: 1, cards: 'all' })
    const { id } = await until(async () => {
      await endPatience(service.app.database, 'refresh-cards')
      return (await letters()).find((one) => !known.has(one['id']))
    }, 'the job to be given up')
    return { who: 'sam' as const, params: { letterId: String(id) } }
  }
  const mail = () => ({ who: { scope: `${service.app.url}/mail/App.ReadWrite.All`, userId: people.kim.id } })
  const approved = async () => {
    const { params } = await waiting('kim', 'Apollo')
    await call('dana', 'POST', `/requests/v1/${params.requestId}/approve`, { body: { comment: 'Go ahead.' } })
    await ends(params.requestId, 'succeeded')
    return { who: 'kim' as const, params }
  }
  const sentAgain = async () => {
    const { params } = await waiting('kim', 'Apollo')
    await call('dana', 'POST', `/requests/v1/${params.requestId}/reject`, { body: { comment: 'What is it for?' } })
    const { core } = service.app
    const kim = await core.actor({ tenantId: service.app.endpoints.tenantId, id: people.kim.id })
    const opened = await core.draftFromRequest(kim, { requestId: params.requestId })
    if (opened.step !== 'details') throw new Error(`no form, but: ${opened.step}`)
    const { requestId, version } = opened.draft
    const reason = 'Four companies need one place for drawings.'
    const reviewed = await core.reviewDraft(kim, { requestId, version, values: { reason } })
    if (reviewed.step !== 'review') throw new Error(`no review, but: ${JSON.stringify(reviewed)}`)
    await core.submitDraft(kim, { requestId, version: reviewed.draft.version })
    return { who: 'kim' as const, params: { requestId } }
  }
  const batched = async (rows: readonly object[]) => {
    const body = { resource: 'mailbox', rows: rows.map((one, place) => ({ key: String(place + 1), body: one })) }
    const answer = await call(mail().who, 'POST', '/requests/v1/batch', { body })
    return z.object({ batchId: z.uuid() }).parse(answer.body).batchId
  }
  const room = () => ({ name: `room-${randomUUID()}`, displayName: 'Room', templateId: templates.meetingRoom })
  const twoRooms = async () => {
    const seated = () => ({ ...room(), metadata: { seats: 8 } })
    const batchId = await batched([seated(), seated()])
    const done = z.looseObject({ status: z.literal('finished'), requests: z.strictObject({ succeeded: z.literal(2) }) })
    await until(async () => {
      const { body } = await call('kim', 'GET', `/batches/v1/${batchId}`)
      return done.safeParse(body).success || undefined
    }, 'both rooms')
    return { who: 'kim' as const, params: { batchId } }
  }
  /** Only one batch may be open, and the open one waits for Dana. */
  const waitingBatch = async () => {
    const templateId = randomUUID()
    const approval = { stages: [{ approvers: [{ user: people.dana.id }] }] }
    const template = { kind: 'roomMailbox', name: 'One at a time', order: 900, approval, quota: { openPerPerson: 1 } }
    await call('sam', 'PUT', `/templates/v1/${templateId}`, { body: template, headers: { 'if-none-match': '*' } })
    const one = () => ({ ...room(), templateId })
    await call(mail().who, 'POST', '/mail/v1/mailboxes', { body: one() })
    return { who: 'kim' as const, params: { batchId: await batched([one(), one()]) } }
  }
  /** Dismisses the dead letters of other examples, and leaves a postponed job. */
  const well = async () => {
    const { queue, core, endpoints } = service.app
    const sam = await core.actor({ tenantId: endpoints.tenantId, id: people.sam.id })
    for (const { letterId } of (await core.listDeadLetters(sam, { limit: 100 })).jobs)
      await core.dismissDeadLetter(sam, { letterId })
    await queue.enqueue('watchdog', { turn: 0 }, { startAfter: new Date(Date.now() + 3_600_000) })
    // One failed call is counted, whatever other examples did.
    await service.fault({ operation: 'graph.users.list', kind: 'failBeforeCommit', status: 403 })
    // A recent answer may be cached, so the first report does not always meet the fault.
    await until(async () => {
      const { state, parts } = await core.readHealth(sam)
      const graph = parts.find(({ name }) => name === 'graph')
      return state === 'green' && graph !== undefined && 'lastFailureAt' in graph
    }, 'all to be well after a failure')
    return { who: 'sam' as const }
  }
  /** Creates a receiver in the template of working groups. */
  const withReceiver = async () => {
    const subscriber = await startSubscriber()
    subscribers.push(subscriber)
    const path = `/templates/v1/${templates.workingGroup}`
    const { body, headers } = await call('sam', 'GET', path)
    const webhook = { url: subscriber.url, secret: webhookSecret }
    const written = { ...fields.parse(body), webhook }
    await call('sam', 'PUT', path, { body: written, headers: { 'if-match': headers.get('etag') ?? '' } })
    return { who: 'sam' as const }
  }
  return {
    readHealth: well,
    createMailbox: mail,
    createBatch: mail,
    readBatch: twoRooms,
    listBatchRows: twoRooms,
    cancelBatch: waitingBatch,
    'previewRequest simulated': () => ({ who: 'sam' }),
    readRequest: approved,
    'readRequest sentAgain': sentAgain,
    readTimeline: approved,
    readAudit: async () => {
      const { params } = await waiting('kim', 'Apollo')
      await call('kim', 'POST', `/requests/v1/${params.requestId}/cancel`, { body: {} })
      return { who: 'sam', params }
    },
    listRequests: async () => {
      await ask('omar', { ...withApproval, displayName: 'Minerva' })
      await ask('omar', { ...withApproval, displayName: 'Apollo' })
      return { who: 'omar' }
    },
    approveRequest: () => waiting('dana', 'Apollo'),
    rejectRequest: () => waiting('dana', 'Apollo'),
    cancelRequest: () => waiting('kim', 'Apollo'),
    reassignRequest: () => waiting('dana', 'Apollo'),
    nudgeRequest: () => waiting('kim', 'Apollo'),
    changeRequestAddress: async () => {
      const cast = await waiting('kim', 'Apollo')
      const path = `/requests/v1/${cast.params.requestId}`
      const { alias } = siteView.parse((await call('kim', 'GET', path)).body).details
      await takeAlias(service.app.endpoints.simulator, alias)
      await call('dana', 'POST', `${path}/approve`, { body: {} })
      return cast
    },
    explainRequest: () => waiting('kim', 'Prometheus'),
    retryRequest: async () => {
      // Otherwise the jobs of earlier examples would meet the fault first.
      await until(async () => {
        const states = "status in ('queued', 'provisioning')"
        return (await service.app.database.query(`select 1 from requests where ${states}`)).rows.length === 0
      }, 'the end of earlier work')
      await service.fault({ operation: 'graph.groups.upsert', kind: 'failBeforeCommit', status: 405 })
      const requestId = await ask('kim', { displayName: 'Apollo', templateId: templates.workingGroup })
      await ends(requestId, 'failed')
      return { who: 'sam', params: { requestId } }
    },
    'readTemplate policies': () => ({ who: 'sam' }),
    'writeTemplate changed': async () => {
      const { headers } = await call('sam', 'GET', `/templates/v1/${templates.workingGroup}`)
      return { who: 'sam', headers: { 'if-match': headers.get('etag') ?? '' } }
    },
    'writeTemplate made': () => ({ who: 'sam', headers: { 'if-none-match': '*' } }),
    listDeadLetters: letter,
    replayDeadLetter: letter,
    dismissDeadLetter: letter,
    listDeliveries: () => delivered('Apollo'),
    readDelivery: () => delivered('Apollo'),
    replayDelivery: () => delivered('Apollo'),
    readOrganisationAudit: async () => {
      const path = `/templates/v1/${templates.workingGroup}`
      const { body, headers } = await call('sam', 'GET', path)
      const written = { ...fields.parse(body), description: 'Another' }
      const { database } = service.app
      for (const table of ['audit_log', 'audit_heads'])
        await database.query(`DELETE FROM ${table} WHERE request_id = $1`, [service.app.endpoints.tenantId])
      await call('sam', 'PUT', path, { body: written, headers: { 'if-match': headers.get('etag') ?? '' } })
      return { who: 'sam' }
    },
    sendWaitingDeliveries: withReceiver,
    testWebhook: withReceiver,
    'receiveWebhook test': () => ({ who: 'kim', sent: (body) => signed(fields.parse(body)) }),
    receiveWebhook: async () => {
      const requestId = await made('Apollo')
      return { who: 'kim', sent: (body) => signed({ ...fields.parse(body), requestId }) }
    },
    receiveActivity: () => ({
      who: 'kim',
      sent: (body) => ({ body: { ...fields.parse(body), serviceUrl: service.connector.url } }),
    }),
  }
}

/** Signs a webhook as the service does (Standard Webhooks 1.0.0). */
function signed(message: object): Sent {
  const body = JSON.stringify(message)
  const [id, at] = [randomUUID(), new Date()]
  const signature = new Webhook(webhookSecret).sign(id, at, body)
  const timestamp = String(Math.floor(at.getTime() / 1000))
  const headers = { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signature }
  return { body, headers: { ...headers, 'content-type': 'application/json' } }
}
