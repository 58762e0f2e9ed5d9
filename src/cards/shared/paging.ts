import { z } from 'zod'
import { format, strings } from './messages.ts'

/** The rows of one page of a list for admins. */
export const rowsOfAdminPage = 6

/** What a card with pages says of its page: which rows of how many it shows, unless it shows all, and where the pages beside it begin. */
export const paged = {
  range: z.string(),
  hasPrevious: z.boolean(),
  previous: z.int(),
  hasNext: z.boolean(),
  next: z.int(),
}

/** The page that has the row `from`, which may be anything; the last one where there are fewer rows. */
export function pageOf<T>(rows: readonly T[], from: number) {
  const last = Math.max(0, Math.ceil(rows.length / rowsOfAdminPage) - 1)
  const start = Math.min(Math.floor(from / rowsOfAdminPage), last) * rowsOfAdminPage
  const shown = rows.slice(start, start + rowsOfAdminPage)
  const end = start + shown.length
  const page = {
    range: rangeText(start, end, rows.length),
    hasPrevious: start > 0,
    previous: Math.max(0, start - rowsOfAdminPage),
    hasNext: end < rows.length,
    next: end,
  }
  return { shown, page }
}

/** "7–12 of 30"; `''` when there is only this page. `start`: how many rows stand before it. */
export const rangeText = (start: number, end: number, total: number): string =>
  start > 0 || end < total ? format(strings.list.shows.range, { from: start + 1, to: end, total }) : ''
