import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { actionsOf, textOf } from '../support/cards.ts'
import { caller } from '../support/rest-caller.ts'
import { withService } from '../support/service.ts'
import { cardOf, readsAfter } from '../support/site-request.ts'
import { people } from '../support/teams-user.ts'

/** In it are Dana and Omar, through the group of the site approvers; Kim is not. */
const partnerBoard = '22222222-bbbb-4bbb-8bbb-000000000004'
/** In it is Kim herself. */
const zurichStaff = '22222222-bbbb-4bbb-8bbb-000000000003'
const members = { people: [], groups: [partnerBoard] }
const withKim = { people: [], groups: [partnerBoard, zurichStaff] }
const kinds = [
  { kind: 'teamSite', api: 'collab', path: '/collab/v1/spo/', words: 'new site' },
  { kind: 'sharedMailbox', api: 'mail', path: '/mail/v1/mailboxes/', words: 'new shared mailbox' },
] as const

describe.each(kinds)('a template of $kind for a group', ({ kind, api, path, words }) => {
  const service = withService()
  const { call } = caller(service)
  const as = (who: keyof typeof people) => ({
    scope: `${service.app.url}/${api}/App.ReadWrite.All`,
    userId: people[who].id,
  })

  /** Writes a template for this audience; returns its id. */
  async function made(name: string, audience: object = members): Promise<string> {
    const id = randomUUID()
    const body = { kind, name, audience, fields: [{ key: 'purpose', type: 'text', label: 'Purpose', required: true }] }
    const headers = { 'if-none-match': '*' }
    const { status, text } = await call('sam', 'PUT', `/templates/v1/${id}`, { body, headers })
    expect(status, text).toBe(201)
    return id
  }
  async function changes(id: string, change: object): Promise<void> {
    const { body, headers } = await call('sam', 'GET', `/templates/v1/${id}`)
    const changed = { ...z.looseObject({}).parse(body), ...change }
    const etag = { 'if-match': headers.get('etag') ?? '' }
    expect((await call('sam', 'PUT', `/templates/v1/${id}`, { body: changed, headers: etag })).status).toBe(200)
  }
  const bodyFor = (templateId: string, more: object = {}) => ({
    ...{ templateId, displayName: `For the board ${templateId.slice(0, 8)}`, metadata: { purpose: 'Deals' } },
    ...(kind === 'sharedMailbox' && { name: `board-${templateId.slice(0, 8)}` }),
    ...more,
  })
  /** An answer without what differs from call to call. */
  const comparable = ({ status, body }: { status: number; body: unknown }, id: string) => {
    const shown = JSON.parse(JSON.stringify(body).replaceAll(id, '<id>'))
    return { status, body: { ...shown, traceId: '', requestId: '' } }
  }

  it('is there for those who are in it through another group, and absent for everybody else', async () => {
    const id = await made('Board matters')
    const listed = async (who: keyof typeof people) =>
      JSON.stringify((await call(who, 'GET', '/templates/v1/')).body).includes(id)
    expect([await listed('dana'), await listed('omar'), await listed('kim')]).toEqual([true, true, false])
    // An admin looks after it, and is offered it no more than others are.
    expect(await listed('sam')).toBe(true)
    const offers = async (who: 'kim' | 'dana' | 'sam') =>
      actionsOf((await service[who].says(words)).card).map(({ title }) => title)
    expect(await offers('dana')).toContain('Choose Board matters')
    for (const who of ['kim', 'sam'] as const) expect(await offers(who)).not.toContain('Choose Board matters')
    const { card } = await service.kim.says(`${words} Board matters`)
    expect(textOf(card)).toContain('Board matters')
    expect(actionsOf(card).map(({ title }) => title)).not.toContain('Choose Board matters')
    const accepted = await call(as('dana'), 'POST', path, { body: bodyFor(id) })
    expect(accepted.status, accepted.text).toBe(202)
  })

  const asked = [
    ['a good body', {}],
    ['a body without an answer that it requires', { metadata: {} }],
    ['a body with a field that there is not', { colour: 'red' }],
    ['a body with a label', { labelId: 'x' }],
  ] as const
  it.each(asked)('answers a submission and a preview like an unknown one: %s', async (_, more) => {
    const [id, unknown] = [await made('Board matters'), randomUUID()]
    for (const who of ['kim', 'sam'] as const)
      for (const to of [path, '/requests/v1/preview']) {
        const answer = async (templateId: string) =>
          comparable(await call(as(who), 'POST', to, { body: bodyFor(templateId, more) }), templateId)
        const [hidden, none] = [await answer(id), await answer(unknown)]
        const neutral = (text: unknown) => JSON.stringify(text).replaceAll(/(board-|board )[0-9a-f]{8}/g, '$1')
        expect(neutral(hidden), `${who} ${to}`).toEqual(neutral(none))
        expect(neutral(hidden)).toContain(to === path ? '422' : 'unknown-template')
        expect(neutral(hidden)).not.toContain('Board matters')
      }
  })

  it('answers a look at it, and a click on a card that had it, like an unknown one', async () => {
    const [id, unknown] = [await made('Board matters'), randomUUID()]
    const read = async (templateId: string) =>
      comparable(await call('kim', 'GET', `/templates/v1/${templateId}`), templateId)
    expect(await read(id)).toEqual(await read(unknown))
    expect((await read(id)).status).toBe(404)
    const chosen = async (templateId: string) =>
      readsAfter(await service.kim.invokes('no-activity', 'request.choose', { templateId }))
    expect(await chosen(id)).toEqual(await chosen(unknown))
    expect(await chosen(id)).toContain('No longer offered')
  })

  it('takes no form that was opened before its person was taken out of the audience, nor a review of one', async () => {
    const inputs = { displayName: 'Too late', name: 'too-late', 'metadata.purpose': 'Deals', reason: 'So.' }
    for (const reviewed of [false, true]) {
      const id = await made(`Board ${reviewed}`, withKim)
      const opened = await service.kim.invokes('no-activity', 'request.choose', { templateId: id })
      const form = { id: 'no-activity', card: cardOf(opened) }
      expect(textOf(form.card)).toContain(`Board ${reviewed}`)
      const review = reviewed
        ? { id: 'no-activity', card: cardOf(await service.kim.clicks(form, 'Review', inputs)) }
        : form
      await changes(id, { audience: members })
      const title = reviewed ? 'Create' : 'Review'
      const said = readsAfter(await service.kim.clicks(review, title, reviewed ? {} : inputs))
      expect(said).toContain('No longer offered')
      expect(said).not.toContain(`Board ${reviewed}`)
      const mine = await call('kim', 'GET', '/requests/v1/')
      expect(JSON.stringify(mine.body)).not.toContain('Too late')
    }
  })

  it('which is switched off is nobody’s, and comes back with its audience', async () => {
    const id = await made('Board matters')
    const submitted = async () => (await call(as('dana'), 'POST', path, { body: bodyFor(id) })).status
    await changes(id, { active: false })
    expect(await submitted()).toBe(422)
    await changes(id, { active: true })
    expect(await submitted()).toBe(202)
  })
})
