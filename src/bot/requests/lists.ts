import { z } from 'zod'
import { cards, rowsOfPage } from '../../cards/index.ts'
import type { PageAt } from '../../core/index.ts'
import type { Reply, Turn } from '../channel/turn.ts'
import { defineCardAction } from '../define-card-action.ts'

/** The number of the request at the edge of the page that the click was on. */
const edge = z.coerce.number().int().min(0).max(999_999_999).optional()
const data = z.object({ before: edge, after: edge })

/** Turns the page of one's own requests; the card changes in place. */
export const pageRequests = defineCardAction({ verb: 'requests.page', data, handle: showMine })

/** The same for what waits for one's decision. */
export const pageApprovals = defineCardAction({ verb: 'approvals.page', data, handle: showApprovals })

/** A page of the person's own requests, the newest without `at`. */
export async function showMine({ core, actor, viewer }: Turn, at: PageAt = {}): Promise<Reply> {
  const page = await core.pageOfOwnRequests(actor, { limit: rowsOfPage, ...at })
  if (page.requests.length === 0) return { card: cards.notice({ code: 'noRequests' }, viewer) }
  return { card: cards.myRequests(page, viewer) }
}

/** A page of what waits for the person's decision, the newest without `at`. */
export async function showApprovals({ core, actor, viewer }: Turn, at: PageAt = {}): Promise<Reply> {
  const [page, { own }] = await Promise.all([
    core.pageOfApprovals(actor, { limit: rowsOfPage, ...at }),
    core.readDelegations(actor),
  ])
  if (page.requests.length === 0) return { card: cards.notice({ code: 'noApprovals' }, viewer) }
  return { card: cards.approvals(page, viewer, own) }
}
