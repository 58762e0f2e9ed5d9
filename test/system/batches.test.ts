import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { batchRowView, batchView, checkedRow } from '../../src/core/index.ts'
import { caller, type RestAnswer } from '../support/rest-caller.ts'
import { templates, withService } from '../support/service.ts'
import { people } from '../support/teams-user.ts'
import { until } from '../support/until.ts'

const listOfRows = z.object({ value: z.array(batchRowView), nextCursor: z.string().optional() })
const tried = z.object({ valid: z.boolean(), rows: z.array(checkedRow) })
const room = (name: string, more: object = {}) => ({
  ...{ name, displayName: `Room ${name}`, templateId: templates.meetingRoom, metadata: { seats: 8 } },
  ...more,
})
const fresh = () => `room-${randomUUID().slice(0, 8)}`
const rowsFrom = (...bodies: object[]) => bodies.map((body, place) => ({ key: `row ${place + 1}`, body }))

function doors(service: ReturnType<typeof withService>) {
  const { call, token } = caller(service)
  const mail = (who: keyof typeof people = 'kim') => ({
    scope: `${service.app.url}/mail/App.ReadWrite.All`,
    userId: people[who].id,
  })
  const read = async (batchId: string) => batchView.parse((await call('kim', 'GET', `/batches/v1/${batchId}`)).body)
  const rows = async (batchId: string, query = '?limit=100') =>
    listOfRows.parse((await call('kim', 'GET', `/batches/v1/${batchId}/rows${query}`)).body)
  return {
    call,
    token,
    mail,
    read,
    rows,
    send: (rows: object[], headers: Record<string, string> = {}, more: object = {}): Promise<RestAnswer> =>
      call(mail(), 'POST', '/requests/v1/batch', { body: { resource: 'mailbox', rows, ...more }, headers }),
    begun: (answer: RestAnswer) => {
      expect([answer.status, answer.text]).toEqual([202, expect.any(String)])
      return batchView.parse(answer.body)
    },
    ends: (batchId: string, status: string) =>
      until(async () => {
        const one = await read(batchId)
        return one.status === status ? one : undefined
      }, `the batch to be ${status}`),
    becomes: (batchId: string, what: string, isSo: (one: z.output<typeof batchView>) => boolean) =>
      until(async () => {
        const one = await read(batchId)
        return isSo(one) ? one : undefined
      }, what),
  }
}

