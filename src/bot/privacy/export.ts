import { z } from 'zod'
import { cards } from '../../cards/index.ts'
import { type Days, type Fault, ProvisioningError } from '../../core/index.ts'
import type { Reply, Turn } from '../channel/turn.ts'
import { defineCardAction } from '../define-card-action.ts'

/** What an input gives; what is no text was not given. */
const day = z
  .string()
  .catch('')
  .transform((text) => text.trim())

/** Makes the links; the form comes back with what is wrong. */
export const exportAsAdmin = defineCardAction({
  verb: 'admin.export',
  forAdmins: true,
  data: z.object({ from: day, to: day }),
  handle: (turn, days) => exportOf(turn, days),
})

/** The form; `typed`: what was said that is no days. */
export async function exportForm(
  { viewer }: Pick<Turn, 'viewer'>,
  {
    days = monthUntil(viewer.now),
    typed = '',
    faults = [],
  }: { days?: Days; typed?: string; faults?: readonly Fault[] } = {},
): Promise<Reply> {
  return { card: cards.adminExport({ step: 'form', days, typed, faults }, viewer) }
}

/** What is asked for most: this month, until today, by UTC. */
function monthUntil(now: Date): Days {
  const to = now.toISOString().slice(0, 10)
  return { from: `${to.slice(0, 8)}01`, to }
}

/** The links of these days, or the form with what is wrong with them. */
export async function exportOf(turn: Turn, days: Days): Promise<Reply> {
  try {
    const offer = await turn.core.offerExport(turn.actor, days)
    return { card: cards.adminExport({ step: 'links', offer }, turn.viewer) }
  } catch (error) {
    if (!(error instanceof ProvisioningError) || error.code !== 'validation-failed') throw error
    return exportForm(turn, { days, faults: error.faults })
  }
}
