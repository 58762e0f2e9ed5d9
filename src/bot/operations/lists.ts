import { z } from 'zod'
import { cards, rowsOfAdminPage } from '../../cards/index.ts'
import type { Reply, Turn } from '../channel/turn.ts'
import { defineCardAction } from '../define-card-action.ts'

const data = z.object({ from: z.coerce.number().int().min(0).max(999_999).default(0) })

/** Turns the page of all that is open; the card changes in place. */
export const pageQueue = defineCardAction({
  verb: 'admin.queue',
  forAdmins: true,
  data,
  handle: (turn, { from }) => showQueue(turn, from),
})

/** Turns the page of what is stuck; the card changes in place. */
export const pageStuck = defineCardAction({
  verb: 'admin.stuck',
  forAdmins: true,
  data,
  handle: (turn, { from }) => showStuck(turn, from),
})

/** Turns the page of the delegations that run; the card changes in place. */
export const pageDelegations = defineCardAction({
  verb: 'admin.delegations',
  forAdmins: true,
  data,
  handle: (turn, { from }) => showDelegations(turn, from),
})

/** A page of all that is open in the organisation. */
export async function showQueue({ core, actor, viewer }: Turn, from = 0): Promise<Reply> {
  return { card: cards.adminQueue(await core.readQueue(actor), viewer, from) }
}

/** A page of the stuck requests. */
export async function showStuck({ core, actor, viewer }: Turn, from = 0): Promise<Reply> {
  return { card: cards.adminStuck(await core.readStuck(actor), viewer, from) }
}

/** A page of the delegations that run now. */
export async function showDelegations({ core, actor, viewer }: Turn, from = 0): Promise<Reply> {
  const page = await core.listDelegations(actor, { from, most: rowsOfAdminPage })
  return { card: cards.adminDelegations(page, viewer) }
}
