import { z } from 'zod'
import { cardsFor, type Viewer } from '../../cards/index.ts'
import { type Period, type PeriodName, periodOf, periodOfDays } from '../../core/index.ts'
import { isForAdmins, type Reply, type Turn } from '../channel/turn.ts'
import { parseDay } from '../channel/typed-arguments.ts'
import { defineCardAction, defineCommand, defineShowCommand, showNotice } from '../define.ts'

/** `admin health`: shows the health of the service and of the services that it needs. */
export const adminHealthCommand = defineShowCommand({
  name: 'admin health',
  forAdmins: true,
  show: async ({ core, actor, viewer }) => ({
    card: cardsFor(viewer).adminHealth(await core.readHealth(actor), viewer),
  }),
})

/** Whether the reader is an admin and there is no template yet. */
export const isAdminWithoutTemplates = async ({ core, actor }: Turn): Promise<boolean> =>
  isForAdmins(actor) && (await core.listTemplates(actor)).length === 0

/** Shows an admin what works, what is missing, and how to add the first template. */
export async function showGettingStarted({ core, actor, viewer }: Turn): Promise<Reply> {
  const [health, templates] = await Promise.all([core.readHealth(actor), core.listTemplates(actor)])
  return {
    card: cardsFor(viewer).firstDay({ displayName: actor.displayName, health, templates: templates.length }, viewer),
  }
}

/** Reads the certificate's file again, and shows the result on the health card. */
export const readCertificate = defineCardAction({
  verb: 'admin.certificate',
  forAdmins: true,
  data: z.object({}),
  async handle({ core, actor, viewer }) {
    const { reading, report } = await core.readCertificate(actor)
    return { card: cardsFor(viewer).adminHealth(report, viewer, reading) }
  },
})

/** `admin stats last week`: shows the requests, decisions and resources of a period; alone, of the last seven days. */
export const adminStatsCommand = defineCommand({
  name: 'admin stats',
  forAdmins: true,
  argument: z.string().max(100),
  handle: showStats,
  withoutValidArgument: async (turn) => showNotice(turn, { code: 'noPeriod' }),
})

async function showStats(turn: Turn, typed: string): Promise<Reply> {
  const { core, actor, viewer } = turn
  const period = parsePeriod(typed, viewer)
  if (!period) return showNotice(turn, { code: 'noPeriod' })
  return { card: cardsFor(viewer).adminStats(await core.readStats(actor, { period }), viewer) }
}

const periodNames: Readonly<Record<string, PeriodName>> = {
  '': 'week',
  week: 'week',
  'last 7 days': 'week',
  '7 days': 'week',
  month: 'month',
  'last 30 days': 'month',
  '30 days': 'month',
  'this week': 'thisWeek',
  'last week': 'lastWeek',
  'this month': 'thisMonth',
  'last month': 'lastMonth',
}

/**
 * Returns the period in a text: a name, one day, or two days such as `monday to friday`. Undefined if it starts in the
 * future.
 */
function parsePeriod(typed: string, viewer: Viewer): Period | undefined {
  const text = typed.trim().toLowerCase()
  const name = Object.hasOwn(periodNames, text) ? periodNames[text] : undefined
  if (name) return periodOf(name, viewer.now, viewer)
  const [one = '', other = one, ...more] = text.replace(/^from /, '').split(/\s+(?:to|until|till|-|–)\s+/)
  const [first, last, today] = [one, other, 'today'].map((day) => parseDay(day, viewer.now, viewer.timeZone))
  if (!first || !last || !today || more.length > 0 || first > last || first > today) return undefined
  return periodOfDays(first, last, viewer.now, viewer)
}