describe('a batch', () => {
  const service = withService()
  const { call, mail, read, rows, send, begun, ends, becomes } = doors(service)

  it('creates the resources of its rows, and shows the result of each row', async () => {
    const [name, taken] = [fresh(), fresh()]
    await call(mail(), 'POST', '/mail/v1/mailboxes', { body: room(taken) })
    const answer = await send(rowsFrom(room(name), room(taken), room('a b'), room(fresh())))
    const { batchId } = begun(answer)
    expect(answer.headers.get('location')).toBe(`/batches/v1/${batchId}`)
    const one = await becomes(batchId, 'two rooms', ({ status, requests }) => {
      return status === 'finished' && requests.succeeded === 2
    })
    expect(one.rows).toEqual({ total: 4, waiting: 0, submitted: 2, refused: 2, cancelled: 0 })
    const { value } = await rows(batchId)
    expect(value.map(({ key, status }) => [key, status])).toEqual([
      ['row 1', 'submitted'],
      ['row 2', 'refused'],
      ['row 3', 'refused'],
      ['row 4', 'submitted'],
    ])
    expect(value[1]?.problem).toMatchObject({ code: 'name-taken', errors: [{ pointer: '#/name', code: 'name-taken' }] })
    expect(value[2]?.problem).toMatchObject({ code: 'validation-failed', errors: [{ pointer: '#/name' }] })
    const made = await call('kim', 'GET', `/requests/v1/${value[0]?.request?.requestId}`)
    expect(made.body).toMatchObject({ status: 'succeeded', resource: { address: `${name}@contoso.example` } })
  })

  it('is named with its row in the timeline of each request', async () => {
    const { batchId } = begun(await send([{ key: 'Büro 7', body: room(fresh()) }]))
    await ends(batchId, 'finished')
    const { value } = await rows(batchId)
    const timeline = await call('kim', 'GET', `/requests/v1/${value[0]?.request?.requestId}/timeline`)
    const [first] = z.object({ value: z.array(z.looseObject({})) }).parse(timeline.body).value
    expect(first).toMatchObject({ actor: { id: people.kim.id }, data: { batch: { batchId, row: 'Büro 7' } } })
  })

  it('is the same batch for the same Idempotency-Key, without a repeated row', async () => {
    const key = { 'idempotency-key': randomUUID() }
    const bodies = rowsFrom(room(fresh()), room(fresh()))
    const first = begun(await send(bodies, key))
    await ends(first.batchId, 'finished')
    const again = await send(bodies, key)
    expect([batchView.parse(again.body).batchId, again.headers.get('idempotency-replayed')]).toEqual([
      first.batchId,
      'true',
    ])
    const { value } = z
      .object({ value: z.array(z.object({ displayName: z.string() }).or(z.looseObject({}))) })
      .parse((await call('kim', 'GET', '/requests/v1?limit=100')).body)
    const named = JSON.stringify(value)
    for (const { body } of bodies) expect(named.split(JSON.stringify(Object(body).displayName)).length).toBe(2)
    const other = await send(rowsFrom(room(fresh())), key)
    expect([other.status, Object(other.body).code]).toEqual([422, 'idempotency-key-reused'])
  })

  it('is returned in pages, also filtered by the state of the rows', async () => {
    const { batchId } = begun(await send(rowsFrom(room(fresh()), room('a b'), room(fresh()), room('c d'))))
    await ends(batchId, 'finished')
    const first = await rows(batchId, '?limit=3')
    const second = await rows(batchId, `?limit=3&cursor=${first.nextCursor}`)
    expect([...first.value, ...second.value].map(({ key }) => key)).toEqual(['row 1', 'row 2', 'row 3', 'row 4'])
    expect(second.nextCursor).toBeUndefined()
    const refused = await rows(batchId, '?status=refused')
    expect(refused.value.map(({ key }) => key)).toEqual(['row 2', 'row 4'])
    for (const cursor of ['nonsense', 'v1:-1', 'v1:9007199254740991']) {
      const path = `/batches/v1/${batchId}/rows?cursor=${Buffer.from(cursor).toString('base64url')}`
      const bad = await call('kim', 'GET', path)
      expect([bad.status, Object(bad.body).errors?.[0]?.pointer]).toEqual([422, '#/cursor'])
    }
  })

  it('is a 404 for everybody except its requester and admins', async () => {
    const { batchId } = begun(await send(rowsFrom(room(fresh()))))
    await ends(batchId, 'finished')
    const path = `/batches/v1/${batchId}`
    for (const [method, more] of [
      ['GET', ''],
      ['GET', '/rows'],
      ['POST', '/cancel'],
    ] as const)
      expect((await call('omar', method, `${path}${more}`)).status).toBe(404)
    expect((await call('sam', 'GET', path)).status).toBe(200)
  })

  it.each([
    ['no rows', { rows: [] }, '#/rows'],
    ['too many rows', { rows: Array.from({ length: 201 }, () => ({ key: 'a', body: {} })) }, '#/rows'],
    [
      'a repeated key',
      {
        rows: [
          { key: 'a', body: {} },
          { key: 'a', body: {} },
        ],
      },
      '#/rows/1/key',
    ],
    ['a row that is not a request', { rows: [{ key: 'a', body: 'a room' }] }, '#/rows/0/body'],
    ['an unknown resource', { resource: 'castle' }, '#/resource'],
    ['an unknown field', { when: 'now' }, '#/when'],
  ])('with %s is refused completely, and the error names the place', async (_, more, pointer) => {
    // Without a resource no API is known, so a token of either API passes the first check.
    const who = 'resource' in more ? 'kim' : mail()
    const body = { resource: 'mailbox', rows: rowsFrom(room(fresh())), ...more }
    const answer = await call(who, 'POST', '/requests/v1/batch', { body })
    expect([answer.status, Object(answer.body).errors?.[0]?.pointer]).toEqual([422, pointer])
  })

  it('accepts 200 rows of the usual size, and no body of more than 512 KiB', async () => {
    const many = Array.from({ length: 200 }, (_, place) => ({
      key: `${place}`,
      body: room('a b', { notes: 'n'.repeat(1900) }),
    }))
    expect(begun(await send(many)).rows.total).toBe(200)
    const longer = many.map(({ key, body }) => ({ key, body: { ...body, notes: 'n'.repeat(3000) } }))
    expect((await send(longer)).status).toBe(413)
  })

  it('needs a token of the API of its rows', async () => {
    const body = { resource: 'mailbox', rows: rowsFrom(room(fresh())) }
    const collab = await call('kim', 'POST', '/requests/v1/batch', { body })
    expect([collab.status, Object(collab.body).code]).toEqual([401, 'invalid-token'])
    const site = { resource: 'site', rows: rowsFrom({ displayName: 'Ganymede', templateId: templates.workingGroup }) }
    expect((await call(mail(), 'POST', '/requests/v1/batch', { body: site })).status).toBe(401)
    for (const who of ['kim', mail()] as const) {
      const wrong = await call(who, 'POST', '/requests/v1/batch', { body: { ...body, resource: 'mailboxes' } })
      expect([wrong.status, Object(wrong.body).errors?.[0]?.pointer]).toEqual([422, '#/resource'])
    }
    const { batchId } = begun(await call('kim', 'POST', '/requests/v1/batch', { body: site }))
    await becomes(batchId, 'the site', ({ requests }) => requests.succeeded === 1)
  })

  it('submits no more rows after it is cancelled; cancelling it again has no effect', async () => {
    const templateId = randomUUID()
    const approval = { stages: [{ approvers: [{ user: people.dana.id }] }] }
    const template = { kind: 'roomMailbox', name: 'One at a time', approval, quota: { openPerPerson: 1 } }
    await call('sam', 'PUT', `/templates/v1/${templateId}`, { body: template, headers: { 'if-none-match': '*' } })
    const bodies = [1, 2, 3].map(() => room(fresh(), { templateId, metadata: {} }))
    const { batchId } = begun(await send(rowsFrom(...bodies)))
    const held = await becomes(batchId, 'it to wait', ({ waitsFor }) => waitsFor !== null)
    expect([held.waitsFor?.code, held.rows.submitted]).toEqual(['quota-reached', 1])
    const path = `/batches/v1/${batchId}/cancel`
    const cancelled = batchView.parse((await call('kim', 'POST', path)).body)
    expect([cancelled.status, cancelled.rows]).toEqual([
      'cancelled',
      { total: 3, waiting: 0, submitted: 1, refused: 0, cancelled: 2 },
    ])
    expect((await call('kim', 'POST', path)).status).toBe(200)
    const { value } = await rows(batchId)
    await call('dana', 'POST', `/requests/v1/${value[0]?.request?.requestId}/approve`, { body: {} })
    await becomes(batchId, 'the one that was submitted', ({ requests }) => requests.succeeded === 1)
    expect((await read(batchId)).rows.submitted).toBe(1)
    const done = begun(await send(rowsFrom(room('a b'))))
    await ends(done.batchId, 'finished')
    const late = await call('kim', 'POST', `/batches/v1/${done.batchId}/cancel`)
    expect([late.status, Object(late.body).code]).toEqual([409, 'already-ended'])
  })
})

