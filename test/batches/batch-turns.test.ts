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

describe('a turn of a batch', () => {
  const core = withCore()
  const begin = async (bodies: number | readonly object[] = 3, more: object = {}, to = core.provisioning) => {
    const { id: templateId } = await core.template(more)
    const given = typeof bodies === 'number' ? Array.from({ length: bodies }, () => ({})) : bodies
    const rows = given.map((body, place) => ({
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

  it('submits the rows, and the batch has finished', async () => {
    const batchId = await begin()
    await run(batchId)
    const { batch, counts } = await read(batchId)
    expect([batch.status, counts]).toEqual(['finished', { rows: { submitted: 3 }, requests: { queued: 3 } }])
    expect(await turns(batchId)).toEqual([0])
  })

  it('does a part of a long one, and orders the next turn once', async () => {
    const batchId = await begin(25)
    await run(batchId)
    await run(batchId)
    expect((await read(batchId)).batch.status).toBe('finished')
    expect(await turns(batchId)).toEqual([0, 1])
    expect(await made(batchId)).toBe(25)
  })

  it('ends a turn in which rows take long before its job has run out of time', async () => {
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

  it('run twice at once makes no request twice, and finishes', async () => {
    const batchId = await begin(12)
    await Promise.all([run(batchId), run(batchId), run(batchId)])
    expect((await read(batchId)).counts.rows).toEqual({ submitted: 12 })
    expect([(await read(batchId)).batch.status, await made(batchId)]).toEqual(['finished', 12])
  })

  it('goes on after an end in the middle, without a request more', async () => {
    const batchId = await begin(4)
    const controller = new AbortController()
    let asked = 0
    const to = withDirectory({
      async person(id) {
        asked += 1
        if (asked > 2) controller.abort(new Error('the service stops'))
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

  it('stops when its person is let into nothing any more, and keeps what was submitted', async () => {
    const batchId = await begin(3)
    let asked = 0
    const to = withDirectory({
      async person(id) {
        // The first row's questions are answered, then Kim is gone.
        if (id === kim.id) asked += 1
        const known = await core.ports.directory.person(id)
        return (await made(batchId)) > 0 ? undefined : known
      },
    })
    await run(batchId, { to })
    const { batch, counts } = await read(batchId)
    expect(asked).toBeGreaterThan(1)
    expect([batch.status, batch.problem?.code, counts.rows]).toEqual([
      'stopped',
      'forbidden',
      { submitted: 1, cancelled: 2 },
    ])
    await run(batchId, { turn: 1 })
    expect(await made(batchId)).toBe(1)
  })

  it('refuses rows of a template that its person may not use any more', async () => {
    const batchId = await begin(1, { audience: { people: [dana.id], groups: [] } })
    await run(batchId)
    expect((await rows(batchId))[0]).toMatchObject({
      status: 'refused',
      request: null,
      problem: { code: 'validation-failed', errors: [{ pointer: '/templateId', code: 'unknown-template' }] },
    })
  })

  it('waits while Microsoft 365 does not answer, and says so', async () => {
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

  it('waits while as many requests are open as may be', async () => {
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

  it('waits for the limits of use, for as long as they say', async () => {
    const batchId = await begin(2)
    let left = 1
    const to = core.with({
      limitsOfUse: {
        ...core.ports.limitsOfUse,
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

  it('gives up a row that fails for a reason of ours only at its last attempt, and does the others', async () => {
    const batchId = await begin(2)
    let fails = true
    const to = core.with({
      limitsOfUse: {
        ...core.ports.limitsOfUse,
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

  it('whose job was given up stops, and says so', async () => {
    const batchId = await begin(2)
    await core.provisioning.system.giveUpBatch(batchId)
    const { batch, counts } = await read(batchId)
    expect([batch.status, batch.problem?.code, counts.rows]).toEqual(['stopped', 'internal', { cancelled: 2 }])
    await run(batchId)
    expect(await made(batchId)).toBe(0)
  })

  it('of an application stops when the application is struck off the list', async () => {
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

  it('cannot be begun while ten are under way, and is forgotten a month after its end', async () => {
    const other = actorOf(dana)
    const order = { resource: 'site' as const, rows: [{ key: '1', body: {} }] }
    const ids = Array.from({ length: 10 }, () => randomUUID())
    for (const id of ids) await core.provisioning.beginBatch(other, { batchId: id, ...order })
    const error = await refusal(() => core.provisioning.beginBatch(other, { batchId: randomUUID(), ...order }))
    expect(sentenceOf(error)).toContain('10 batches under way')
    const [first = '', second = ''] = ids
    await core.provisioning.cancelBatch(other, { batchId: first })
    const at = (days: number) => new Date(Date.now() + days * 86_400_000)
    await core.ports.batches.forgetOld(at(29))
    expect(await core.ports.batches.find(first)).toBeDefined()
    await core.ports.batches.forgetOld(at(31))
    expect([await core.ports.batches.find(first), (await core.ports.batches.find(second))?.status]).toEqual([
      undefined,
      'running',
    ])
  })
})
