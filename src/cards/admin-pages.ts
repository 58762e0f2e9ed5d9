import { z } from 'zod'

/** The rows of one page of a list for admins. */
export const rowsOfAdminPage = 6

/** What a card with pages says of its page: which rows of how many it shows, and where the pages beside it begin. */
export const paged = {
  shownFrom: z.int(),
  shownTo: z.int(),
  total: z.int(),
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
    shownFrom: shown.length === 0 ? 0 : start + 1,
    shownTo: end,
    total: rows.length,
    hasPrevious: start > 0,
    previous: Math.max(0, start - rowsOfAdminPage),
    hasNext: end < rows.length,
    next: end,
  }
  return { shown, page }
}
