import { z } from 'zod'
import { cards } from '../../cards/index.ts'
import { defineCardAction } from '../define-card-action.ts'
import type { Reply, Turn } from '../turn.ts'

/** Asks before what silent processes were at is taken over; where none is silent any more, how all does. */
export const examineProcesses = defineCardAction({
  verb: 'admin.processes',
  forAdmins: true,
  data: z.object({}),
  async handle(turn) {
    const silent = await turn.provisioning.admin.silentProcesses(turn.actor)
    return silent.length === 0 ? showHealth(turn) : { card: cards.adminTakeover(silent, turn.viewer) }
  },
})

/** Takes over what silent processes were at, and shows how all does. Whoever clicks a second time finds it done. */
export const takeOverAsAdmin = defineCardAction({
  verb: 'admin.takeover',
  forAdmins: true,
  data: z.object({}),
  async handle(turn) {
    await turn.provisioning.admin.takeOver(turn.actor)
    return showHealth(turn)
  },
})

/** How the service and what it needs do just now. */
export async function showHealth({ provisioning, actor, viewer }: Turn): Promise<Reply> {
  return { card: cards.adminHealth(await provisioning.admin.health(actor), viewer) }
}
