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

describe.each(engines)('an admin decides over the heads of the approvers, over the %s store', (engine) => {
  const core = withCore(engine)
  /** In two stages: Dana and Omar have to approve, then Dana once more. */
  const asked = async () => {
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

  it('approves all stages that are open or still to come at once, each decision marked', async () => {
    const requestId = await asked()
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
    const said = await core.ports.audit.timeline(requestId)
    expect(said.find(({ actor }) => 'id' in actor && actor.id === priya.id)).toMatchObject({
      action: 'approved',
      comment: because.comment,
      data: { override: true, stages: [1, 2], waitedFor: [dana] },
    })
    expect((await actionsOf(requestId)).slice(-2)).toEqual(['approved', 'queued'])
    expect(await core.orderedJobs(requestId)).toEqual(expect.arrayContaining(['provision', 'refresh-cards']))
    const why = await core.provisioning.readExplanation(actorOf(kim), { requestId })
    expect(why.map(apiTexts.explanation).join('\n')).toContain('as an admin over the heads of the approvers')
    await proves(requestId)
  })

  it('leaves a stage that is approved as it is', async () => {
    const requestId = await asked()
    for (const who of [dana, omar]) await core.provisioning.approve(actorOf(who), { requestId })
    const { approvals } = await overrides(requestId)
    expect(approvals.map(({ decisions }) => decisions.map(({ override = false }) => override))).toEqual([
      [false, false],
      [true],
    ])
  })

  it('rejects, which ends the request: its requester is told, and its webhook says that it was an override', async () => {
    const requestId = await asked()
    const request = await overrides(requestId, no)
    expect(request.status).toBe('rejected')
    expect(request.approvals.map(({ decisions }) => decisions.length)).toEqual([1, 0])
    expect(webhookOf(request)?.data.override).toMatchObject({ ...no, by: priya })
    const told = (await core.orders(requestId)).filter(({ payload }) => JSON.stringify(payload).includes('outcome:'))
    expect(told).toMatchObject([{ payload: { personId: kim.id, card: 'outcome:rejected' } }])
    await proves(requestId)
  })

  it('not without a reason, not of their own, not what is over, and nobody else at all: nothing is written', async () => {
    const requestId = await asked()
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
    // That an admin tried it with their own request is written down.
    expect(await code(() => overrides(requestId, because, actorOf(kim, true)))).toBe('self-approval')
    expect((await core.ports.audit.timeline(requestId)).at(-1)).toMatchObject({
      action: 'refused',
      data: { tried: 'override', code: 'self-approval' },
    })
    expect((await core.ports.requests.find(requestId))?.status).toBe('pendingApproval')
  })

  it('once: a repeat of the call finds what it wanted, another comes too late and hears who decided and when', async () => {
    const requestId = await asked()
    const attempt = randomUUID()
    const first = await overrides(requestId, because, admin, attempt)
    expect(await overrides(requestId, because, admin, attempt)).toEqual(first)
    const late = await refusal(() => overrides(requestId, no))
    expect([late.code, late.context.by]).toEqual(['already-decided', priya.displayName])
    const later = await refusal(() => core.provisioning.approve(actorOf(dana), { requestId }))
    expect([later.code, later.context.by]).toEqual(['already-decided', priya.displayName])
    expect((await actionsOf(requestId)).filter((action) => action === 'approved')).toHaveLength(1)
  })

  it('not what waits for nobody: cancelled, expired, or never asked', async () => {
    const requestId = await asked()
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
  ] as const)('against an approver who clicks %s at once: exactly one of them decides', async (verb, what) => {
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
      const said = (await actionsOf(requestId)).filter((one) => one === 'approved' || one === 'rejected')
      expect(said).toEqual([decision?.decision])
    }
  })
})
