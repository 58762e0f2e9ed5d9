import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { textOf } from './support/cards.ts'
import { caller } from './support/rest-caller.ts'
import { labels, templates, withService } from './support/service.ts'
import { cardOf, opens } from './support/site-request.ts'
import { people } from './support/teams-user.ts'

const problem = z.object({ errors: z.array(z.object({ pointer: z.string(), code: z.string(), detail: z.string() })) })
const made = z.object({ request: z.object({ requestId: z.uuid() }).optional(), requestId: z.uuid().optional() })

describe('names that certificate authorities, registrars and mail systems trust', () => {
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
  const mailbox = { templateId: templates.sharedMailbox, displayName: 'Mail' }
  const site = { templateId: templates.newsSite, displayName: 'News', labelId: labels.internal }

  it('are refused over REST as an alias and as the address of a site, whatever separates their words', async () => {
    const alias = { ...mailbox, name: 'letters', alias: 'host-master@contoso.example' }
    expect(await refusedAt('/mail/v1/mailboxes/', alias)).toEqual(['#/alias reserved-name'])
    expect(await refusedAt('/collab/v1/spo/', { ...site, alias: 'Web_Master' })).toEqual(['#/alias reserved-name'])
    expect(await refusedAt('/collab/v1/spo/', { ...site, displayName: 'Sécurity' })).toEqual(['#/alias reserved-name'])
  })

  it('are given where the policy makes another address of them', async () => {
    const room = { templateId: templates.meetingRoom, displayName: 'Admin', name: 'admin' }
    const { status, body } = await post('/mail/v1/mailboxes/', room)
    expect([status, made.safeParse(body).success]).toEqual([202, true])
  })

  it('are refused in chat, at the check of the name and at the review', async () => {
    const { id, card } = await opens(service.kim, 'news')
    const inputs = { displayName: 'Post', alias: 'post-master', reason: 'x' }
    const said = 'post-master is reserved for mail administration. Choose another name, such as post-master-news.'
    const checked = cardOf(await service.kim.clicks({ id, card }, 'Check name', inputs))
    expect(textOf(checked)).toContain(said)
    expect(textOf(cardOf(await service.kim.clicks({ id, card: checked }, 'Review', inputs)))).toContain(said)
  })
})
