import type { Request } from '../../core/index.ts'
import type { CardJson } from '../shared/literal.ts'
import { shownState } from '../shared/look.ts'
import { firstThatFits } from '../shared/render.ts'
import { longest, type Viewer } from '../shared/words.ts'
import { checkRowsOf } from './checks.ts'
import { requestStatusCard, requestStatusView } from './request-card.ts'
import { type Timeline, timelineRooms, timelineView } from './timeline.ts'

/** What is told of each check, in characters, when the card would be too large otherwise. */
const shorter = [longest.text, 100, 40, 0]

/** The card; of a resource with much that is wrong, less is told of each check, and of a long timeline less of that. */
export function renderRequestStatus(request: Request, viewer: Viewer, known?: Timeline): CardJson {
  const view = requestStatusView(request, viewer, known)
  const views = timelineRooms.flatMap((room) =>
    shorter.map((most) => ({
      ...view,
      timeline: timelineView(known, viewer, room),
      checks: checkRowsOf(request, shownState(request), viewer, most),
    })),
  )
  return firstThatFits([view, ...views].map((one) => () => requestStatusCard.render(one)))
}
