import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { dayAfter } from '../../src/core/index.ts'
import { textOf } from '../support/cards.ts'
import { caller } from '../support/rest-caller.ts'
import { labels, templates, withService } from '../support/service.ts'
import { cardOf, opens } from '../support/site-request.ts'
import { people } from '../support/teams-user.ts'

const problem = z.object({ errors: z.array(z.object({ pointer: z.string(), code: z.string(), detail: z.string() })) })
const made = z.object({ request: z.object({ requestId: z.uuid() }).optional(), requestId: z.uuid().optional() })

const mailTeam = '77777777-dddd-4ddd-8ddd-000000000001'

describe('reserved names', () => {
  const service = withService({ PLAYGROUND: 'off' })
  const post = async (path: '/mail/v1/mailboxes/' | '/collab/v1/spo/' | '/collab/v1/spo/batches/', body: unknown) => {
    const scope = `${service.app.url}${path.slice(0, path.indexOf('/', 1))}/App.ReadWrite.All`
    return caller(service).call({ scope, userId: people.kim.id }, 'POST', path, { body })
  }
  const refusedAt = async (path: '/mail/v1/mailboxes/' | '/collab/v1/spo/', body: object) => {
    const { status, body: answer } = await post(path, body)
    expect(status, JSON.stringify(answer)).toBe(422)
    return problem.parse(answer).errors.map(({ pointer, code }) => `${pointer} ${code}`)
  }
  const site = { templateId: templates.newsSite, displayName: 'News', labelId: labels.internal }

  it('are refused by REST as the address of a site, typed or derived, with any separator', async () => {
    expect(await refusedAt('/collab/v1/spo/', { ...site, alias: 'Web_Master' })).toEqual(['#/alias reserved-name'])
    expect(await refusedAt('/collab/v1/spo/', { ...site, displayName: 'Sécurity' })).toEqual(['#/alias reserved-name'])
  })

  it('are refused in a row of a batch, without an effect on other rows', async () => {
    const rows = ['noc', 'night-watch'].map((alias) => ({ key: alias, body: { ...site, alias } }))
    const batch = { dryRun: true, resource: 'site', rows }
    const { status, body } = await caller(service).call('kim', 'POST', '/requests/v1/batch', { body: batch })
    expect(status, JSON.stringify(body)).toBe(200)
    expect(JSON.stringify(body)).toContain('"code":"reserved-name"')
    expect(JSON.stringify(body)).not.toContain('night-watch is reserved')
  })

  it('are accepted by a template that allows them, and a template cannot allow names that are not reserved', async () => {
    const put = (allowReservedNames: string[]) => {
      const body = { kind: 'sharedMailbox', name: 'Mail team', naming: { allowReservedNames } }
      const headers = { 'if-none-match': '*' }
      return caller(service).call('sam', 'PUT', `/templates/v1/${mailTeam}`, { body, headers })
    }
    const wrong = await put(['postmaster', 'sales'])
    expect([wrong.status, problem.parse(wrong.body).errors]).toMatchObject([
      422,
      [{ pointer: '#/naming/allowReservedNames/1', detail: expect.stringContaining('sales is not reserved') }],
    ])
    expect((await put(['postmaster'])).status).toBe(201)
    const wanted = { templateId: mailTeam, displayName: 'Mail' }
    expect((await post('/mail/v1/mailboxes/', { ...wanted, name: 'postmaster' })).status).toBe(202)
    const others = { ...wanted, name: 'hostmaster', alias: 'host-master@contoso-labs.example' }
    expect(await refusedAt('/mail/v1/mailboxes/', others)).toEqual(['#/name reserved-name', '#/alias reserved-name'])
    const chain = await caller(service).call('sam', 'GET', `/templates/v1/${mailTeam}`)
    expect(chain.text).toContain('"allowReservedNames":["postmaster"]')
  })

  it('and a former address are refused; the latter with the day from which it is free', async () => {
    await service.account('omar', 'deleted')
    const wanted = { templateId: mailTeam, displayName: 'Omar', name: 'omar' }
    const { status, body } = await post('/mail/v1/mailboxes/', wanted)
    const day = dayAfter(new Date().toISOString().slice(0, 10), 365)
    expect([status, problem.parse(body).errors]).toMatchObject([
      422,
      [
        {
          pointer: '#/name',
          code: 'former-address',
          detail: expect.stringContaining(`The address is free from ${day.slice(0, 7)}`),
        },
      ],
    ])
    await service.account('omar', 'active')
  })

  it('are accepted if the policy derives another address from them', async () => {
    const room = { templateId: templates.meetingRoom, displayName: 'Admin', name: 'admin' }
    const { status, body } = await post('/mail/v1/mailboxes/', room)
    expect([status, made.safeParse(body).success]).toEqual([202, true])
  })

  it('are refused in chat, at the check of the name and at the review', async () => {
    const { id, card } = await opens(service.kim, 'news')
    const inputs = { displayName: 'Post', alias: 'post-master', reason: 'x' }
    const refusal = 'post-master is reserved for mail administration. Choose another name, such as post-master-news.'
    const checked = cardOf(await service.kim.clicks({ id, card }, 'Check name', inputs))
    expect(textOf(checked)).toContain(refusal)
    expect(textOf(cardOf(await service.kim.clicks({ id, card: checked }, 'Review', inputs)))).toContain(refusal)
  })
})
