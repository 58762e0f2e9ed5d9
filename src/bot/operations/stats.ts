import { z } from 'zod'
import { cards, type Viewer } from '../../cards/index.ts'
import { type Period, type PeriodName, periodOf, periodOfDays } from '../../core/index.ts'
import type { Reply, Turn } from '../channel/turn.ts'
import { parseDay } from '../channel/typed-arguments.ts'
import { defineCommand } from '../define-command.ts'

/** `admin stats last week`: the requests, decisions and resources of a period; alone, the last seven days. */
export const adminStatsCommand = defineCommand({
  words: 'admin stats',
  forAdmins: true,
  argument: z.string().max(100),
  async handle(turn, typed) {
    const period = periodMeant(typed, turn.viewer)
    return period ? show(turn, period) : notUnderstood(turn)
  },
  otherwise: async (turn) => notUnderstood(turn),
})

async function show({ core, actor, viewer }: Turn, period: Period): Promise<Reply> {
  return { card: cards.adminStats(await core.readStats(actor, { period }), viewer) }
}

const notUnderstood = ({ viewer }: Turn): Reply => ({ card: cards.notice({ code: 'noPeriod' }, viewer) })

const words: Readonly<Record<string, PeriodName>> = {
  ...{ '': 'week', week: 'week', 'last 7 days': 'week', '7 days': 'week' },
  ...{ month: 'month', 'last 30 days': 'month', '30 days': 'month' },
  ...{ 'this week': 'thisWeek', 'last week': 'lastWeek', 'this month': 'thisMonth', 'last month': 'lastMonth' },
}

/** The period that was typed: by its name, one day, or two with a word between them. Days that are to come are none. */
function periodMeant(typed: string, viewer: Viewer): Period | undefined {
  const text = typed.trim().toLowerCase()
  const name = Object.hasOwn(words, text) ? words[text] : undefined
  if (name) return periodOf(name, viewer.now, viewer)
  const [one = '', other = one, ...more] = text.replace(/^from /, '').split(/\s+(?:to|until|till|-|–)\s+/)
  const [first, last, today] = [one, other, 'today'].map((day) => parseDay(day, viewer.now, viewer.timeZone))
  if (!first || !last || !today || more.length > 0 || first > last || first > today) return undefined
  return periodOfDays(first, last, viewer.now, viewer)
}