describe('a dry run', () => {
  const service = withService()
  const { call, mail, send, token } = doors(service)
  const tryOut = async (...bodies: object[]) =>
    tried.parse((await send(rowsFrom(...bodies), {}, { dryRun: true })).body)

  it('shows the result that each row would have, and writes nothing', async () => {
    const { database } = service.app
    const count = async () =>
      (await database.query('SELECT (SELECT count(*) FROM requests) AS r, (SELECT count(*) FROM batches) AS b')).rows
    const before = await count()
    const { valid, rows } = await tryOut(room('mercury'), room('venus', { city: 5 }))
    expect([valid, rows.map(({ status }) => status)]).toEqual([false, ['ok', 'refused']])
    expect(rows[0]).toMatchObject({
      kind: 'roomMailbox',
      names: { address: 'room-mercury@contoso.example', free: true },
      approvalRequired: false,
    })
    expect(rows[1]?.errors).toMatchObject([{ pointer: '#/city', code: 'wrong-type' }])
    expect(await count()).toEqual(before)
  })

  it('stores no answer for its Idempotency-Key', async () => {
    const keys = async () =>
      (await service.app.database.query(`SELECT 1 FROM idempotency_keys WHERE key = 'dry'`)).rows.length
    const { status } = await send(rowsFrom(room('ceres')), { 'idempotency-key': 'dry' }, { dryRun: true })
    expect([status, await keys()]).toEqual([200, 0])
  })

  it('detects names that rows take from each other', async () => {
    const { rows } = await tryOut(room('earth'), room('mars'), room('earth'), room('earth'))
    expect(rows.map(({ status }) => status)).toEqual(['ok', 'ok', 'refused', 'refused'])
    expect(rows[2]?.errors).toMatchObject([{ pointer: '#/name', code: 'name-taken', suggestion: 'room-earth-2' }])
  })

  it('derives another name if a previous row takes it, as a submission does', async () => {
    const site = { displayName: 'Jupiter', templateId: templates.workingGroup }
    const answer = await call('kim', 'POST', '/requests/v1/batch', {
      body: { dryRun: true, resource: 'site', rows: rowsFrom(site, site) },
    })
    const { valid, rows } = tried.parse(answer.body)
    expect([valid, rows.map(({ names }) => names?.alias)]).toEqual([true, ['wg-jupiter', 'wg-jupiter-2']])
  })

  it('counts the numbers in names and the limits of a template', async () => {
    const templateId = randomUUID()
    const template = {
      ...{ kind: 'roomMailbox', name: 'Numbered' },
      naming: { name: { pattern: 'saturn-{counter}' } },
      quota: { resources: 3, openPerPerson: 1 },
    }
    const put = await call('sam', 'PUT', `/templates/v1/${templateId}`, {
      body: template,
      headers: { 'if-none-match': '*' },
    })
    expect([put.status, put.text]).toEqual([201, expect.any(String)])
    const { rows } = await tryOut(...[1, 2, 3, 4].map(() => room('any', { templateId, metadata: {} })))
    expect(rows.map(({ names, errors }) => names?.address ?? errors[0]?.code)).toEqual([
      'saturn-1@contoso.example',
      'saturn-2@contoso.example',
      'saturn-3@contoso.example',
      'quota-reached',
    ])
  })

  it('runs once at a time for each person', async () => {
    const body = {
      dryRun: true,
      resource: 'mailbox',
      rows: rowsFrom(...Array.from({ length: 40 }, () => room(fresh()))),
    }
    const answers = await Promise.all([1, 2].map(() => call(mail(), 'POST', '/requests/v1/batch', { body })))
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 429])
  })

  it('ends when its caller disconnects, so that the next one can start', async () => {
    const operation = 'exchange.get-recipient'
    const before = (await service.calls(operation)).length
    const called = async () => (await service.calls(operation)).length - before
    await service.fault({ operation, kind: 'delay', seconds: 1 })
    const gone = new AbortController()
    const first = fetch(`${service.app.url}/requests/v1/batch`, {
      method: 'POST',
      headers: { authorization: `Bearer ${await token(mail())}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        dryRun: true,
        resource: 'mailbox',
        rows: rowsFrom(...Array.from({ length: 40 }, () => room(fresh()))),
      }),
      signal: gone.signal,
    })
    await until(async () => (await called()) > 0 || undefined, 'the first row')
    gone.abort()
    await expect(first).rejects.toThrow()
    const next = () => send(rowsFrom(room(fresh())), {}, { dryRun: true })
    await until(async () => (await next()).status === 200 || undefined, 'the next dry run')
    await service.heal()
    expect(await called()).toBeLessThan(20)
  })
})

describe('the rows of a batch', () => {
  const service = withService({
    RATE_LIMIT_WRITES_PER_MINUTE: '120',
    RATE_LIMIT_WRITE_BURST: '10',
    OPEN_REQUESTS_PER_PERSON: '2',
  })
  const { call, send, begun, becomes } = doors(service)

  it('wait for the rate limits, and none is refused', async () => {
    const { batchId } = begun(await send(rowsFrom(...[1, 2, 3, 4, 5, 6, 7, 8].map(() => room(fresh())))))
    const one = await becomes(batchId, 'all rooms', ({ requests }) => requests.succeeded === 8)
    expect(one.rows).toMatchObject({ submitted: 8, refused: 0 })
  })

  it('leave some calls to their requester', async () => {
    const { batchId } = begun(await send(rowsFrom(...[1, 2, 3, 4, 5, 6].map(() => room('a b')))))
    await becomes(
      batchId,
      'the end',
      ({ status, waitsFor }) => status === 'finished' || waitsFor?.code === 'rate-limited',
    )
    const answer = await call('kim', 'POST', `/batches/v1/${batchId}/cancel`)
    expect([200, 409]).toContain(answer.status)
  })
})
