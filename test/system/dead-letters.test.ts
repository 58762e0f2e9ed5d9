import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { textOf } from '../support/cards.ts'
import { templates, withService } from '../support/service.ts'
import { endPatience } from '../support/unreadable.ts'
import { until } from '../support/until.ts'

const answered = z.object({ value: z.array(z.object({ id: z.uuid(), job: z.string(), problem: z.string() })) })

describe('dead letters', () => {
  const service = withService()
  const list = async () => answered.parse((await service.rest('sam', 'GET', '/admin/v1/dead-letters/')).body).value
  /** Creates a job that cannot succeed: its payload has another version. */
  const giveUp = async (name: string, payload: object) => {
    const known = (await list()).length
    await service.app.queue.enqueue(name, { ...payload, v: 2 })
    const isGivenUp = async () => {
      await endPatience(service.app.database, name)
      return (await list()).length === known + 1 || undefined
    }
    await until(isGivenUp, `${name} to be given up`)
  }
  const siteOf = async (displayName: string) =>
    (await service.rest('kim', 'POST', '/collab/v1/spo/', { displayName, templateId: templates.openCommunity })).body

  it('are reported as "none" at first', async () => {
    expect(textOf((await service.sam.says('admin jobs')).card)).toContain('No failed jobs')
    expect(await list()).toEqual([])
  })

  it('are listed with their request and reason, and one is retried after a confirmation', async () => {
    const { requestId } = await siteOf('Letters')
    const { reference } = (await service.rest('kim', 'GET', `/requests/v1/${requestId}`)).body
    await giveUp('refresh-cards', { requestId, version: 1, cards: 'all' })
    const shown = await service.sam.says('admin jobs')
    const words = textOf(shown.card)
    for (const text of ['One failed job', 'Update cards', `${reference} · Letters`, 'at v'])
      expect(words).toContain(text)
    expect(textOf((await service.sam.says('admin health')).card)).toContain('Failed jobs: 1')
    const confirmation = await service.sam.clicks(shown, 'Retry or dismiss')
    expect(textOf(confirmation.card ?? {})).toContain('Retry this job?')
    expect(await list()).toHaveLength(1)
    const before = (await list())[0]?.id
    await service.sam.clicks({ id: shown.id, card: confirmation.card }, 'Retry')
    // The job fails again, so it returns as another dead letter.
    const isGivenUpAgain = async () => {
      await endPatience(service.app.database, 'refresh-cards')
      return (await list()).find(({ id }) => id !== before)
    }
    await until(isGivenUpAgain, 'it to be given up again')
    expect(await list()).toHaveLength(1)
    const { body } = await service.rest('sam', 'GET', `/requests/v1/${requestId}/timeline`)
    const lines = z.object({ value: z.array(z.object({ action: z.string(), actor: z.unknown() })) }).parse(body).value
    expect(lines.filter(({ action }) => action === 'replayed')).toMatchObject([{ actor: { displayName: 'Sam Roy' } }])
  })

  it('of a request that has continued without them need no action', async () => {
    const others = await list()
    const { requestId } = await siteOf('Went on')
    const status = async () => (await service.rest('kim', 'GET', `/requests/v1/${requestId}`)).body['status']
    await until(async () => (await status()) === 'succeeded' || undefined, 'the site')
    await service.app.queue.enqueue('provision', { requestId, v: 2 })
    const kept = () => service.app.queue.deadLetters.list()
    const isGivenUp = async () => {
      await endPatience(service.app.database, 'provision')
      return (await kept()).find(({ job }) => job === 'provision')
    }
    await until(isGivenUp, 'the job to be given up')
    expect(await list()).toEqual(others)
  })

  it('are dismissed one by one, by a click or by REST, which the timeline shows; the list can be emptied', async () => {
    const { requestId } = await siteOf('Dismissed')
    await giveUp('refresh-cards', { requestId, version: 1, cards: 'all' })
    await giveUp('refresh-cards', { requestId, version: 2, cards: 'all' })
    await giveUp('catch-up', { personId: randomUUID() })
    const before = await list()
    const shown = await service.sam.says('admin jobs')
    expect(textOf(shown.card)).toContain(`${before.length} failed jobs`)
    const confirmation = await service.sam.clicks(shown, 'Retry or dismiss')
    const left = await service.sam.clicks({ id: shown.id, card: confirmation.card }, 'Dismiss')
    expect(textOf(left.card ?? {})).toContain(`${before.length - 1} failed jobs`)
    const [first, ...others] = await list()
    const dismiss = (id = '') => service.rest('sam', 'POST', `/admin/v1/dead-letters/${id}/dismiss`)
    expect((await service.rest('kim', 'POST', `/admin/v1/dead-letters/${first?.id}/dismiss`)).status).toBe(403)
    const answers = await Promise.all([1, 2, 3].map(() => dismiss(first?.id)))
    expect(answers.map(({ status }) => status).sort()).toEqual([204, 404, 404])
    const kept = others.pop()
    for (const { id } of others) expect((await dismiss(id)).status).toBe(204)
    const { body } = await service.rest('sam', 'GET', `/requests/v1/${requestId}/timeline`)
    const lines = z.object({ value: z.array(z.object({ action: z.string(), actor: z.unknown() })) }).parse(body).value
    const dismissed = lines.filter(({ action }) => action === 'dismissed')
    expect(dismissed).toHaveLength(2)
    expect(dismissed[0]).toMatchObject({ actor: { displayName: 'Sam Roy' } })
    expect((await list()).map(({ id }) => id)).toEqual([kept?.id])
    expect(textOf((await service.sam.says('admin health')).card)).toContain('Failed jobs: 1')
  })

  it('without a request leave an entry of the organisation; those of a stopped batch can only be dismissed', async () => {
    for (const { id } of await list()) await service.rest('sam', 'POST', `/admin/v1/dead-letters/${id}/dismiss`)
    const acts = async () => {
      const { body } = await service.rest('sam', 'GET', '/audit/v1/organisation')
      const entries = z
        .array(z.object({ action: z.string(), data: z.object({ job: z.string() }) }))
        .parse(body['entries'])
      return entries.map(({ action, data }) => `${action} ${data.job}`)
    }
    const before = (await acts()).length
    await giveUp('catch-up', { personId: randomUUID() })
    const [one] = await list()
    expect((await service.rest('sam', 'POST', `/admin/v1/dead-letters/${one?.id}/replay`)).status).toBe(204)
    await until(async () => {
      await endPatience(service.app.database, 'catch-up')
      return (await list()).find(({ id }) => id !== one?.id)
    }, 'it to be given up again')
    const [again] = await list()
    expect((await service.rest('sam', 'POST', `/admin/v1/dead-letters/${again?.id}/dismiss`)).status).toBe(204)
    await giveUp('run-batch', { batchId: randomUUID(), turn: 0 })
    const [ofBatch] = await list()
    const refused = await service.rest('sam', 'POST', `/admin/v1/dead-letters/${ofBatch?.id}/replay`)
    expect([refused.status, refused.body['code']]).toEqual([409, 'illegal-transition'])
    const shown = await service.sam.says('admin jobs')
    const confirmation = await service.sam.clicks(shown, 'Retry or dismiss')
    expect(textOf(confirmation.card ?? {})).toContain('This job cannot be retried')
    const answer = await service.sam.invokes(shown.id, 'admin.replay', { letterId: ofBatch?.id })
    expect(textOf(answer.card ?? {})).toContain('This job cannot be retried')
    await service.sam.clicks({ id: shown.id, card: confirmation.card }, 'Dismiss')
    expect((await acts()).slice(before)).toEqual([
      'job-replayed catch-up',
      'job-dismissed catch-up',
      'job-dismissed run-batch',
    ])
    await giveUp('catch-up', { personId: randomUUID() })
  })

  it('are shown to admins only, and an unknown one is 404', async () => {
    expect((await service.rest('kim', 'GET', '/admin/v1/dead-letters/')).status).toBe(403)
    const [letter] = await list()
    expect((await service.rest('kim', 'POST', `/admin/v1/dead-letters/${letter?.id}/replay`)).status).toBe(403)
    expect((await service.rest('sam', 'POST', `/admin/v1/dead-letters/${randomUUID()}/replay`)).status).toBe(404)
    const answers = await Promise.all(
      [1, 2, 3].map(() => service.rest('sam', 'POST', `/admin/v1/dead-letters/${letter?.id}/replay`)),
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([204, 404, 404])
  })
})
