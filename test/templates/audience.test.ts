import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import strings from '../../cards/strings/en.json' with { type: 'json' }
import { actionsOf, textOf } from '../support/cards.ts'
import { caller } from '../support/rest-caller.ts'
import { withService } from '../support/service.ts'
import { cardOf, readsAfter } from '../support/site-request.ts'
import { people } from '../support/teams-user.ts'

/** A group with Dana and Omar, through the group of the site approvers, and without Kim. */
const partnerBoard = '22222222-bbbb-4bbb-8bbb-000000000004'
/** A group with Kim. */
const zurichStaff = '22222222-bbbb-4bbb-8bbb-000000000003'
const members = { people: [], groups: [partnerBoard] }
const withKim = { people: [], groups: [partnerBoard, zurichStaff] }
const kinds = [
  { kind: 'teamSite', api: 'collab', path: '/collab/v1/spo/', command: 'new site' },
  { kind: 'sharedMailbox', api: 'mail', path: '/mail/v1/mailboxes/', command: 'new shared mailbox' },
] as const

describe.each(kinds)('a template of $kind for a group', ({ kind, api, path, command }) => {
  const service = withService()
  const { call } = caller(service)
  const as = (who: keyof typeof people) => ({
    scope: `${service.app.url}/${api}/App.ReadWrite.All`,
    userId: people[who].id,
  })

  /** Creates a template for this audience; returns its id. */
  async function created(name: string, audience: object = members): Promise<string> {
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
  /** Returns an answer without the parts that differ between calls. */
  const comparable = ({ status, body }: { status: number; body: unknown }, id: string) => {
    const shown = JSON.parse(JSON.stringify(body).replaceAll(id, '<id>'))
    return { status, body: { ...shown, traceId: '', requestId: '' } }
  }

  it('is visible to members of nested groups, and hidden from everybody else', async () => {
    const id = await created('Board matters')
    const listed = async (who: keyof typeof people) =>
      JSON.stringify((await call(who, 'GET', '/templates/v1/')).body).includes(id)
    expect([await listed('dana'), await listed('omar'), await listed('kim')]).toEqual([true, true, false])
    // An admin sees it in the list, but cannot request from it.
    expect(await listed('sam')).toBe(true)
    const offers = async (who: 'kim' | 'dana' | 'sam') =>
      actionsOf((await service[who].says(command)).card).map(({ title }) => title)
    expect(await offers('dana')).toContain('Choose Board matters')
    for (const who of ['kim', 'sam'] as const) expect(await offers(who)).not.toContain('Choose Board matters')
    const { card } = await service.kim.says(`${command} Board matters`)
    expect(textOf(card)).toContain('Board matters')
    expect(actionsOf(card).map(({ title }) => title)).not.toContain('Choose Board matters')
    const accepted = await call(as('dana'), 'POST', path, { body: bodyFor(id) })
    expect(accepted.status, accepted.text).toBe(202)
  })

  const bodies = [
    ['a valid body', {}],
    ['a body without a required answer', { metadata: {} }],
    ['a body with an unknown field', { colour: 'red' }],
    ['a body with a label', { labelId: 'x' }],
  ] as const
  it.each(bodies)('answers others as if it did not exist, on submission and preview: %s', async (_, more) => {
    const [id, unknown] = [await created('Board matters'), randomUUID()]
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

  it('answers others as if it did not exist, when they read it or click on a card with it', async () => {
    const [id, unknown] = [await created('Board matters'), randomUUID()]
    const read = async (templateId: string) =>
      comparable(await call('kim', 'GET', `/templates/v1/${templateId}`), templateId)
    expect(await read(id)).toEqual(await read(unknown))
    expect((await read(id)).status).toBe(404)
    const chosen = async (templateId: string) =>
      readsAfter(await service.kim.invokes('no-activity', 'request.choose', { templateId }))
    expect(await chosen(id)).toEqual(await chosen(unknown))
    expect(await chosen(id)).toContain('Template not available')
  })

  it('refuses open forms and reviews of a person who has left the audience', async () => {
    const inputs = { displayName: 'Too late', name: 'too-late', 'metadata.purpose': 'Deals', reason: 'So.' }
    for (const reviewed of [false, true]) {
      const id = await created(`Board ${reviewed}`, withKim)
      const opened = await service.kim.invokes('no-activity', 'request.choose', { templateId: id })
      const form = { id: 'no-activity', card: cardOf(opened) }
      expect(textOf(form.card)).toContain(`Board ${reviewed}`)
      const review = reviewed
        ? { id: 'no-activity', card: cardOf(await service.kim.clicks(form, 'Review', inputs)) }
        : form
      await changes(id, { audience: members })
      const title = reviewed ? 'Create' : 'Review'
      const answer = readsAfter(await service.kim.clicks(review, title, reviewed ? {} : inputs))
      // A form keeps the typed text, so only a message says it.
      expect(answer).toContain(reviewed ? 'Template not available' : strings.toast.templateGone)
      expect(answer).not.toContain(`Board ${reviewed}`)
      const mine = await call('kim', 'GET', '/requests/v1/')
      expect(JSON.stringify(mine.body)).not.toContain('Too late')
    }
  })

  it('is hidden from everybody while disabled, and keeps its audience', async () => {
    const id = await created('Board matters')
    const submitted = async () => (await call(as('dana'), 'POST', path, { body: bodyFor(id) })).status
    await changes(id, { active: false })
    expect(await submitted()).toBe(422)
    await changes(id, { active: true })
    expect(await submitted()).toBe(202)
  })
})
