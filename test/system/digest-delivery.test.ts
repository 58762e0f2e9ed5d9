import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { turns } from '../../src/jobs/index.ts'
import { actionsOf, textOf } from '../support/cards.ts'
import { typedBy } from '../support/health-card.ts'
import { templates, withService } from '../support/service.ts'
import { decisionAbout, readsAfter } from '../support/site-request.ts'
import type { TeamsUser } from '../support/teams-user.ts'
import { until } from '../support/until.ts'

const metadata = { costCentre: '4711', audience: 'internal' }

/**
 * The chats are in Zurich, an hour ahead of Greenwich in November. A restart of the service runs the digest job now.
 */
describe('the daily digest, with the queue and real cards over several days', () => {
  beforeAll(() => {
    vi.useFakeTimers({ toFake: ['Date'] })
    vi.setSystemTime('2026-11-26T10:00:00Z')
  })
  afterAll(() => {
    vi.useRealTimers()
  })
  const service = withService({ DIGEST_HOUR: '8' }, () => ({ reachMinutes: 100_000 }))
  const becomes = async (moment: string) => {
    vi.setSystemTime(moment)
    await service.restart()
    const { schema } = service.app.database.queueConnection
    const turn = Math.floor(Date.now() / turns.digest.length)
    // The service orders the job of this turn shortly after its start. The job orders the summaries.
    await until(async () => {
      const { rows } = await service.app.database.query<{ ended: number; open: number }>(
        `SELECT count(*) FILTER (WHERE name = 'digest' AND data ->> 'turn' = $1 AND state = 'completed')::int AS ended,
           count(*) FILTER (WHERE state < 'completed')::int AS open
         FROM ${schema}.job WHERE name IN ('digest', 'tell')`,
        [String(turn)],
      )
      return (rows[0]?.ended === 1 && rows[0].open === 0) || undefined
    }, 'that all summaries are sent')
  }
  const digests = (user: TeamsUser) =>
    user.chat().filter(({ card }) => card && textOf(card).includes('you get this summary'))
  const asks = async (displayName: string) => {
    const body = { displayName, templateId: templates.projectSite, metadata }
    expect((await service.rest('kim', 'POST', '/collab/v1/spo/', body)).status).toBe(202)
    await decisionAbout(service.dana, displayName)
  }

  it('arrives on the next working morning, once, whatever restarts', async () => {
    const { dana } = service
    await dana.installs()
    await asks('Waits overnight')
    await becomes('2026-11-27T06:30:00Z')
    expect(digests(dana)).toEqual([])
    await becomes('2026-11-27T07:05:00Z')
    await becomes('2026-11-27T07:10:00Z')
    await becomes('2026-11-27T15:00:00Z')
    await becomes('2026-11-28T09:00:00Z')
    const [digest, ...more] = digests(dana)
    expect(more).toEqual([])
    const text = textOf(digest?.card ?? {})
    expect(text).toContain('Waits overnight\nFrom Kim Lee\nWaiting since yesterday')
    expect(actionsOf(digest?.card ?? {}).map(({ title }) => title)).toContain('Decide')
  })

  it('links to the decision, and its Refresh updates it', async () => {
    const { dana } = service
    const [digest] = digests(dana)
    if (!digest) throw new Error('there is no summary')
    const form = await dana.says(typedBy(digest.card ?? {}, 'Decide'))
    expect(readsAfter(await dana.clicks(form, 'Approve', { comment: '' }))).toContain('Approved by you')
    expect(readsAfter(await dana.clicks(digest, 'Refresh'))).toContain('Nothing needs your attention')
  })

  it('is disabled on the card, and enabled by a command', async () => {
    const { dana } = service
    await asks('Over the weekend')
    const before = digests(dana).length
    expect(textOf((await dana.says('digest')).card)).toContain('Your daily summary is on')
    for (const text of ['digest off', 'digest an', 'résumé désactivé', 'resumen sí', 'digest aus'])
      expect(textOf((await dana.says(text)).card), text).toContain(
        `Your daily summary is ${/an|sí/.test(text) ? 'on' : 'off'}`,
      )
    await becomes('2026-11-30T08:00:00Z')
    expect(digests(dana).length).toBe(before)
    const now = await dana.says('DIGEST On')
    expect(textOf(now.card)).toContain('Your daily summary is on')
    await becomes('2026-12-01T08:00:00Z')
    expect(digests(dana).length).toBe(before + 1)
    const latest = digests(dana).at(-1)
    if (!latest) throw new Error('there is no summary')
    expect(textOf(latest.card ?? {})).toContain('Over the weekend')
    expect(readsAfter(await dana.clicks(latest, 'Disable'))).toContain('Your daily summary is off')
  })
})
