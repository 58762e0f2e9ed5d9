import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { apiTexts } from '../../src/cards/index.ts'
import type { Ports, Request } from '../../src/core/index.ts'
import { actorOf, approversGroup, asSite, dana, kim, omar, priya, withCore } from '../support/core.ts'
import { engines } from '../support/database.ts'
import { named, refusal } from '../support/refusal.ts'

const asKim = actorOf(kim)
const admin = actorOf(priya, true)
const fifty = Array.from({ length: 50 }, (_, index) => index)
const isRequest = (one: PromiseSettledResult<Request>): one is PromiseFulfilledResult<Request> =>
  one.status === 'fulfilled'

describe.each(engines)('many submissions at once, %s', (engine) => {
  const core = withCore(engine)

  it('with one address: one succeeds, the others get name-taken and leave nothing behind', async () => {
    const { id: templateId } = await core.template()
    const before = await core.rows()
    const body = { templateId, displayName: 'Aurora', alias: 'aurora' }
    const results = await Promise.allSettled(fifty.map(() => core.provisioning.submitSite(asKim, { body })))
    expect(results.filter(isRequest)).toHaveLength(1)
    const refusals = await Promise.all(
      results.flatMap((one) => (isRequest(one) ? [] : [refusal(() => Promise.reject(one.reason))])),
    )
    for (const { code, faults } of refusals) {
      expect([code, ...named(faults)]).toEqual(['name-taken', '/alias name-taken'])
    }
    const after = await core.rows()
    expect(after['requests']).toBe((before['requests'] ?? 0) + 1)
    expect(after['reservations']).toBe((before['reservations'] ?? 0) + 1)
    expect(after['audit_log']).toBe((before['audit_log'] ?? 0) + 1)
  })

  it('with one name and no address: each gets its own address and number', async () => {
    const { id: templateId } = await core.template({ naming: { prefix: 'prj-', suffix: '-ch' } })
    const body = { templateId, displayName: 'Same name' }
    const made = (await Promise.all(fifty.map(() => core.provisioning.submitSite(asKim, { body })))).map(asSite)
    expect(new Set(made.map(({ alias }) => alias)).size).toBe(50)
    expect(new Set(made.map(({ number }) => number)).size).toBe(50)
    for (const { alias } of made) expect(alias).toMatch(/^prj-same-name(-[0-9a-f]+)?-ch$/)
    const another = asSite(await core.provisioning.submitSite(asKim, { body }))
    expect(made.map(({ alias }) => alias)).not.toContain(another.alias)
  })

  it('with one id: all return the same request', async () => {
    const { id: templateId } = await core.template()
    const requestId = randomUUID()
    const body = { templateId, displayName: 'Clicked often' }
    const made = await Promise.all(fifty.map(() => core.provisioning.submitSite(asKim, { body, requestId })))
    expect(new Set(made.map(({ number }) => number)).size).toBe(1)
    expect((await core.provisioning.readTimeline(asKim, { requestId })).map(({ action }) => action)).toEqual(['queued'])
    expect(await core.orderedJobs(requestId)).toEqual(['follow-up', 'provision'])
  })

  it('by one person: never more than the limit of open requests', async () => {
    const { id: templateId } = await core.template()
    const limited = core.with({}, { openRequestsPerPerson: 5 })
    const asOmar = actorOf(omar)
    const body = (index: number) => ({ templateId, displayName: `Many ${index}` })
    const results = await Promise.allSettled(fifty.map((index) => limited.submitSite(asOmar, { body: body(index) })))
    const made = results.filter(isRequest).map(({ value }) => value)
    expect(made).toHaveLength(5)
    const error = await refusal(() => limited.submitSite(asOmar, { body: body(51) }))
    expect(error.code).toBe('too-many-open-requests')
    await limited.cancelRequest(asOmar, { requestId: made[0]?.requestId ?? '' })
    expect((await limited.submitSite(asOmar, { body: body(52) })).status).toBe('queued')
  })

  it('by one person: failed requests do not count as open', async () => {
    const { id: templateId } = await core.template()
    const limited = core.with({}, { openRequestsPerPerson: 1 })
    const [asDana, body] = [actorOf(dana), (name: string) => ({ body: { templateId, displayName: name } })]
    const failed = await limited.submitSite(asDana, body('Failed one'))
    expect((await refusal(() => limited.submitSite(asDana, body('Second one')))).code).toBe('too-many-open-requests')
    await core.ports.requests.update({ ...failed, status: 'failed', version: 2 })
    expect((await limited.submitSite(asDana, body('Second one'))).status).toBe('queued')
  })
})

