import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { apiTexts } from '../../src/cards/index.ts'
import { viewOf, webhookOf } from '../../src/core/index.ts'
import { requestOf } from '../support/card-requests.ts'
import { actorOf, asSite, dana, kim, omar, priya, stranger, tenantId, withCore } from '../support/core.ts'
import { engines } from '../support/database.ts'
import { refusal } from '../support/refusal.ts'

const admin = actorOf(priya, true)
const because = { decision: 'approved', comment: 'Dana has left us.' } as const
const no = { decision: 'rejected', comment: 'We close this office.' } as const

describe.each(engines)('an override in the %s store', (engine) => {
  const core = withCore(engine)
  /** A request with two stages: Dana and Omar must approve, then Dana again. */
  const pendingRequest = async () => {
    const { id } = await core.template({
      approval: {
        stages: [
          { approvers: [{ user: dana.id }, { user: omar.id }], rule: 'all' },
          { approvers: [{ user: dana.id }] },
        ],
      },
    })
    const body = { displayName: `Site ${randomUUID().slice(0, 8)}`, templateId: id }
    return (await core.provisioning.submitSite(actorOf(kim), { body })).requestId
  }
  const overrides = (requestId: string, what: typeof because | typeof no = because, who = admin, attempt?: string) =>
    core.provisioning.override(who, { requestId, ...what, attempt })
  const actionsOf = async (requestId: string) =>
    (await core.ports.audit.timeline(requestId)).map(({ action }) => action)
  const proves = async (requestId: string) => {
    const { findings } = await core.provisioning.readAudit(admin, { requestId })
    expect(findings).toEqual([])
  }

  it('approves all open and later stages, and marks each decision', async () => {
    const requestId = await pendingRequest()
    await core.provisioning.approve(actorOf(omar), { requestId, comment: 'Fine with me.' })
    const request = await overrides(requestId)
    expect(request.status).toBe('queued')
    expect(request.approvals.map(({ decisions }) => decisions.map(({ by, override }) => [by.id, override]))).toEqual([
      [
        [omar.id, undefined],
        [priya.id, true],
      ],
      [[priya.id, true]],
    ])
    expect(viewOf(request).approvals[1]?.decisions).toMatchObject([{ ...because, by: priya, override: true }])
    const timeline = await core.ports.audit.timeline(requestId)
    expect(timeline.find(({ actor }) => 'id' in actor && actor.id === priya.id)).toMatchObject({
      action: 'approved',
      comment: because.comment,
      data: { override: true, stages: [1, 2], waitedFor: [dana] },
    })
    expect((await actionsOf(requestId)).slice(-2)).toEqual(['approved', 'queued'])
    expect(await core.orderedJobs(requestId)).toEqual(expect.arrayContaining(['provision', 'refresh-cards']))
    const why = await core.provisioning.readExplanation(actorOf(kim), { requestId })
    expect(why.map(apiTexts.explanation).join('\n')).toContain('overriding approval')
    await proves(requestId)
  })

  it('does not change an approved stage', async () => {
    const requestId = await pendingRequest()
    for (const who of [dana, omar]) await core.provisioning.approve(actorOf(who), { requestId })
    const { approvals } = await overrides(requestId)
    expect(approvals.map(({ decisions }) => decisions.map(({ override = false }) => override))).toEqual([
      [false, false],
      [true],
    ])
  })

  it('with a rejection ends the request, notifies the requester, and is marked in the webhook', async () => {
    const requestId = await pendingRequest()
    const request = await overrides(requestId, no)
    expect(request.status).toBe('rejected')
    expect(request.approvals.map(({ decisions }) => decisions.length)).toEqual([1, 0])
    expect(webhookOf(request)?.data.override).toMatchObject({ ...no, by: priya })
    const notified = (await core.orders(requestId)).filter(({ payload }) =>
      JSON.stringify(payload).includes('outcome:'),
    )
    expect(notified).toMatchObject([{ payload: { personId: kim.id, card: 'outcome:rejected' } }])
    await proves(requestId)
  })

  it('is rejected without any change: without a reason, from other people, for another tenant’s or unknown request', async () => {
    const requestId = await pendingRequest()
    const before = await core.rows()
    const code = async (work: () => Promise<unknown>) => (await refusal(work)).code
    for (const comment of ['', ' \n'])
      expect(await code(() => core.provisioning.override(admin, { requestId, ...because, comment }))).toBe(
        'comment-required',
      )
    for (const who of [kim, dana, stranger])
      expect(await code(() => overrides(requestId, because, actorOf(who)))).toBe('forbidden')
    const other = { ...admin, tenantId: randomUUID() }
    expect(await code(() => overrides(requestId, because, other))).toBe('forbidden')
    expect(await code(() => overrides(randomUUID()))).toBe('not-found')
    expect(await core.rows()).toEqual(before)
    // The audit records an admin's attempt with their own request.
    expect(await code(() => overrides(requestId, because, actorOf(kim, true)))).toBe('self-approval')
    expect((await core.ports.audit.timeline(requestId)).at(-1)).toMatchObject({
      action: 'refused',
      data: { tried: 'override', code: 'self-approval' },
    })
    expect((await core.ports.requests.find(requestId))?.status).toBe('pendingApproval')
  })

  it('happens once: a repeat returns the same request, and another call names the earlier decider', async () => {
    const requestId = await pendingRequest()
    const attempt = randomUUID()
    const first = await overrides(requestId, because, admin, attempt)
    expect(await overrides(requestId, because, admin, attempt)).toEqual(first)
    const late = await refusal(() => overrides(requestId, no))
    expect([late.code, late.context.by]).toEqual(['already-decided', priya.displayName])
    const later = await refusal(() => core.provisioning.approve(actorOf(dana), { requestId }))
    expect([later.code, later.context.by]).toEqual(['already-decided', priya.displayName])
    expect((await actionsOf(requestId)).filter((action) => action === 'approved')).toHaveLength(1)
  })

  it('is rejected for a cancelled request and for one without approval', async () => {
    const requestId = await pendingRequest()
    await core.provisioning.cancelRequest(actorOf(kim), { requestId })
    expect((await refusal(() => overrides(requestId))).code).toBe('already-ended')
    const { id } = await core.template({ approval: null })
    const free = await core.provisioning.submitSite(actorOf(kim), {
      body: {
        displayName: `Free ${randomUUID()}`,
        templateId: id,
      },
    })
    expect((await refusal(() => overrides(free.requestId))).code).toBe('illegal-transition')
  })

  it.each([
    ['approve', because],
    ['approve', no],
    ['reject', because],
    ['reject', no],
  ] as const)('decides once if it races with an approver’s %s', async (verb, what) => {
    const random = (most: number) => new Promise((resolve) => setTimeout(resolve, Math.random() * most))
    for (let round = 0; round < 6; round += 1) {
      const requestId = randomUUID()
      const now = new Date().toISOString()
      const approvals = [{ stage: 1, rule: 'any' as const, approvers: [dana], decisions: [] }]
      const number = 5000 + Math.floor(Math.random() * 1e6)
      const about = {
        requestId,
        number,
        alias: `over-${number}`,
        tenantId,
        approvals,
        submittedAt: now,
        updatedAt: now,
      }
      await core.ports.requests.insert(asSite(requestOf(about)))
      const calls = [
        random(3).then(() => core.provisioning[verb](actorOf(dana), { requestId, comment: 'Mine.' })),
        random(3).then(() => overrides(requestId, what)),
      ]
      const ended = await Promise.allSettled(calls)
      expect(ended.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
      const [late] = ended.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []))
      const request = await core.ports.requests.find(requestId)
      const [decision, ...more] = request?.approvals.flatMap(({ decisions }) => decisions) ?? []
      expect(more).toEqual([])
      expect(late).toMatchObject({ code: 'already-decided', context: { by: decision?.by.displayName } })
      expect(request?.status).toBe(decision?.decision === 'approved' ? 'queued' : 'rejected')
      const recorded = (await actionsOf(requestId)).filter((one) => one === 'approved' || one === 'rejected')
      expect(recorded).toEqual([decision?.decision])
    }
  })
})
