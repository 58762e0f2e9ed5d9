import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import type { BatchAttempt, Core, Ports } from '../../src/core/index.ts'
import { actorOf, dana, kim, tenantId, withCore } from '../support/core.ts'
import { refusal, sentenceOf } from '../support/refusal.ts'

const attempt = (more: Partial<BatchAttempt> = {}): BatchAttempt => ({
  ...{ lastAttempt: false, signal: new AbortController().signal },
  report: (row, error) => {
    throw new Error(`row ${row} cannot be done: ${String(error)}`)
  },
  ...more,
})

describe('a run of a batch’s job', () => {
  const core = withCore()
  const begin = async (bodies: number | readonly object[] = 3, more: object = {}, to = core.provisioning) => {
    const { id: templateId } = await core.template(more)
    const allBodies = typeof bodies === 'number' ? Array.from({ length: bodies }, () => ({})) : bodies
    const rows = allBodies.map((body, place) => ({
      key: `${place}`,
      body: { displayName: `Site ${randomUUID()}`, templateId, ...body },
    }))
    const batchId = randomUUID()
    await to.beginBatch(actorOf(kim), { batchId, resource: 'site', rows })
    return batchId
  }
  const turns = async (batchId: string) => {
    const { rows } = await core.database.query<{ turn: number }>(
      `SELECT (payload->>'turn')::int AS turn FROM ordered_jobs WHERE name = 'run-batch' AND payload->>'batchId' = $1
       ORDER BY 1`,
      [batchId],
    )
    return rows.map(({ turn }) => turn)
  }
  const run = (batchId: string, { to = core.provisioning, turn = 0, how = attempt() } = {}) =>
    to.system.runBatch({ v: 1, batchId, turn }, how)
  const read = (batchId: string) => core.provisioning.readBatch(actorOf(kim), { batchId })
  const rows = async (batchId: string) =>
    (await core.provisioning.readBatchRows(actorOf(kim), { batchId, limit: 100 })).rows
  const made = async (batchId: string) => {
    const { rows } = await core.database.query<{ n: number }>(
      `SELECT count(*)::int AS n FROM audit_log WHERE body->'data'->'batch'->>'batchId' = $1`,
      [batchId],
    )
    return rows[0]?.n ?? 0
  }
  const withDirectory = (parts: Partial<Ports['directory']>): Core =>
    core.with({ directory: { ...core.ports.directory, ...parts } })

  it('submits the rows and finishes the batch', async () => {
    const batchId = await begin()
    await run(batchId)
    const { batch, counts } = await read(batchId)
    expect([batch.status, counts]).toEqual(['finished', { rows: { submitted: 3 }, requests: { queued: 3 } }])
    expect(await turns(batchId)).toEqual([0])
  })

  it('keeps the batch for 30 days after its end, or until no row waits or is being created', async () => {
    const [failed, waiting] = [
      await begin(1),
      await begin(1, { approval: { stages: [{ approvers: [{ user: dana.id }] }] } }),
    ]
    for (const batchId of [failed, waiting]) await run(batchId)
    await core.database.query(`UPDATE requests SET status = 'failed' WHERE body->'batch'->>'batchId' = $1`, [failed])
    const { batches } = core.ports
    const days = (count: number) => new Date(Date.now() + count * 86_400_000)
    await batches.forgetOld(days(29))
    expect(await batches.find(failed)).toBeDefined()
    await batches.forgetOld(days(31))
    expect(await batches.find(failed)).toBeUndefined()
    expect(await batches.find(waiting)).toBeDefined()
  })

  it('submits a part of a long batch, and enqueues the job for the next part once', async () => {
    const batchId = await begin(25)
    await run(batchId)
    await run(batchId)
    expect((await read(batchId)).batch.status).toBe('finished')
    expect(await turns(batchId)).toEqual([0, 1])
    expect(await made(batchId)).toBe(25)
  })

  it('ends before the time limit of its job if rows take long', async () => {
    const batchId = await begin(6)
    let late = 0
    const clock = { now: () => new Date(Date.now() + late) }
    const { directory } = core.ports
    const person: Ports['directory']['person'] = async (id) => {
      late += 25_000
      return directory.person(id)
    }
    await run(batchId, { to: core.with({ clock, directory: { ...directory, person } }) })
    expect([(await read(batchId)).counts.rows, await turns(batchId)]).toEqual([{ submitted: 3, waiting: 3 }, [0, 1]])
  })

  it('submits each row once when three jobs run the same part at the same time', async () => {
    const batchId = await begin(12)
    await Promise.all([run(batchId), run(batchId), run(batchId)])
    expect((await read(batchId)).counts.rows).toEqual({ submitted: 12 })
    expect([(await read(batchId)).batch.status, await made(batchId)]).toEqual(['finished', 12])
  })

  it('continues after an interruption without an extra request', async () => {
    const batchId = await begin(4)
    const controller = new AbortController()
    let lookups = 0
    const to = withDirectory({
      async person(id) {
        lookups += 1
        if (lookups > 2) controller.abort(new Error('the service stops'))
        return core.ports.directory.person(id)
      },
    })
    const ended = run(batchId, { to, how: attempt({ signal: controller.signal }) })
    await expect(ended).rejects.toThrow('the service stops')
    const { counts } = await read(batchId)
    expect(counts.rows.waiting).toBeGreaterThan(0)
    expect(counts.rows.submitted).toBeGreaterThan(0)
    await run(batchId)
    expect([(await read(batchId)).counts.rows, await made(batchId)]).toEqual([{ submitted: 4 }, 4])
  })

  it('stops the batch when its requester loses all access, and keeps submitted requests', async () => {
    const batchId = await begin(3)
    let lookups = 0
    const to = withDirectory({
      async person(id) {
        // The directory answers for the first row; then Kim has left.
        if (id === kim.id) lookups += 1
        const known = await core.ports.directory.person(id)
        return (await made(batchId)) > 0 ? undefined : known
      },
    })
    await run(batchId, { to })
    const { batch, counts } = await read(batchId)
    expect(lookups).toBeGreaterThan(1)
    expect([batch.status, batch.problem?.code, counts.rows]).toEqual([
      'stopped',
      'forbidden',
      { submitted: 1, cancelled: 2 },
    ])
    await run(batchId, { turn: 1 })
    expect(await made(batchId)).toBe(1)
  })

  it('refuses rows of a template that its requester may no longer use', async () => {
    const batchId = await begin(1, { audience: { people: [dana.id], groups: [] } })
    await run(batchId)
    expect((await rows(batchId))[0]).toMatchObject({
      status: 'refused',
      request: null,
      problem: { code: 'validation-failed', errors: [{ pointer: '/templateId', code: 'unknown-template' }] },
    })
  })

  it('waits while Microsoft 365 does not answer, and reports the reason', async () => {
    const batchId = await begin(2)
    core.world.up = false
    try {
      await run(batchId)
    } finally {
      core.world.up = true
    }
    const { batch, counts } = await read(batchId)
    expect([batch.status, batch.waitsFor?.code, counts.rows]).toEqual(['running', 'unavailable', { waiting: 2 }])
    expect(await turns(batchId)).toEqual([0, 1])
    await run(batchId, { turn: 1 })
    expect((await read(batchId)).batch).toMatchObject({ status: 'finished', waitsFor: null })
  })

  it('waits while the requester has the maximum number of open requests', async () => {
    const { provisioning } = core
    const to = core.with({}, { openRequestsPerPerson: 0 })
    const other = actorOf(dana)
    const { id: templateId } = await core.template({ quota: { openPerPerson: 1 } })
    const batchId = randomUUID()
    const body = () => ({ displayName: `Site ${randomUUID()}`, templateId })
    const order = { resource: 'site' as const, rows: [1, 2].map((key) => ({ key: `${key}`, body: body() })) }
    await provisioning.beginBatch(other, { batchId, ...order })
    await run(batchId, { to })
    const waits = await provisioning.readBatch(other, { batchId })
    expect([waits.batch.waitsFor?.code, waits.counts.rows]).toEqual(['quota-reached', { submitted: 1, waiting: 1 }])
    const [first] = (await provisioning.readBatchRows(other, { batchId, limit: 1 })).rows
    await provisioning.cancelRequest(other, { requestId: first?.request?.requestId ?? '' })
    await run(batchId, { to, turn: 1 })
    expect((await provisioning.readBatch(other, { batchId })).batch.status).toBe('finished')
  })

  it('refuses a row that nobody can approve, and submits the others', async () => {
    const { id: templateId } = await core.template({ approval: { stages: [{ approvers: [{ user: kim.id }] }] } })
    const batchId = await begin([{ templateId }, {}])
    await run(batchId, { to: core.with({}, { admins: [kim.id] }) })
    expect((await read(batchId)).counts.rows).toEqual({ refused: 1, submitted: 1 })
    expect((await rows(batchId))[0]?.problem).toMatchObject({
      code: 'validation-failed',
      errors: [{ pointer: '/templateId', code: 'no-approver' }],
    })
  })

  it('waits at the rate limit, and schedules the next part', async () => {
    const batchId = await begin(2)
    let left = 1
    const to = core.with({
      rateLimits: {
        ...core.ports.rateLimits,
        takeWrite: async (caller) => {
          expect(caller).toMatchObject({ tenantId, id: kim.id })
          left -= 1
          return { taken: left >= 0, againInMilliseconds: left >= 0 ? 0 : 3000 }
        },
      },
    })
    await run(batchId, { to })
    const { batch, counts } = await read(batchId)
    expect([batch.waitsFor?.code, counts.rows]).toEqual(['rate-limited', { submitted: 1, waiting: 1 }])
    expect(await turns(batchId)).toEqual([0, 1])
  })

  it('refuses a row with an internal error only at the last attempt, and submits the others', async () => {
    const batchId = await begin(2)
    let fails = true
    const to = core.with({
      rateLimits: {
        ...core.ports.rateLimits,
        async takeWrite() {
          if (fails) throw new Error('a defect')
          return { taken: true, againInMilliseconds: 0 }
        },
      },
    })
    await expect(run(batchId, { to })).rejects.toThrow('a defect')
    expect((await read(batchId)).counts.rows).toEqual({ waiting: 2 })
    const reported: string[] = []
    const report = (row: string) => {
      reported.push(row)
      fails = false
    }
    await run(batchId, { to, how: attempt({ lastAttempt: true, report }) })
    expect([reported, (await read(batchId)).counts.rows]).toEqual([['0'], { refused: 1, submitted: 1 }])
    expect((await rows(batchId))[0]?.problem?.code).toBe('internal')
  })

  it.each([
    ['unexpected', 'internalOfRow'],
    ['interrupted', 'interruptedOfBatch'],
  ] as const)('stops the batch with a reason when its job fails for good: %s', async (why, key) => {
    const batchId = await begin(2)
    await core.provisioning.system.giveUpBatch(batchId, why)
    const { batch, counts } = await read(batchId)
    expect([batch.status, batch.problem?.code, counts.rows]).toEqual(['stopped', 'internal', { cancelled: 2 }])
    expect(batch.problem?.reason).toMatchObject({ key })
    await run(batchId)
    expect(await made(batchId)).toBe(0)
  })

  it('stops the batch of an application that was removed from MAIL_APP_CLIENTS', async () => {
    const client = { ...actorOf({ ...kim, id: randomUUID() }), clientId: randomUUID() }
    const { id: templateId } = await core.template({ kind: 'sharedMailbox' })
    const body = { name: `m${randomUUID().slice(0, 8)}`, displayName: 'Mailbox', templateId }
    const batchId = randomUUID()
    await core.provisioning.beginBatch(client, { batchId, resource: 'mailbox', rows: [{ key: '1', body }] })
    await run(batchId, { to: core.with({}, { mailApplications: [] }) })
    const { batch } = await core.provisioning.readBatch(client, { batchId })
    expect([batch.status, batch.problem?.code]).toEqual(['stopped', 'forbidden'])
    const sites = { resource: 'site' as const, rows: [{ key: '1', body: {} }] }
    const error = await refusal(() => core.provisioning.beginBatch(client, { batchId: randomUUID(), ...sites }))
    expect(sentenceOf(error)).toMatch(/application/)
  })
})

describe('the batches of a person', () => {
  const core = withCore()
  const order = { resource: 'site' as const, rows: [{ key: '1', body: {} }] }
  const begin = async () => {
    const batchId = randomUUID()
    await core.provisioning.beginBatch(actorOf(dana), { batchId, ...order })
    return batchId
  }

  it('are deleted a month after their end', async () => {
    const [ended, running] = [await begin(), await begin()]
    await core.provisioning.cancelBatch(actorOf(dana), { batchId: ended })
    const at = (days: number) => new Date(Date.now() + days * 86_400_000)
    await core.ports.batches.forgetOld(at(29))
    expect(await core.ports.batches.find(ended)).toBeDefined()
    await core.ports.batches.forgetOld(at(31))
    expect([await core.ports.batches.find(ended), (await core.ports.batches.find(running))?.status]).toEqual([
      undefined,
      'running',
    ])
    await core.provisioning.cancelBatch(actorOf(dana), { batchId: running })
  })

  it('are at most ten at a time', async () => {
    for (let count = 0; count < 10; count += 1) await begin()
    expect(sentenceOf(await refusal(begin))).toContain('10 batches in progress')
  })
})