describe('submissions at once on a server', () => {
  const core = withCore('server')
  const body = (templateId: string, displayName: string) => ({ body: { templateId, displayName } })
  /** A submission whose jobs wait for the returned function. */
  function slow(settings = {}) {
    const [waiting, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const enqueue: Ports['jobs']['enqueue'] = async (orders) => {
      waiting.resolve()
      await released.promise
      await core.ports.jobs.enqueue(orders)
    }
    const { submitSite } = core.with({ jobs: { ...core.ports.jobs, enqueue } }, settings)
    return { submitSite, isWaiting: waiting.promise, release: released.resolve }
  }

  it('do not wait for the processor of another one', async () => {
    const { id: templateId } = await core.template()
    const { submitSite, isWaiting, release } = slow()
    const ofKim = submitSite(asKim, body(templateId, 'Slow one'))
    await isWaiting
    const ofDana = await core.provisioning.submitSite(actorOf(dana), body(templateId, 'Quick one'))
    release()
    expect((await ofKim).number).toBe(ofDana.number + 1)
  })

  it('wait for another one that counts for the same limit', async () => {
    const { id: templateId } = await core.template()
    const limit = { openRequestsPerPerson: 1 }
    const { submitSite, isWaiting, release } = slow(limit)
    const first = submitSite(actorOf(omar), body(templateId, 'First of one'))
    await isWaiting
    const second = refusal(() => core.with({}, limit).submitSite(actorOf(omar), body(templateId, 'Second of one')))
    const wide = core.with({}, { openRequestsPerPerson: 25 })
    const other = await wide.submitSite(actorOf(dana), body(templateId, 'One of another person'))
    release()
    expect((await second).code).toBe('too-many-open-requests')
    expect((await first).number).toBe(other.number + 1)
  })

  it('with one id at the limit: both return the request', async () => {
    const { id: templateId } = await core.template({ approval: { stages: [{ approvers: [{ user: dana.id }] }] } })
    const limited = core.with({}, { openRequestsPerPerson: 1 })
    const order = { ...body(templateId, 'Sent twice'), requestId: randomUUID() }
    const made = await Promise.all([1, 2, 3].map(() => limited.submitSite(actorOf(priya), order)))
    expect(new Set(made.map(({ number }) => number)).size).toBe(1)
  })
})

/** Each write of a submission, followed by a failure. */
const writes = {
  'the name': (ports) => ({ reservations: { ...ports.reservations, reserve: after(ports.reservations.reserve) } }),
  'the request': (ports) => ({ requests: { ...ports.requests, insert: after(ports.requests.insert) } }),
  'its card': (ports) => ({ sentCards: { ...ports.sentCards, put: after(ports.sentCards.put) } }),
  'the timeline': (ports) => ({ audit: { ...ports.audit, append: after(ports.audit.append) } }),
  'the jobs': (ports) => ({ jobs: { ...ports.jobs, enqueue: after(ports.jobs.enqueue) } }),
  'the draft': (ports) => ({ drafts: { ...ports.drafts, update: after(ports.drafts.update, 'submitted') } }),
} as const satisfies Record<string, (ports: Ports) => Partial<Ports>>

function after<A extends unknown[], R>(write: (...args: A) => Promise<R>, only = '') {
  return async (...args: A): Promise<R> => {
    const result = await write(...args)
    if (JSON.stringify(args).includes(only)) throw new Error('injected')
    return result
  }
}

describe('the transaction of a submission', () => {
  const core = withCore()

  it.each(Object.keys(writes) as (keyof typeof writes)[])('is rolled back after a failure of %s', async (part) => {
    const { id: templateId } = await core.template({ approval: { stages: [{ approvers: [{ user: dana.id }] }] } })
    const { provisioning } = core
    const opened = await provisioning.openDraft(asKim, { templateId })
    if (opened.step !== 'details') throw new Error('no form')
    const { requestId } = opened.draft
    const values = { displayName: `Aurora ${part}`, reason: 'Why not.' }
    const reviewed = await provisioning.reviewDraft(asKim, { requestId, version: 1, values })
    if (reviewed.step !== 'review') throw new Error('no review')
    const before = await core.rows()
    const card = { conversationId: 'chat', activityId: 'card' }
    const failing = core.with(writes[part](core.ports))
    await expect(
      failing.submitDraft(asKim, { requestId, version: reviewed.draft.version, statusCard: card }),
    ).rejects.toThrow('injected')
    expect(await core.rows()).toEqual(before)
    expect((await provisioning.readDraft(asKim, { requestId })).draft).toEqual(reviewed.draft)
    const sent = await provisioning.submitDraft(asKim, { requestId, version: reviewed.draft.version, statusCard: card })
    expect(sent.step).toBe('submitted')
    expect(await core.orderedJobs(requestId)).toEqual(['notify', 'refresh-cards', 'tend-approval'])
  })

  it('makes no outgoing call, and the submission is unavailable while the directory does not answer', async () => {
    const { id: templateId } = await core.template()
    const before = await core.rows()
    core.world.up = false
    const error = await refusal(() =>
      core.provisioning.submitSite(asKim, { body: { templateId, displayName: 'Away' } }),
    )
    core.world.up = true
    expect(error.code).toBe('unavailable')
    expect(await core.rows()).toEqual(before)
  })
})

describe('a name', () => {
  const core = withCore()
  const held = async (alias: string) => {
    const { id: templateId } = await core.template({ approval: { stages: [{ approvers: [{ user: dana.id }] }] } })
    const body = { templateId, displayName: 'Held', alias }
    return { body, request: await core.provisioning.submitSite(asKim, { body }) }
  }

  it('is refused with a free suggestion if taken, and the suggestion is accepted unchanged', async () => {
    const naming = { prefix: 'prj-', suffix: '-ch' }
    const { id: templateId } = await core.template({ naming })
    core.world.taken.add('prj-atlas-ch').add('prj-atlas-2-ch')
    const body = { templateId, displayName: 'Atlas', alias: 'atlas' }
    const error = await refusal(() => core.provisioning.submitSite(asKim, { body }))
    const [fault] = error.faults
    expect([error.code, fault?.pointer, fault?.suggestion]).toEqual(['name-taken', '/alias', 'prj-atlas-3-ch'])
    const made = asSite(await core.provisioning.submitSite(asKim, { body: { ...body, alias: fault?.suggestion } }))
    expect(made.alias).toBe('prj-atlas-3-ch')
  })

  it('is replaced by a free one if derived, and the taken ones are stored and explained', async () => {
    const { id: templateId } = await core.template({ naming: { prefix: 'prj-', suffix: '' } })
    core.world.taken.add('prj-vega').add('prj-vega-2')
    const made = asSite(await core.provisioning.submitSite(asKim, { body: { templateId, displayName: 'Vega' } }))
    expect([made.alias, made.passedOver]).toEqual(['prj-vega-3', ['prj-vega', 'prj-vega-2']])
    const explanation = await core.provisioning.readExplanation(asKim, { requestId: made.requestId })
    expect(explanation.map(apiTexts.explanation)).toContain('Already taken: prj-vega, prj-vega-2.')
    const free = asSite(await core.provisioning.submitSite(asKim, { body: { templateId, displayName: 'Rigel' } }))
    expect([free.alias, free.passedOver]).toEqual(['prj-rigel', undefined])
  })

  it('is compared without regard to case', async () => {
    const { body } = await held('Nova')
    const error = await refusal(() => core.provisioning.submitSite(asKim, { body: { ...body, alias: 'nOVA' } }))
    expect(error.code).toBe('name-taken')
  })

  it.each(['rejected', 'cancelled'] as const)('is free again when its request is %s', async (end) => {
    const { body, request } = await held(`ends-${end}`)
    if (end === 'rejected')
      await core.provisioning.reject(actorOf(dana), { requestId: request.requestId, comment: 'No.' })
    else await core.provisioning.cancelRequest(asKim, { requestId: request.requestId })
    expect(asSite(await core.provisioning.submitSite(asKim, { body })).alias).toBe(`ends-${end}`)
  })

  it('is held for a failed request that can be retried, and free after its cancellation', async () => {
    const { id: templateId } = await core.template()
    const body = { templateId, displayName: 'Fails', alias: 'fails' }
    const { requestId } = await core.provisioning.submitSite(asKim, { body })
    const run = { lastAttempt: true, signal: new AbortController().signal }
    await core.provisioning.system.provision(requestId, run)
    expect((await core.provisioning.readRequest(asKim, { requestId })).status).toBe('failed')
    expect((await refusal(() => core.provisioning.submitSite(asKim, { body }))).code).toBe('name-taken')
    expect((await core.provisioning.retryRequest(admin, { requestId })).status).toBe('queued')
    await core.provisioning.system.provision(requestId, run)
    await core.provisioning.cancelRequest(asKim, { requestId })
    expect(asSite(await core.provisioning.submitSite(asKim, { body })).alias).toBe('fails')
  })
})

describe('the approvers of a request', () => {
  const core = withCore()
  const approversOf = async (...approvers: object[]) => {
    const { id: templateId } = await core.template({ approval: { stages: [{ approvers, rule: 'all' }] } })
    const { approvals } = await core.provisioning.submitSite(asKim, { body: { templateId, displayName: 'Who' } })
    return approvals[0]?.approvers.map(({ id }) => id)
  }

  it('are the people in the policy, each once, without the requester', async () => {
    const all = await approversOf({ group: approversGroup }, { user: dana.id }, { manager: true }, { user: kim.id })
    expect(all).toEqual([dana.id, omar.id])
  })

  it('are the admins if the policy leaves nobody', async () => {
    expect(await approversOf({ user: kim.id })).toEqual([priya.id])
  })
})

describe('an edit of a template', () => {
  const core = withCore()

  it('does not change open requests', async () => {
    const before = await core.template({ approval: { stages: [{ approvers: [{ user: dana.id }] }] } })
    const request = await core.provisioning.submitSite(asKim, { body: { templateId: before.id, displayName: 'Runs' } })
    await core.provisioning.putTemplate(admin, {
      id: before.id,
      body: { ...before, name: 'Renamed', approval: null },
      expected: 1,
    })
    const after = await core.provisioning.readRequest(asKim, { requestId: request.requestId })
    expect(after).toEqual(request)
    expect(after.template.name).toBe('Working group')
    expect((await core.provisioning.approve(actorOf(dana), { requestId: request.requestId })).status).toBe('queued')
  })
})
