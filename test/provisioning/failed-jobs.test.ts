import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import {
  asWritten,
  type DeadLetter,
  type GivenUpJob,
  JobLeft,
  provisioningRequest,
  type Request,
  type RequestForSite,
  system,
} from '../../src/core/index.ts'
import { interruption } from '../../src/jobs/queue/define-job.ts'
import { requestOf, stepsUntil } from '../support/card-requests.ts'
import { actorOf, kim, priya, tenantId, tenantWith, withCore } from '../support/core.ts'
import { firstAttempt, jobNamed } from '../support/job-scope.ts'

const failure = { name: 'Error', message: 'the job died again and again' }
const { signal } = new AbortController()

describe('a request whose job became a dead letter', () => {
  const core = withCore()
  const stored = async (more: Partial<RequestForSite>): Promise<Request> => {
    const queuedAt = new Date().toISOString()
    const details = requestOf({ requestId: randomUUID(), tenantId, approvals: [], queuedAt, ...more })
    const request = provisioningRequest.parse(details)
    return core.ports.requests.insert(request)
  }
  const giveUp = ({ requestId }: Request) =>
    jobNamed('provision', { core: core.provisioning }).onDeadLetter({ v: 1, requestId }, failure)
  const now = async ({ requestId }: Request) => {
    const request = await core.ports.requests.find(requestId)
    if (!request) throw new Error('the request is gone')
    return request
  }

  it.each([
    ['queued', 0, 'create-site'],
    ['provisioning', 2, 'add-owners'],
  ] as const)(
    'that is %s fails at its step, notifies requester and admins, and continues after a retry',
    async (status, done, step) => {
      const request = await stored({ status, steps: stepsUntil(done) })
      await giveUp(request)
      const failed = await now(request)
      expect(failed).toMatchObject({ status: 'failed', problem: { code: 'unexpected', step } })
      expect(failed.steps.find(({ name }) => name === step)).toMatchObject({ status: 'failed' })
      const notifications = (await core.orders(request.requestId)).filter(({ name }) => name.startsWith('notify'))
      const card = `outcome:failed:${request.queuedAt}`
      expect(notifications.map(({ name, payload }) => [name, payload['personId'], payload['card']])).toEqual([
        ['notify', kim.id, card],
        ['notify-admins', undefined, card],
      ])

      await giveUp(request)
      expect((await now(request)).version).toBe(failed.version)
      await core.provisioning.retryRequest(actorOf(priya, true), { requestId: request.requestId })
      const steps: string[] = []
      const { siteSteps } = tenantWith()
      const recording = Object.entries(siteSteps).map(([name, run]) => [
        name,
        (input: Parameters<typeof run>[0]) => {
          steps.push(name)
          return run(input)
        },
      ])
      const tenant = tenantWith(Object.fromEntries(recording))
      await core.with({ tenant }).system.provision(request.requestId, { lastAttempt: false, signal })
      expect(await now(request)).toMatchObject({ status: 'succeeded', problem: null })
      expect(steps[0]).toBe(step)
    },
  )

  describe('because its process was killed in each attempt', () => {
    const giveUpInterrupted = ({ requestId }: Request) =>
      jobNamed('provision', { core: core.provisioning }).onDeadLetter({ v: 1, requestId }, interruption)
    const retryJob = ({ requestId }: Request) =>
      jobNamed('retry-interrupted', { core: core.provisioning }).run(firstAttempt(), { v: 1, requestId })
    const retries = async ({ requestId }: Request) =>
      (await core.orders(requestId)).filter(({ name }) => name === 'retry-interrupted')

    it('shows that reason, is retried once after an hour, and then waits for an admin', async () => {
      const request = await stored({ status: 'provisioning', steps: stepsUntil(2) })
      const before = Date.now()
      await giveUpInterrupted(request)
      const failed = await now(request)
      expect(failed).toMatchObject({ status: 'failed', problem: { code: 'interrupted', step: 'add-owners' } })
      const [order, ...others] = await retries(request)
      expect(others).toEqual([])
      expect(order?.startAfter?.toISOString()).toBe(failed.retryAt)
      expect(order?.startAfter?.getTime()).toBeGreaterThanOrEqual(before + 3_600_000)
      expect(order?.startAfter?.getTime()).toBeLessThanOrEqual(Date.now() + 3_600_000)

      await retryJob(request)
      await retryJob(request)
      const again = await now(request)
      expect(again).toMatchObject({ status: 'queued', problem: null, version: failed.version + 1 })
      const jobs = (await core.orders(request.requestId)).filter(({ name }) => name === 'provision')
      expect(jobs).toHaveLength(1)
      const timeline = await core.ports.audit.timeline(request.requestId)
      expect(timeline.at(-1)).toMatchObject({ action: 'queued', actor: system, data: { why: 'interrupted' } })

      await giveUpInterrupted(request)
      expect(await now(request)).toMatchObject({ status: 'failed', problem: { code: 'interrupted' } })
      expect(await retries(request)).toHaveLength(1)
    })

    it.each([
      [
        'a retry of an admin',
        async (id: string) => core.provisioning.retryRequest(actorOf(priya, true), { requestId: id }),
      ],
      [
        'a cancellation',
        async (id: string) => core.provisioning.cancelRequest(actorOf(priya, true), { requestId: id }),
      ],
    ])('is not retried after %s', async (_, act) => {
      const request = await stored({ status: 'provisioning', steps: stepsUntil(0) })
      await giveUpInterrupted(request)
      await act(request.requestId)
      const { version } = await now(request)
      await retryJob(request)
      expect((await now(request)).version).toBe(version)
    })
  })

  it('is retried when an admin retries the job, and its timeline shows the retry', async () => {
    const request = await stored({ status: 'provisioning', steps: stepsUntil(2) })
    await giveUp(request)
    const letter = { letterId: randomUUID(), job: 'provision', payload: { v: 1, requestId: request.requestId } }
    const letters = [{ ...letter, problem: asWritten(failure.message), at: new Date() }]
    const provisioning = core.with({
      deadLetters: {
        list: async () => letters,
        find: async () => letters[0],
        settle: async () => letters.splice(0).length > 0,
        replay: () => Promise.reject(new Error('the job alone would find nothing to do')),
      },
    })
    const admin = actorOf(priya, true)
    const page = await provisioning.listDeadLetters(admin, { limit: 5 })
    expect(page).toMatchObject({ total: 1, jobs: [{ job: 'provision', problem: asWritten(failure.message) }] })
    await provisioning.replayDeadLetter(admin, { letterId: letter.letterId })
    expect(letters).toEqual([])
    expect(await now(request)).toMatchObject({ status: 'queued' })
    const timeline = await core.ports.audit.timeline(request.requestId)
    expect(timeline.at(-1)).toMatchObject({ action: 'queued', actor: { id: priya.id } })
    await expect(provisioning.replayDeadLetter(admin, { letterId: letter.letterId })).rejects.toMatchObject({
      code: 'not-found',
    })
  })

  it('leaves the list after a retry of the request', async () => {
    const request = await stored({ status: 'provisioning', steps: stepsUntil(2) })
    await giveUp(request)
    const payload = { v: 1, requestId: request.requestId }
    const at = new Date(Date.now() - 1000)
    const letter = { letterId: randomUUID(), job: 'provision', payload, problem: asWritten(failure.message), at }
    const unexpected = () => Promise.reject(new Error('nobody looks after it again'))
    const provisioning = core.with({
      deadLetters: { list: async () => [letter], find: async () => letter, settle: unexpected, replay: unexpected },
    })
    const admin = actorOf(priya, true)
    await provisioning.retryRequest(admin, { requestId: request.requestId })
    expect(await now(request)).toMatchObject({ status: 'queued' })
    expect(await provisioning.listDeadLetters(admin, { limit: 5 })).toEqual({ total: 0, jobs: [] })
    await expect(provisioning.replayDeadLetter(admin, { letterId: letter.letterId })).rejects.toMatchObject({
      code: 'not-found',
    })
  })

  it('is listed once across pages, newest first, and counted', async () => {
    const succeeded = await stored({ status: 'succeeded' })
    const letters: DeadLetter[] = Array.from({ length: 130 }, (_, index) => {
      // Three at each moment, so that a page ends between them. Every tenth belongs to a request that has succeeded.
      const at = new Date(Date.UTC(2026, 10, 20) + Math.floor(index / 3) * 1000)
      const [job, payload] =
        index % 10 === 0 ? ['provision', { v: 1, requestId: succeeded.requestId }] : ['catch-up', {}]
      return { letterId: randomUUID(), job: String(job), payload, problem: asWritten(`number ${index}`), at }
    })
    const provisioning = core.with({
      deadLetters: {
        ...core.ports.deadLetters,
        list: async () => letters,
        find: async (id) => letters.find(({ letterId }) => letterId === id),
      },
    })
    const admin = actorOf(priya, true)
    const listed: GivenUpJob[] = []
    let cursor: string | undefined
    do {
      const page = await provisioning.listDeadLetters(admin, { limit: 25, ...(cursor && { cursor }) })
      expect(page.total).toBe(117)
      listed.push(...page.jobs)
      cursor = page.nextCursor
    } while (cursor !== undefined)
    expect(new Set(listed.map(({ letterId }) => letterId)).size).toBe(117)
    expect(listed).toHaveLength(117)
    const times = listed.map(({ at }) => at.getTime())
    expect(times).toEqual([...times].sort((one, other) => other - one))
    const refused = provisioning.listDeadLetters(admin, { limit: 25, cursor: 'x' })
    await expect(refused).rejects.toMatchObject({ faults: [{ pointer: '/cursor' }] })
  })

  it('is listed even if an older version wrote the job and its payload cannot be read', async () => {
    const request = await stored({ status: 'provisioning', steps: stepsUntil(2) })
    const { requestId } = request
    for (const payload of [{ requestId }, { v: 0, requestId }, { v: 0, request: requestId }, null, 'x'])
      await jobNamed('provision', { core: core.provisioning }).onDeadLetter(payload, failure)
    expect(await now(request)).toEqual(request)
    const payloads = [{ requestId }, { v: 0, request: requestId }, null]
    const letters: DeadLetter[] = payloads.map((payload) => {
      return { letterId: randomUUID(), job: 'provision', payload, problem: asWritten(failure.message), at: new Date() }
    })
    const find = async (id: string) => letters.find(({ letterId }) => letterId === id)
    const dismissed: string[] = []
    const settle = async (id: string) => dismissed.push(id) > 0
    const provisioning = core.with({
      deadLetters: { ...core.ports.deadLetters, list: async () => letters, find, settle },
    })
    const admin = actorOf(priya, true)
    const { total, jobs } = await provisioning.listDeadLetters(admin, { limit: 5 })
    expect([total, jobs.length]).toEqual([3, 3])
    expect(jobs.filter((job) => job.request?.requestId === requestId)).toHaveLength(1)
    for (const { letterId } of jobs) await provisioning.dismissDeadLetter(admin, { letterId })
    expect(dismissed.toSorted()).toEqual(letters.map(({ letterId }) => letterId).toSorted())
  })

  it.each(['succeeded', 'cancelled', 'rejected', 'pendingApproval'] as const)(
    'that is %s does not change',
    async (status) => {
      const request = await stored({ status })
      await giveUp(request)
      expect(await now(request)).toEqual(request)
      expect(await core.orders(request.requestId)).toEqual([])
    },
  )

  it('whose last attempt is aborted stays open, because the queue runs it again', async () => {
    const request = await stored({ status: 'provisioning', steps: stepsUntil(2) })
    const stopping = new AbortController()
    const tenant = tenantWith({
      async 'add-owners'() {
        stopping.abort(new JobLeft('the service stops'))
        throw new Error('the call was cut off')
      },
    })
    const run = { lastAttempt: true, signal: stopping.signal }
    await expect(core.with({ tenant }).system.provision(request.requestId, run)).rejects.toThrow('cut off')
    expect((await now(request)).status).toBe('provisioning')
    await core.with({ tenant: tenantWith() }).system.provision(request.requestId, { lastAttempt: true, signal })
    expect((await now(request)).status).toBe('succeeded')
  })

  it('without a resource after all steps is retried, and fails with the last attempt', async () => {
    const request = await stored({ status: 'provisioning', steps: stepsUntil(6), progress: {} })
    const run = (lastAttempt: boolean) =>
      core.with({ tenant: tenantWith() }).system.provision(request.requestId, { lastAttempt, signal })
    await expect(run(false)).rejects.toThrow('has no resource')
    expect((await now(request)).status).toBe('provisioning')
    await run(true)
    expect(await now(request)).toMatchObject({ status: 'failed', problem: { code: 'unexpected' } })
    expect(await core.orderedJobs(request.requestId)).toEqual(expect.arrayContaining(['notify', 'notify-admins']))
  })
})
