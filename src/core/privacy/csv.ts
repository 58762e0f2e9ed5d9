import { type Options, stringify } from 'csv-stringify/sync'

/**
 * What a spreadsheet takes for the beginning of a formula (OWASP, "CSV Injection"; full-width signs count where they are typed): at the
 * beginning of a cell, also behind spaces that are cut off, and behind what another setting of the spreadsheet takes for the end of
 * one, also in quotes. The library's own protection looks at the first sign of a cell alone.
 */
const formula = /(^|[,;|\t\r\n])(?=[ \u00a0'"]*[=+\-@＝＋－＠]|'*[\t\r])/g

const layout: Options = {
  record_delimiter: 'windows',
  quoted: true,
  quoted_empty: true,
  cast: { string: (text) => text.replace(formula, "$1'") },
}

/** Lines of a table (RFC 4180 §2), each with its end: every cell is in quotes, and none is a formula. */
export const csvLines = (rows: readonly (readonly string[])[]): string => stringify([...rows], layout)

/** What stands before the first line: Excel takes a file for UTF-8 by its first bytes alone. */
export const byteOrderMark = '\ufeff'
