import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { type RequestForSite, type RequestState, requestStates } from '../../src/core/index.ts'
import { requestOf } from '../support/card-requests.ts'
import { approvedBy, at } from '../support/card-world.ts'
import { actorOf, asSite, dana, kim, omar, priya, tenantId, withCore } from '../support/core.ts'
import { refusal } from '../support/refusal.ts'

const verbs = {
  approve: actorOf(dana),
  reject: actorOf(dana),
  cancel: actorOf(kim),
  retry: actorOf(priya, true),
} as const
type Verb = keyof typeof verbs

/** The result of each verb in each state: the next state, or the error code. */
const outcomes: Record<RequestState, Record<Verb, string>> = {
  pendingApproval: { approve: 'queued', reject: 'rejected', cancel: 'cancelled', retry: 'illegal-transition' },
  queued: { approve: 'already-decided', reject: 'already-decided', cancel: 'cancelled', retry: 'illegal-transition' },
  provisioning: {
    ...{ approve: 'already-decided', reject: 'already-decided' },
    ...{ cancel: 'illegal-transition', retry: 'illegal-transition' },
  },
  failed: { approve: 'already-decided', reject: 'already-decided', cancel: 'cancelled', retry: 'queued' },
  succeeded: ended('already-decided'),
  rejected: ended('already-decided'),
  expired: ended('already-ended'),
  cancelled: ended('already-ended'),
}
function ended(code: string): Record<Verb, string> {
  return { approve: code, reject: code, cancel: 'already-ended', retry: 'illegal-transition' }
}

const useCaseOf = { approve: 'approve', reject: 'reject', cancel: 'cancelRequest', retry: 'retryRequest' } as const

describe('a request', () => {
  const core = withCore()
  let number = 3000
  const stored = async (status: RequestState, more: Partial<RequestForSite> = {}): Promise<RequestForSite> => {
    number += 1
    const decisions = status === 'pendingApproval' ? [] : [approvedBy(omar, '09:31')]
    const approvals = [{ stage: 1, rule: 'any' as const, approvers: [dana, omar], decisions }]
    const now = new Date().toISOString()
    const request = asSite(
      requestOf({
        requestId: randomUUID(),
        number,
        tenantId,
        status,
        approvals,
        alias: `s${number}`,
        ...{ updatedAt: now, queuedAt: status === 'pendingApproval' ? null : now },
        ...more,
      }),
    )
    await core.ports.reservations.reserve(tenantId, [request.alias], request.requestId)
    return core.ports.requests.insert(request)
  }

  it.each(requestStates.flatMap((state) => (Object.keys(verbs) as Verb[]).map((verb) => [state, verb] as const)))(
    'that is %s: %s',
    async (state, verb) => {
      const { requestId, alias } = await stored(state)
      const expected = outcomes[state][verb]
      const before = await core.rows()
      const act = () => core.provisioning[useCaseOf[verb]](verbs[verb], { requestId, comment: 'Because.' })
      if (!requestStates.some((one) => one === expected)) {
        expect((await refusal(act)).code).toBe(expected)
        expect(await core.rows()).toEqual(before)
        expect((await core.ports.requests.find(requestId))?.status).toBe(state)
        return
      }
      const after = await act()
      expect([after.status, after.version]).toEqual([expected, 2])
      expect(await core.ports.requests.find(requestId)).toEqual(after)
      const ends = expected === 'rejected' || expected === 'cancelled'
      expect(await core.ports.reservations.holder(tenantId, alias)).toBe(ends ? undefined : requestId)
      const [entry] = await core.ports.audit.timeline(requestId)
      expect(entry).toMatchObject({ actor: { id: verbs[verb].id }, comment: 'Because.' })
    },
  )

  it('orders provisioning and the first directory poll once after its approval, and announces nothing', async () => {
    const { requestId } = await stored('pendingApproval')
    await core.provisioning.approve(actorOf(dana), { requestId })
    expect(await core.orderedJobs(requestId)).toEqual(['follow-up', 'provision', 'refresh-cards'])
    expect((await core.ports.audit.timeline(requestId)).map(({ action }) => action)).toEqual(['approved', 'queued'])
  })

  it('needs a comment for a rejection, and blanks do not count', async () => {
    const { requestId } = await stored('pendingApproval')
    for (const comment of [undefined, '', ' \n ']) {
      const error = await refusal(() => core.provisioning.reject(actorOf(dana), { requestId, comment }))
      expect([error.code, error.faults[0]?.pointer]).toEqual(['comment-required', '/comment'])
    }
  })

  it('is approved, rejected or cancelled once by many parallel calls', async () => {
    const { requestId } = await stored('pendingApproval')
    const tries = [1, 2, 3, 4].flatMap(() => [
      core.provisioning.approve(actorOf(dana), { requestId }),
      core.provisioning.reject(actorOf(omar), { requestId, comment: 'No.' }),
      core.provisioning.cancelRequest(actorOf(kim), { requestId }),
    ])
    const results = await Promise.allSettled(tries)
    const after = await core.ports.requests.find(requestId)
    const changed = results.filter(({ status }) => status === 'fulfilled').length
    expect(after?.version).toBe(1 + changed)
    // Only a cancellation can follow an approval.
    expect(after?.approvals[0]?.decisions.length).toBeLessThanOrEqual(1)
    expect(changed).toBeLessThanOrEqual(2)
  })

  it('continues at the failed step after a retry', async () => {
    const done = { status: 'done' as const, attempts: 1 }
    const problem = { code: 'unavailable', detail: 'The directory did not answer.', step: 'ready-check' }
    const { requestId } = await stored('failed', {
      steps: [
        { name: 'create-site', ...done },
        { name: 'ready-check', status: 'failed', attempts: 9, startedAt: at('09:00'), problem },
        { name: 'link-group', status: 'pending', attempts: 0 },
      ],
      problem,
    })
    const { steps, problem: left, queuedAt } = await core.provisioning.retryRequest(verbs.retry, { requestId })
    expect(steps.map(({ status }) => status)).toEqual(['done', 'pending', 'pending'])
    expect(steps[1], 'the step has its full time limit again').toEqual({
      name: 'ready-check',
      status: 'pending',
      attempts: 9,
    })
    expect(left).toBeNull()
    expect(queuedAt).not.toBeNull()
    expect(await core.orderedJobs(requestId)).toContain('provision')
  })
})
