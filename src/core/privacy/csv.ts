/**
 * What a spreadsheet takes for the beginning of a formula (OWASP, "CSV Injection"; full-width signs count where they are typed): at the
 * beginning of a cell, also behind spaces that are cut off, and behind what another setting of the spreadsheet takes for the end of
 * one, also in quotes.
 */
const formula = /(^|[,;|\t\r\n])(?=[ \u00a0'"]*[=+\-@＝＋－＠]|'*[\t\r])/g

/** A text as a cell (RFC 4180 §2): always in quotes, and never a formula. */
export const csvCell = (text: string): string => `"${text.replace(formula, "$1'").replaceAll('"', '""')}"`

/** One line of a table, with its end. */
export const csvLine = (cells: readonly string[]): string => `${cells.map(csvCell).join(',')}\r\n`

/** What stands before the first line: Excel takes a file for UTF-8 by its first bytes alone. */
export const byteOrderMark = '\ufeff'
