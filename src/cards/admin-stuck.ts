import { z } from 'zod'
import { type Mend, referenceOf, type Stuck } from '../core/index.ts'
import { paged, pageOf } from './admin-pages.ts'
import { rowOf, waitingRow } from './admin-queue.ts'
import { defineCard } from './define-card.ts'
import { format, strings } from './messages.ts'
import { longest, time, type Viewer } from './words.ts'

export const adminStuckCard = defineCard({
  name: 'admin-stuck',
  data: z.strictObject({
    at: z.string(),
    count: z.int(),
    heading: z.enum(['one', 'many', 'none']),
    requests: z.array(
      waitingRow.omit({ types: true }).extend({
        /** What is said of it beside its reason. */
        note: z.enum(['', 'look', 'retrying']),
        /** What mends it: our words, and the command that they type. */
        buttons: z.array(z.strictObject({ title: z.string(), types: z.string() })).min(1),
      }),
    ),
    /** The reference of the first of them; `''`: there is none. */
    first: z.string(),
    isDirectorySilent: z.boolean(),
    /** Jobs that were given up: none, one, or several. */
    jobs: z.enum(['none', 'one', 'many']),
    jobCount: z.int(),
    ...paged,
    /** Beyond those that were read. */
    older: z.int(),
  }),
})

/** What needs somebody, a page of it, each with what would mend it; and the jobs that were given up. */
export function adminStuckView(
  { count, entries, isDirectorySilent = false, deadLetters = 0 }: Stuck,
  viewer: Viewer,
  from = 0,
): Parameters<typeof adminStuckCard.render>[0] {
  const { shown, page } = pageOf(entries, from)
  return {
    at: time(viewer),
    count,
    heading: count === 0 ? 'none' : count === 1 ? 'one' : 'many',
    requests: shown.map((entry) => {
      const { why, mends = ['look'] } = entry.attention ?? {}
      const { types: _, ...row } = rowOf(entry, viewer, longest.text)
      const { reference } = row
      return {
        ...row,
        note: mends[0] === 'look' ? 'look' : why === 'retrying' ? 'retrying' : '',
        buttons: mends.map((mend) => buttonOf(mend, reference)),
      }
    }),
    first: shown[0] ? referenceOf(shown[0].request) : '',
    isDirectorySilent,
    jobs: deadLetters === 0 ? 'none' : deadLetters === 1 ? 'one' : 'many',
    jobCount: deadLetters,
    ...page,
    older: Math.max(0, count - entries.length),
  }
}

const titles = {
  retry: strings.button.retryReference,
  look: strings.button.lookReference,
  reassign: strings.button.askElse,
  override: strings.button.decideIt,
} as const satisfies Record<Mend, string>

const buttonOf = (mend: Mend, reference: string) => ({
  title: format(titles[mend], { reference }),
  types: format(strings.queue.types[mend], { reference }),
})
