import { z } from 'zod'
import type { SeenProcess } from '../core/index.ts'
import { defineCard } from './define-card.ts'
import { format, strings } from './messages.ts'
import { cut, longest, moment, quantity, type Viewer } from './words.ts'

/** As many processes as are named; the others are counted. */
const mostNamed = 6

export const adminTakeoverCard = defineCard({
  name: 'admin-takeover',
  data: z.strictObject({
    lead: z.string(),
    processes: z.array(z.strictObject({ name: z.string(), silent: z.string() })).min(1),
    /** How many are not named, or `''`. */
    more: z.string(),
  }),
})

/** Asks before the jobs of silent processes are taken over. */
export function adminTakeoverView(
  silent: readonly SeenProcess[],
  viewer: Viewer,
): Parameters<typeof adminTakeoverCard.render>[0] {
  const rest = silent.length - mostNamed
  return {
    lead: format(strings.takeover.lead, { count: silent.length }),
    processes: silent.slice(0, mostNamed).map(({ name, seenAt, startedAt }) => ({
      name: cut(name, longest.title),
      silent: format(strings.takeover.silent, {
        since: moment(seenAt.toISOString(), viewer, 'full'),
        started: moment(startedAt.toISOString(), viewer, 'full'),
      }),
    })),
    more: rest > 0 ? format(strings.takeover.others, { count: quantity(rest) }) : '',
  }
}
