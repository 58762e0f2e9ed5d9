import { z } from 'zod'
import { type Attention, type Mend, referenceOf, type Stuck } from '../../core/index.ts'
import { rowOf, waitingRow } from '../requests/admin-queue.ts'
import { paged, pageOf } from '../shared/admin-pages.ts'
import { defineCard } from '../shared/define-card.ts'
import { format, strings } from '../shared/messages.ts'
import { cut, longest, time, type Viewer } from '../shared/words.ts'

export const adminStuckCard = defineCard({
  name: 'admin-stuck',
  data: z.strictObject({
    at: z.string(),
    heading: z.string(),
    requests: z.array(
      waitingRow.omit({ types: true, by: true, age: true }).extend({
        open: z.string(),
        /** Who asks for it, and how long it waits. */
        asks: z.string(),
        /** What is said of it beside its reason. */
        advice: z.string(),
        /** What mends it: our words, and the command that they type. Empty: nothing does, it only takes long. */
        buttons: z.array(z.strictObject({ title: z.string(), types: z.string() })),
      }),
    ),
    /** What to type to end one of them; `''`: there is none. */
    cancels: z.string(),
    isDirectorySilent: z.boolean(),
    /** How many jobs were given up; `''`: none. */
    jobs: z.string(),
    ...paged,
    /** Beyond those that were read. */
    older: z.string(),
  }),
})

/** What needs somebody, a page of it, each with what would mend it; and the jobs that were given up. */
export function adminStuckView(
  { count, entries, isDirectorySilent = false, deadLetters = 0 }: Stuck,
  viewer: Viewer,
  from = 0,
): Parameters<typeof adminStuckCard.render>[0] {
  const { shown, page } = pageOf(entries, from)
  const words = strings.stuck
  const [first] = shown
  return {
    at: time(viewer),
    heading: format(words.heading, { count }),
    requests: shown.map((entry) => {
      const { why, mends = ['look'] } = entry.attention ?? {}
      const { types: _, by: __, age, ...row } = rowOf(entry, viewer, longest.text)
      const { reference } = row
      const name = cut(entry.request.requester.displayName, longest.name)
      return {
        ...row,
        open: format(strings.list.open, { reference }),
        asks: format(words.asks, { name, age }),
        advice: adviceOf(why, mends[0]),
        buttons: mends.map((mend) => buttonOf(mend, reference)),
      }
    }),
    cancels: first ? format(words.type, { reference: referenceOf(first.request) }) : '',
    isDirectorySilent,
    jobs: deadLetters === 0 ? '' : format(strings.jobs.heading, { count: deadLetters }),
    ...page,
    older: count > entries.length ? format(words.older, { count: count - entries.length }) : '',
  }
}

function adviceOf(why: Attention['why'] | undefined, mend: Mend | undefined): string {
  if (mend === 'look') return strings.stuck.look
  return why === 'retrying' || why === 'late' ? strings.stuck[why] : ''
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
