import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { stats } from '../../src/core/index.ts'
import examples from '../../src/http/routes/operations/examples.json' with { type: 'json' }
import { alike } from '../support/alike.ts'
import { textOf } from '../support/cards.ts'
import { caller } from '../support/rest-caller.ts'
import { templates, withService } from '../support/service.ts'
import { until } from '../support/until.ts'

/** Removes the durations, which differ from run to run. */
const timeless = (value: unknown): unknown =>
  alike(JSON.parse(JSON.stringify(value, (key, member) => (['median', 'p95'].includes(key) ? '<seconds>' : member))))

describe('the statistics of a service in its first week', () => {
  const service = withService()
  const { call } = caller(service)
  const path = '/admin/v1/stats'

  it('are empty before the first request', async () => {
    const answer = await call('sam', 'GET', path)
    expect(answer.status).toBe(200)
    expect(stats.parse(answer.body).now).toMatchObject({ asked: 0, decided: 0, made: 0, failed: 0 })
    await service.sam.installs()
    expect(textOf((await service.sam.says('admin stats')).card ?? {})).toContain(
      'Nothing was requested, decided or created in this period.',
    )
  })

  it('equal the example after one requested, approved and created site', async () => {
    const body = {
      ...{ displayName: 'Apollo', templateId: templates.projectSite },
      metadata: { costCentre: '4711', audience: 'internal' },
    }
    const accepted = await call('kim', 'POST', '/collab/v1/spo/', { body })
    const { requestId } = z.object({ requestId: z.uuid() }).parse(accepted.body)
    expect((await call('dana', 'POST', `/requests/v1/${requestId}/approve`, { body: {} })).status).toBe(200)
    const made = async () => stats.parse((await call('sam', 'GET', path)).body).now.made === 1 || undefined
    await until(made, 'that it is made')
    for (const period of ['', '?period=week', '?period=month']) {
      const answer = await call('sam', 'GET', `${path}${period}`)
      const example = examples.readStats.week.answer
      const expected = { ...example, period: period === '?period=month' ? 'month' : 'week' }
      expect(timeless(answer.body)).toEqual(timeless(expected))
    }
  })

  it.each([
    ['admin stats', 'Last 7 days'],
    ['admin stats month', 'Last 30 days'],
    ['ADMIN STATS This Week', 'This week'],
    ['admin stats today', 'Stats'],
    ['admin stats 2026-01-01 to today', 'Stats'],
    ['admin stats diese Woche', 'This week'],
    ['admin stats 2026-01-01 bis heute', 'Stats'],
    ['admin stats 30 derniers jours', 'Last 30 days'],
    ['admin stats 1.1.2026 au 31 décembre 2099', 'Stats'],
    ['admin stats Este Mes', 'This month'],
    ['admin estadisticas del 1 de enero de 2026 al 31 de diciembre de 2099', 'Stats'],
  ])('are the same on the card of %s', async (typed, heading) => {
    const text = textOf((await service.sam.says(typed)).card ?? {})
    expect(text).toContain(heading)
    expect(text).toContain('1 approved, 0 rejected')
    expect(text).toContain('Project site')
  })

  it.each([
    'admin stats whenever',
    'admin stats today to 2026-01-01',
    'admin stats 2999-01-01',
    'admin stats constructor',
  ])('show how to type the command after %s', async (typed) => {
    expect(textOf((await service.sam.says(typed)).card ?? {})).toContain('Which period?')
  })

  it('are refused for an unknown period, which the error names', async () => {
    const answer = await call('sam', 'GET', `${path}?period=year`)
    expect(answer.status).toBe(422)
    expect(answer.text).toContain('period')
  })
})
