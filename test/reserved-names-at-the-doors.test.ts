import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { textOf } from './support/cards.ts'
import { labels, templates, withService } from './support/service.ts'
import { cardOf, opens } from './support/site-request.ts'

const problem = z.object({ code: z.string(), errors: z.array(z.object({ pointer: z.string(), code: z.string() })) })

describe('names that certificate authorities, registrars and mail systems trust', () => {
  const service = withService({ PLAYGROUND: 'off' })
  const refusedAt = async (path: string, body: object) => {
    const { status, body: answer } = await service.rest('kim', 'POST', path, body)
    const { errors } = problem.parse(answer)
    return [status, ...errors.map(({ pointer, code }) => `${pointer} ${code}`)]
  }

  it('are refused over REST as the name, as the alias and as the address of a site', async () => {
    const mailbox = { templateId: templates.sharedMailbox, displayName: 'Mail' }
    const site = { templateId: templates.newsSite, displayName: 'News', labelId: labels.internal }
    expect(
      await refusedAt('/mail/v1/mailboxes/', { ...mailbox, name: 'mail', alias: 'host-master@contoso.example' }),
    ).toEqual([422, '#/alias reserved-name'])
    expect(await refusedAt('/collab/v1/spo/', { ...site, alias: 'Web_Master' })).toEqual([422, '#/alias reserved-name'])
    expect(await refusedAt('/collab/v1/spo/', { ...site, displayName: 'Sécurity' })).toEqual([
      422,
      '#/alias reserved-name',
    ])
  })

  it('are refused in chat, at the check of the name and at the review', async () => {
    const { id, card } = await opens(service.kim, 'news')
    const form = cardOf(
      await service.kim.clicks({ id, card }, 'Check name', { displayName: 'Post', alias: 'post-master' }),
    )
    expect(textOf(form)).toContain('post-master is reserved for mail administration')
    const again = cardOf(
      await service.kim.clicks({ id, card: form }, 'Review', {
        displayName: 'Post',
        alias: 'post-master',
        reason: 'x',
      }),
    )
    expect(textOf(again)).toContain('post-master is reserved for mail administration')
  })
})
