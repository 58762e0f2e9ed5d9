import { randomUUID } from 'node:crypto'
import { beforeEach } from 'vitest'
import { type Core, type Delivery, type JobOrder, type Ports, PutOff, type Template } from '../../src/core/index.ts'
import { jobRegistry } from '../../src/jobs/queue/define-job.ts'
import { deliverWebhookJob, sendWaitingJob } from '../../src/jobs/webhooks/deliver.ts'
import type { PostWebhook, WebhookAnswer, WebhookPost } from '../../src/jobs/webhooks/post.ts'
import { actorOf, type CoreFixture, priya, tenantId, withCore } from './core.ts'
import { firstAttempt } from './job-scope.ts'

export const start = Date.parse('2026-11-20T09:00:00.000Z')
export const hour = 3_600_000
export const secretOf = (byte: number): string => `whsec_${Buffer.alloc(32, byte).toString('base64')}`
export const admin = actorOf(priya, true)

/** One attempt at a receiver, `seconds` after the start. */
export interface Seen extends WebhookPost {
  readonly seconds: number
}
type Receiver = (post: WebhookPost) => WebhookAnswer | Promise<WebhookAnswer>

/** Deliveries in a real store with a clock that jumps from job to job, and receivers with given answers. */
export interface WebhookWorld {
  readonly core: CoreFixture
  readonly provisioning: Core
  readonly ports: Ports
  readonly received: Seen[]
  /** Cards that were ordered for the admins. */
  readonly alerts: string[]
  /** Returns the waiting jobs, the next first. */
  waiting(): JobOrder[]
  /** Submits jobs, as if a process had died before it reported their success. */
  order(orders: readonly JobOrder[]): Promise<void>
  /** The current time, in milliseconds after the start. */
  time: number
  /** Returns a number from 0 to 1, like Math.random. */
  random: () => number
  answer(url: string, receiver: Receiver): void
  template(webhook: Partial<NonNullable<Template['webhook']>> & { url: string }): Promise<Template>
  /** Stores a delivery and its first job, like a request that has just ended. */
  deliver(template: Template | 'bot', url?: string): Promise<string>
  find(deliveryId: string): Promise<Delivery>
  /** Runs jobs in the order of their times until none is due by then (milliseconds after the start). */
  runUntil(end: number): Promise<void>
  /** Starts the next job without waiting for others: several may run. */
  runNext(): Promise<void>
  /** Simulates a new process with the same store and queue. */
  restart(): void
}

export const answers = (status: number, retryAfter?: string): WebhookAnswer => ({ status, retryAfter })
export const timeout: WebhookAnswer = { problem: 'timeout', text: 'no answer in 15 s' }

export function withWebhooks(): WebhookWorld {
  const core = withCore()
  let orders: { order: JobOrder; due: number }[] = []
  const receivers = new Map<string, Receiver>()
  const clock = { now: () => new Date(start + world.time) }
  const jobs: Ports['jobs'] = {
    async enqueue(more) {
      for (const order of more) {
        if (order.id !== undefined && known.has(order.id)) continue
        if (order.id !== undefined) known.add(order.id)
        if (order.name === 'notify-admins') world.alerts.push(order.payload.card)
        else orders.push({ order, due: order.startAfter?.getTime() ?? start + world.time })
      }
    },
    dueAt: async () => {
      throw new Error('nobody expected the queue to be asked when jobs are due')
    },
  }
  const known = new Set<string>()
  const post: PostWebhook = async (delivery) => {
    core.database.assertOutside('a webhook')
    world.received.push({ ...delivery, seconds: world.time / 1000 })
    return (receivers.get(delivery.url) ?? (() => answers(204)))(delivery)
  }
  const newProcess = () => {
    const scope = {
      ...{ ...core.ports, clock, work: core.database, jobs, post, ownSecret: secretOf(9) },
      ...{ random: () => world.random(), log: { warn: () => undefined, error: () => undefined } },
    }
    return jobRegistry(deliverWebhookJob(scope), sendWaitingJob(scope))
  }
  let present: ReturnType<typeof newProcess> | undefined
  const inOrder = () => orders.sort((one, other) => one.due - other.due)

  const world: WebhookWorld = {
    core,
    get provisioning() {
      return core.with({
        clock,
        jobs,
        async sendWebhook({ url, id, body }) {
          const answer = await (receivers.get(url) ?? (() => answers(204)))({
            url,
            headers: { 'webhook-id': id },
            body,
          } as never)
          return { status: 'status' in answer ? String(answer.status) : answer.text, milliseconds: 1 }
        },
      })
    },
    get ports() {
      return core.ports
    },
    received: [],
    alerts: [],
    waiting: () => inOrder().map(({ order }) => order),
    order: (more) => jobs.enqueue(more.map(({ id: _, ...order }) => order as JobOrder)),
    time: 0,
    random: () => 0.5,
    answer: (url, receiver) => void receivers.set(url, receiver),
    template: (webhook) =>
      core.template({ webhook: { secret: secretOf(1), events: ['site.provisioned'], ...webhook } }),
    async deliver(template, url) {
      const at = clock.now().toISOString()
      const deliveryId = randomUUID()
      await core.ports.deliveries.insert({
        ...{ deliveryId, requestId: randomUUID(), tenantId, type: 'site.provisioned', status: 'pending' },
        ...{ body: JSON.stringify({ type: 'site.provisioned', deliveryId }), attempts: 0, lastStatus: null },
        ...{ createdAt: at, updatedAt: at, url: url ?? (template === 'bot' ? '' : (template.webhook?.url ?? '')) },
        subscriber: template === 'bot' ? 'bot' : { templateId: template.id },
      })
      await jobs.enqueue([{ name: 'deliver-webhook', payload: { v: 1, deliveryId, attempt: 0 } }])
      return deliveryId
    },
    async find(deliveryId) {
      const found = await core.ports.deliveries.find(deliveryId)
      if (!found) throw new Error(`delivery ${deliveryId} is gone`)
      return found
    },
    async runUntil(end) {
      for (let [next] = inOrder(); next && next.due <= start + end; [next] = inOrder()) await world.runNext()
      world.time = Math.max(world.time, end)
    },
    async runNext() {
      const next = inOrder().shift()
      if (!next) throw new Error('no job waits')
      world.time = Math.max(world.time, next.due - start)
      present ??= newProcess()
      try {
        await present.get(next.order.name)?.run(firstAttempt(), next.order.payload)
      } catch (error) {
        if (!(error instanceof PutOff)) throw error
        orders.push({ ...next, due: start + world.time + Math.max(500, error.putOffMilliseconds) })
      }
    },
    restart() {
      present = newProcess()
    },
  }
  beforeEach(() => {
    orders = []
    known.clear()
    receivers.clear()
    world.received.splice(0)
    world.alerts.splice(0)
    world.time = 0
    world.random = () => 0.5
    world.restart()
  })
  return world
}
