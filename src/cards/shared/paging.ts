import { z } from 'zod'
import { format, strings } from './messages.ts'

/** The rows of one page of a list for admins. */
export const rowsOfAdminPage = 6

/** The page of a card: its range of rows, `''` if it shows all, and the first rows of the previous and next pages. */
export const paged = {
  range: z.string(),
  hasPrevious: z.boolean(),
  previous: z.int(),
  hasNext: z.boolean(),
  next: z.int(),
}

/** The page that has the row `from`, which may be any number; the last page if there are fewer rows. */
export function pageOf<T>(rows: readonly T[], from: number, size: number = rowsOfAdminPage) {
  const last = Math.max(0, Math.ceil(rows.length / size) - 1)
  const start = Math.min(Math.floor(from / size), last) * size
  const shown = rows.slice(start, start + size)
  return { shown, page: pagesAround(start, shown.length, rows.length, size) }
}

/** The rows of a page: "7–12 of 30", or "30 of 30" for one row. */
export const rangeOf = (from: number, to: number, total: number, written: (count: number) => string = String): string =>
  format(from === to ? strings.list.shows.one : strings.list.shows.range, {
    from: written(from),
    to: written(to),
    total: written(total),
  })

/**
 * The previous and next pages of the page with `count` rows from `from`. The range is "7–12 of 30", or `''` for the only
 * page.
 */
export function pagesAround(from: number, count: number, total: number, size: number = rowsOfAdminPage) {
  const next = from + count
  return {
    range: from > 0 || next < total ? rangeOf(from + 1, next, total) : '',
    hasPrevious: from > 0,
    previous: Math.max(0, from - size),
    hasNext: next < total,
    next,
  }
}
