import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, it } from 'vitest'
import { engines, newDatabaseUrl } from '../support/database.ts'
import { caller } from '../support/rest-caller.ts'
import { rowsOf } from '../support/rows.ts'
import { templates, withService } from '../support/service.ts'
import { seconds } from '../support/until.ts'

/** The long run has 200 rounds (`npm run test:mutations`). */
const rounds = Number(process.env['MUTATIONS'] ?? 0) >= 1000 ? 200 : 5
const atOnce = 50
const tally = (words: readonly (string | number)[]): Record<string, number> => {
  const counts: Record<string, number> = {}
  for (const word of words) counts[word] = (counts[word] ?? 0) + 1
  return counts
}

describe.each(engines)(`${atOnce} equal concurrent POSTs, ${rounds} rounds, %s,`, (engine) => {
  const variables: Record<string, string> = {}
  if (engine === 'server')
    beforeAll(async () => {
      variables['DATABASE_URL'] = await newDatabaseUrl()
    })
  const service = withService(variables)
  const { call, problem } = caller(service)
  const { count } = rowsOf(service)
  const body = (alias: string) => ({
    ...{ displayName: `Equal ${alias}`, alias, templateId: templates.projectSite },
    metadata: { costCentre: '4711', audience: 'internal' },
  })
  const post = (alias: string, headers: Record<string, string> = {}, query = '') =>
    call('kim', 'POST', `/collab/v1/spo${query || '/'}`, { body: body(alias), headers })
  /** Repeats a call that found no free slot for Microsoft 365, as its answer requires. */
  const insistently = async (alias: string, query = ''): ReturnType<typeof post> => {
    for (;;) {
      const answer = await post(alias, {}, query)
      if (answer.status !== 503) return answer
      expect(problem(answer)).toMatchObject({ code: 'unavailable' })
      await seconds(0.1)
    }
  }
  const together = (ask: () => ReturnType<typeof post>) => Promise.all(Array.from({ length: atOnce }, ask))
  const rowsAbout = async (alias: string): Promise<number> =>
    (
      await service.app.database.query<{ n: number }>(
        "select count(*)::int as n from requests where body ->> 'alias' = $1",
        [alias],
      )
    ).rows[0]?.n ?? 0

  it('with one key create one request, and every accepted call has the same answer', async () => {
    await post('warm-up')
    for (let round = 0; round < rounds; round += 1) {
      const [alias, key] = [`key-${engine}-${round}`, randomUUID()]
      const before = await count('requests')
      const answers = await together(() => post(alias, { 'idempotency-key': key }))
      const accepted = answers.filter(({ status }) => status === 202)
      expect(accepted.length).toBeGreaterThan(0)
      expect(new Set(accepted.map(({ text }) => text)).size).toBe(1)
      for (const answer of answers)
        if (answer.status !== 202)
          expect(problem(answer)).toMatchObject({ status: 409, code: 'idempotency-key-in-flight' })
      expect([await rowsAbout(alias), (await count('requests')) - before]).toEqual([1, 1])
      const late = await post(alias, { 'idempotency-key': key })
      expect([late.status, late.text]).toEqual([202, accepted[0]?.text])
    }
  }, 1_200_000)

  it.each([
    { what: 'without a key', query: '', reasons: ['duplicate-request', 'name-taken'] },
    { what: 'with ?another=true', query: '?another=true', reasons: ['name-taken'] },
  ])(
    'for one alias $what: one is accepted, 49 are refused with the reason',
    async ({ query, reasons }) => {
      for (let round = 0; round < rounds; round += 1) {
        const alias = `same-${query.length}-${engine}-${round}`
        const answers = await together(() => insistently(alias, query))
        expect(tally(answers.map(({ status }) => status))).toEqual({ 202: 1, 409: atOnce - 1 })
        for (const answer of answers.filter(({ status }) => status === 409)) {
          // A repeat before the first is stored loses the name. A later one is recognised as a repeat.
          const { code, errors } = problem(answer)
          expect(reasons).toContain(code)
          if (code === 'name-taken') expect(errors).toMatchObject([{ pointer: '#/alias' }])
        }
        expect(await rowsAbout(alias)).toBe(1)
        // After the first is stored, there is no race.
        expect(problem(await insistently(alias, query)).code).toBe(reasons[0])
      }
    },
    1_200_000,
  )
})
