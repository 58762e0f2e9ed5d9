import { z } from 'zod'
import type { DelegationPage } from '../../core/index.ts'
import { paged, rangeText, rowsOfAdminPage } from '../shared/admin-pages.ts'
import { defineCard } from '../shared/define-card.ts'
import { format, strings } from '../shared/messages.ts'
import { cut, lastDay, longest, moment, time, type Viewer } from '../shared/words.ts'

export const adminDelegationsCard = defineCard({
  name: 'admin-delegations',
  data: z.strictObject({
    at: z.string(),
    /** Who is away, and who decides for them until when. */
    rows: z
      .array(
        z.strictObject({
          name: z.string(),
          decides: z.string(),
          /** Their sign-in names, and since when. */
          who: z.string(),
        }),
      )
      .max(rowsOfAdminPage),
    isEmpty: z.boolean(),
    ...paged,
  }),
})

/** The delegations that run now, the first to end first. Two people can have one name, so sign-in names are shown too. */
export function adminDelegationsView(
  { delegations, from, total }: DelegationPage,
  viewer: Viewer,
): Parameters<typeof adminDelegationsCard.render>[0] {
  const end = from + delegations.length
  return {
    at: time(viewer),
    rows: delegations.map((one) => ({
      name: cut(one.person.displayName, longest.name),
      decides: format(strings.delegations.decides, {
        name: cut(one.delegate.displayName, longest.name),
        date: lastDay(one.until, viewer),
      }),
      who: format(strings.delegations.who, {
        address: cut(one.person.userPrincipalName, longest.address),
        delegate: cut(one.delegate.userPrincipalName, longest.address),
        date: moment(one.from, viewer, 'day'),
      }),
    })),
    isEmpty: total === 0,
    range: rangeText(from, end, total),
    hasPrevious: from > 0,
    previous: Math.max(0, from - rowsOfAdminPage),
    hasNext: end < total,
    next: end,
  }
}
