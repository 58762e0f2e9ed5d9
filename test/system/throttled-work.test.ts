import { expect, it } from 'vitest'
import { action, textOf } from '../support/cards.ts'
import { templates, withService } from '../support/service.ts'
import { people } from '../support/teams-user.ts'
import { seconds, until } from '../support/until.ts'

const service = withService({ ADMINS: people.sam.id })

it('a job that Graph throttles is stuck within a minute, with the reason and the next attempt; a retry completes it at once', async () => {
  const { sam } = service
  await sam.installs()
  await service.fault({ operation: 'graph.groups.upsert', kind: 'status429', retryAfter: 600, count: 100 })
  const wish = { templateId: templates.workingGroup, displayName: 'Throttled group' }
  const accepted = await service.rest('kim', 'POST', '/collab/v1/spo/', wish)
  const requestId = String(accepted.body['requestId'])
  const read = async () => (await service.rest('sam', 'GET', `/requests/v1/${requestId}`)).body
  const shown = await until(
    async () => {
      await seconds(2)
      const { card } = await sam.says('admin stuck')
      return textOf(card).includes('Throttled group') ? card : undefined
    },
    'the request in admin stuck',
    60,
  )
  expect(textOf(shown)).toMatch(/Retrying “.+” at (?:\d+ \w+, )?\d\d:\d\d, after (?:one attempt|\d attempts): .+/)
  const due = await service.app.queue.dueAt('provision', [requestId])
  expect(due.get(requestId)?.getTime()).toBeGreaterThan(Date.now())
  await service.heal()
  const retry = action(shown, `Retry ${(await read())['reference']}`)
  const confirm = await sam.says(String(retry.data['types']))
  await sam.clicks(confirm, 'Retry')
  await until(async () => ((await read())['status'] === 'succeeded' ? true : undefined), 'that the site is made')
  expect(textOf((await sam.says('admin stuck')).card)).not.toContain('Throttled group')
})
