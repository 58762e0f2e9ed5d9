import { z } from 'zod'
import type { QueueEntry } from '../../core/index.ts'
import { rowOf, waitingRow } from '../requests/admin-queue.ts'
import { defineCard } from '../shared/define-card.ts'
import { format, strings } from '../shared/messages.ts'
import type { Viewer } from '../shared/words.ts'

const does = z.enum(['approve', 'reject', 'reassign', 'retry', 'cancel'])
/** What an admin wants to do with a request, before they have said with which. */
export type WhichFor = z.output<typeof does>

export const adminWhichCard = defineCard({
  name: 'admin-which',
  data: z.strictObject({
    does,
    isEmpty: z.boolean(),
    /** Each with the command that its row types. */
    requests: z.array(waitingRow.extend({ open: z.string() })),
    older: z.string(),
  }),
})

/** A list shows six rows. */
const mostRows = 6

/** How to type the command, and what waits for a decision: a row types it. `total`: how many wait. */
export function adminWhichView(
  does: WhichFor,
  { entries, total }: { readonly entries: readonly QueueEntry[]; readonly total: number },
  viewer: Viewer,
): Parameters<typeof adminWhichCard.render>[0] {
  const shown = entries.slice(0, mostRows).map((entry) => rowOf(entry, viewer, 120))
  const older = total - shown.length
  return {
    does,
    isEmpty: shown.length === 0,
    requests: shown.map((row) => ({
      ...row,
      open: format(strings.list.open, { reference: row.reference }),
      types: format(strings.which.types[does], { reference: row.reference }),
    })),
    older: older > 0 ? format(strings.which.older, { count: older }) : '',
  }
}
