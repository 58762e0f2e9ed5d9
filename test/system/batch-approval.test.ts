import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { batchView } from '../../src/core/index.ts'
import { textOf, valuesOf } from '../support/cards.ts'
import { caller } from '../support/rest-caller.ts'
import { withService } from '../support/service.ts'
import { people } from '../support/teams-user.ts'
import { seconds, until } from '../support/until.ts'

/** A wait that includes two updates of the cards. */
const settled = 8

describe('a batch that needs approval', () => {
  // The rows of a batch are more than the open requests of a person.
  const service = withService({ OPEN_REQUESTS_PER_PERSON: '10' })
  const { call } = caller(service)
  const mail = () => ({ scope: `${service.app.url}/mail/App.ReadWrite.All`, userId: people.kim.id })
  const templateId = randomUUID()

  beforeAll(async () => {
    for (const who of ['kim', 'dana', 'omar'] as const) await service[who].installs()
    const approval = { stages: [{ approvers: [{ user: people.dana.id }] }, { approvers: [{ user: people.omar.id }] }] }
    const template = { kind: 'roomMailbox', name: 'Floor room', approval }
    await call('sam', 'PUT', `/templates/v1/${templateId}`, { body: template, headers: { 'if-none-match': '*' } })
  })

  const begin = async (count: number) => {
    const rows = Array.from({ length: count }, (_, place) => ({
      key: `${place + 1}`,
      body: { name: `r-${randomUUID().slice(0, 8)}`, displayName: `Room ${place + 1}`, templateId },
    }))
    const answer = await call(mail(), 'POST', '/requests/v1/batch', { body: { resource: 'mailbox', rows } })
    return batchView.parse(answer.body).batchId
  }
  const read = async (batchId: string) => batchView.parse((await call('kim', 'GET', `/batches/v1/${batchId}`)).body)
  const becomes = (batchId: string, what: string, isSo: (one: Awaited<ReturnType<typeof read>>) => boolean) =>
    until(async () => {
      const one = await read(batchId)
      return isSo(one) ? one : undefined
    }, what)
  /** Counts the calls to each chat since `from`. */
  const traffic = (who: 'kim' | 'dana' | 'omar', from: number) => {
    const own = service.connector.calls
      .slice(from)
      .filter(({ conversationId }) => conversationId === service[who].conversationId)
    const count = (method: string) => own.filter((one) => one.method === method).length
    return { messages: count('POST'), updates: count('PUT') }
  }

  it('asks each approver once about 40 rows, and sends one card and one summary to its requester', async () => {
    const from = service.connector.calls.length
    const begun = performance.now()
    const batchId = await begin(40)
    const forDana = await service.dana.sees(/40 waiting/)
    expect(textOf(forDana.card)).toMatch(/Kim Lee sent these requests together/)
    // A slow machine decides the rest after the answer.
    const approved = await service.dana.clicks(forDana, 'Approve all')
    expect(textOf(approved.card ?? {})).toMatch(/You approved \d+ requests/)
    const forOmar = await service.omar.sees(/40 waiting/)
    const references = [...textOf(forOmar.card).matchAll(/Room (\d+)/g)]
    expect(references).toHaveLength(6)
    const [first, second] = JSON.stringify(forOmar.card).match(/row\.\d+\.\d+/g) ?? []
    const ticks = { [String(first)]: 'true', [String(second)]: 'true' }
    const unexplained = await service.omar.clicks(forOmar, 'Reject ticked', ticks)
    expect(textOf(unexplained.card ?? {})).toMatch(/Explain in a comment why you reject/)
    const shown = { ...forOmar, card: unexplained.card }
    const rejected = await service.omar.clicks(shown, 'Reject ticked', { comment: 'These rooms exist.' })
    expect(textOf(rejected.card ?? {})).toMatch(/You rejected 2 requests/)
    expect(textOf(rejected.card ?? {})).toMatch(/38 waiting/)
    const last = await service.omar.clicks({ ...forOmar, card: rejected.card }, 'Approve all')
    expect(textOf(last.card ?? {})).toMatch(/You approved \d+ requests/)
    const ended = await becomes(batchId, 'all rooms', ({ requests }) => requests.succeeded === 38)
    expect(ended.requests).toEqual({ succeeded: 38, rejected: 2 })
    const summary = await service.kim.sees(/Your batch has ended/)
    expect(textOf(summary.card)).toMatch(/38 ready\. 2 rejected\./)
    expect(textOf(summary.card)).toMatch(/Rejected by Omar Haddad: These rooms exist\./)
    await seconds(settled)
    // Printed, because the numbers are a result of their own.
    const counted = { kim: traffic('kim', from), dana: traffic('dana', from), omar: traffic('omar', from) }
    console.info(JSON.stringify(counted))
    // Before, each approver got 40 cards and clicked 40 times, and the requester got 40 cards.
    expect(counted.dana.messages).toBe(1)
    expect(counted.omar.messages).toBe(1)
    expect(counted.kim.messages).toBe(2)
    // A card is updated at most three times in three seconds and in each check of ten. A slow machine needs more time.
    const most = 1.3 * ((performance.now() - begun) / 1000) + 3
    for (const { updates } of Object.values(counted)) expect(updates).toBeLessThan(most)
    const old = service.kim.chat().filter(({ card }) => card && /see below/.test(textOf(card)))
    expect(old).toHaveLength(1)
  })

  it('reminds an approver with one new card for all rows, and sends no copy after a new installation', async () => {
    const from = service.connector.calls.length
    const batchId = await begin(3)
    const waiting = /Kim Lee sent these requests together[\s\S]*Room 3/
    const cardsOfDana = () => service.dana.chat().filter(({ card }) => card && waiting.test(textOf(card)))
    await until(() => cardsOfDana().length === 1, 'the card')
    const { body } = await call('kim', 'GET', `/batches/v1/${batchId}/rows`)
    const ids = z.object({ value: z.array(z.object({ request: z.object({ requestId: z.string() }) })) }).parse(body)
    for (const { request } of ids.value) await call('kim', 'POST', `/requests/v1/${request.requestId}/nudge`)
    await until(() => cardsOfDana().length === 2, 'the reminder')
    await service.dana.installs()
    await seconds(settled)
    expect(cardsOfDana()).toHaveLength(2)
    // The help card of the installation is not about the batch.
    expect(traffic('dana', from).messages).toBe(3)
    const approved = await service.dana.clicks(cardsOfDana()[1] ?? { id: '' }, 'Approve all')
    expect(textOf(approved.card ?? {})).toMatch(/You approved 3 requests/)
    const forOmar = await service.omar.sees(/3 waiting/)
    const rejected = await service.omar.clicks(forOmar, 'Reject all', { comment: 'No.' })
    expect(textOf(rejected.card ?? {})).toMatch(/You rejected 3 requests/)
    const ended = await becomes(batchId, 'the end', ({ requests }) => requests.rejected === 3)
    expect(ended.requests).toEqual({ rejected: 3 })
  })

  it('lets an approver decide several requests of `approvals`, and names a decision that came first', async () => {
    const { dana } = service
    const names = ['Harbour', 'Station', 'Airport']
    const approval = { stages: [{ approvers: [{ user: people.dana.id }, { user: people.omar.id }] }] }
    const own = randomUUID()
    const template = { kind: 'roomMailbox', name: 'Any room', approval }
    await call('sam', 'PUT', `/templates/v1/${own}`, { body: template, headers: { 'if-none-match': '*' } })
    const requestIds: string[] = []
    for (const displayName of names) {
      const body = { name: `s-${randomUUID().slice(0, 8)}`, displayName, templateId: own }
      const answer = await call(mail(), 'POST', '/mail/v1/mailboxes', { body })
      requestIds.push(String(Object(answer.body).requestId))
    }
    const list = await dana.says('approvals')
    const several = await dana.clicks(list, 'Decide several')
    expect(textOf(several.card ?? {})).toMatch(/Harbour[\s\S]*Station[\s\S]*Airport/)
    expect((await call('omar', 'POST', `/requests/v1/${requestIds[0]}/approve`, { body: {} })).status).toBe(200)
    const rows = Object.keys(valuesOf(several.card ?? {})).filter((id) => id.startsWith('row.'))
    expect(rows).toHaveLength(3)
    const onCard = { ...list, card: several.card }
    const none = await dana.clicks(onCard, 'Approve ticked')
    expect(textOf(none.card ?? {})).toMatch(/Tick at least one row/)
    const [first = '', second = ''] = rows
    const some = await dana.clicks(onCard, 'Reject ticked', { [first]: 'true', [second]: 'true', comment: 'Not now.' })
    const text = textOf(some.card ?? {})
    expect(text).toMatch(/You rejected one request/)
    expect(text).toMatch(/\(Harbour\) was decided before your click\. Omar Haddad approved it/)
    expect(text).toMatch(/You rejected one request\. REQ-\d+ Station\./)
    expect(text).toMatch(/1 waiting/)
    const states = await Promise.all(requestIds.map((id) => call('kim', 'GET', `/requests/v1/${id}`)))
    expect(states.map(({ body }) => Object(body).approvals[0].decisions[0]?.by.displayName)).toEqual([
      'Omar Haddad',
      'Dana Fox',
      undefined,
    ])
    expect(Object(states[1]?.body).status).toBe('rejected')
  })
  it('decides with “Approve all” only the requests of the card, on all its pages', async () => {
    const { dana } = service
    const approval = { stages: [{ approvers: [{ user: people.dana.id }] }] }
    const own = randomUUID()
    const template = { kind: 'roomMailbox', name: 'Late room', approval }
    await call('sam', 'PUT', `/templates/v1/${own}`, { body: template, headers: { 'if-none-match': '*' } })
    const begins = async (who: 'kim' | 'omar', displayName: string) => {
      const body = { name: `l-${randomUUID().slice(0, 8)}`, displayName, templateId: own }
      const by = { ...mail(), userId: people[who].id }
      return String(Object((await call(by, 'POST', '/mail/v1/mailboxes', { body })).body).requestId)
    }
    const statusOf = async (requestId: string) =>
      Object((await call('kim', 'GET', `/requests/v1/${requestId}`)).body).status
    const listed: string[] = []
    for (let place = 0; place < 9; place += 1) listed.push(await begins('omar', `Listed ${place}`))
    const list = await dana.says('approvals')
    const several = await dana.clicks(list, 'Decide several')
    const onCard = { ...list, card: several.card }
    const pages = await dana.clicks(onCard, 'Next')
    expect(textOf(pages.card ?? {})).toMatch(/Listed 8/)
    const late = await begins('kim', 'Arrived later')
    const decided = await dana.clicks(onCard, 'Approve all')
    expect(textOf(decided.card ?? {})).toMatch(/You approved \d+ requests/)
    expect(textOf(decided.card ?? {})).toMatch(/REQ-\d+ .*, REQ-\d+ .* and \d+ more\./)
    expect(textOf(decided.card ?? {})).toMatch(/One more request waits\. It was not on your card\./)
    expect(textOf(decided.card ?? {})).toMatch(/Arrived later/)
    const isApproved = async (requestId: string) => (await statusOf(requestId)) !== 'pendingApproval'
    await until(async () => (await Promise.all(listed.map(isApproved))).every(Boolean), 'the decisions of all pages')
    expect(await statusOf(late)).toBe('pendingApproval')
  })
})
