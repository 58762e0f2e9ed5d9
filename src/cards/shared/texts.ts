import type { ApprovalStage, Decision, Person } from '../../core/index.ts'
import { format, locale, strings } from './messages.ts'

/** The reader of a card: their language, time zone and time, and the addresses of the organisation's sites. */
export interface Viewer {
  /** Entra object id. */
  readonly id: string
  /** The activity's `locale`, such as `en-GB`. It chooses the language of the card and of the template's texts. */
  readonly locale: string
  /** The activity's `localTimezone`: an IANA name, such as `Europe/Zurich`. */
  readonly timeZone: string
  readonly now: Date
  /** `https://contoso.sharepoint.com/sites/`: cards link only to addresses below it. */
  readonly siteRoot: string
  /** The other SharePoint hosts of a multi-geo tenant; links may lead there too. */
  readonly otherSiteOrigins?: readonly string[]
  /** `https://outlook.office.com/`: where mailboxes are opened. */
  readonly outlookRoot: string
  /** Admins read the error of Microsoft 365; everybody else reads our text for it. */
  readonly isAdmin?: boolean
  /** Whether the person's client shows pickers without the people chosen before. Teams shows these people. */
  readonly hidesChosen?: boolean
}

const segmenter = new Intl.Segmenter('en', { granularity: 'grapheme' })

/**
 * Cuts a text to at most `most` characters as people count them (graphemes), ending with `…`. A grapheme can have any number of
 * code units, so these are limited too. A text up to the length of a title becomes one line: a line break in a name could look
 * like another line of the card.
 */
export function cut(value: string, most: number): string {
  const text = most <= longest.title ? value.replace(lineBreaks, ' ') : value
  if (text.length <= most) return text
  let kept = ''
  let count = 0
  let end = ''
  for (const { segment } of segmenter.segment(text)) {
    count += 1
    if (count > most || kept.length + segment.length > most * 2) return `${wholeWords(end, text)}…`
    if (count < most) end = kept + segment
    kept += segment
  }
  return kept
}

/** Ends a cut text at its last space, unless this removes more than a third of the text. */
function wholeWords(start: string, text: string): string {
  if (/\s/.test(text.charAt(start.length))) return start.trimEnd()
  const words = start.replace(/\s+\S*$/, '')
  return words.length * 3 < start.length * 2 ? start.trimEnd() : words
}

const lineBreaks = /[\n\r\u0085\u2028\u2029]+/g

/** The lengths at which cards cut texts (card style), in characters. */
export const longest = { name: 32, title: 80, text: 300, whole: 1000, address: 160 } as const

/** The longest name of a resource, in characters. */
const wholeName = 256

/** The number of characters of a title that fit on one line of a phone. */
const lineOfTitle = 24
const longRun = /(?<!\S)[\p{L}\p{M}\p{N}]{25,}(?!\S)/gu

/**
 * The name of a resource in full, as one text that the card wraps. Clients do not break many letters without a space, so they
 * get places for breaks that people do not see.
 */
export function fullName(name: string): string {
  return cut(name.replace(lineBreaks, ' '), wholeName).replace(longRun, breakable)
}

/** Puts a zero-width space after each {@link lineOfTitle} letters. */
function breakable(run: string): string {
  const letters = [...segmenter.segment(run)].map(({ segment }) => segment)
  return letters.map((letter, index) => (index > 0 && index % lineOfTitle === 0 ? `\u200b${letter}` : letter)).join('')
}

/** The name of a request as the title of a row, which wraps. */
export const rowTitle = ({ displayName }: { readonly displayName: string }): string => cut(displayName, longest.title)

/** The name of a person or a resource, cut for a sentence. */
export const shortName = ({ displayName }: { readonly displayName: string }): string => cut(displayName, longest.name)

const lists = { and: 'conjunction', or: 'disjunction', unit: 'unit' } as const

/**
 * "Dana Fox or Omar Haddad", in the language of the catalogue, because it is part of a sentence; `unit` for lists outside
 * sentences: "north, south".
 */
export const listOf = (names: readonly string[], type: keyof typeof lists): string =>
  new Intl.ListFormat(strings.locale, { type: lists[type] }).format(names)

/** Unlike parts of one line: "Everybody · 1 approval". Empty parts are left out. */
export const unlike = (parts: readonly string[]): string => parts.filter((part) => part !== '').join(' · ')

/** A text that begins a line: its first letter is a capital. */
export const capitalized = (text: string): string =>
  text.replace(/^\p{Ll}/u, (first) => first.toLocaleUpperCase(strings.locale))

/** A text as a sentence of its own: with a capital and a full stop. */
export const sentence = (text: string): string =>
  /[.!?…]["”“»]?$/u.test(text) ? capitalized(text) : `${capitalized(text)}.`

/** The names of people, cut; of more than `most` people the first names and the number of the others. */
export function peopleList(people: readonly Pick<Person, 'displayName'>[], type: 'and' | 'or', most = 5): string {
  return shortList(people.map(shortName), type, most)
}

/** The names of requests, each cut; of more than `most` the first names and the number of the others. */
export const titleList = (names: readonly string[], most: number): string =>
  shortList(
    names.map((name) => cut(name, longest.name)),
    'and',
    most,
  )

/** The names of people who can help, for messages that select by `none` when nobody is known. */
export const helpersOf = (people: readonly Pick<Person, 'displayName'>[] = []): string =>
  people.length === 0 ? 'none' : peopleList(people, 'or')

function shortList(names: readonly string[], type: 'and' | 'or', most = 5): string {
  const others = format(strings.people.others, { count: String(names.length - most + 1) })
  return listOf(names.length > most ? [...names.slice(0, most - 1), others] : names, type)
}

/**
 * The people who decided: "Omar Haddad for Dana Fox"; an admin who overrode the approvers is named as an admin. The person with the id
 * `viewerId` is "you".
 */
export function decidedBy(
  decisions: readonly Pick<Decision, 'by' | 'insteadOf' | 'override'>[],
  viewerId?: string,
): string {
  const named = decisions.map(({ by, insteadOf = [], override }) => {
    const name = by.id === viewerId ? strings.approval.youToo : shortName(by)
    if (override) return [by.id, format(strings.people.asAdmin, { name })] as const
    const people = peopleList(insteadOf, 'and', 3)
    return [by.id, insteadOf.length === 0 ? name : format(strings.people.for, { name, people })] as const
  })
  return shortList([...new Map(named).values()], 'and')
}

/** The people who decide a stage: "or" if one of them is enough, else "and". */
export const decidersOf = (stage: Pick<ApprovalStage, 'rule'>, people: readonly Person[]): string =>
  peopleList(people, stage.rule === 'any' ? 'or' : 'and')

type TimeStyle = 'time' | 'day' | 'full'

/** A moment for the viewer: today the time; on another day `day` gives the date, `full` the date and time. */
export function moment(at: string, viewer: Viewer, style: 'day' | 'full'): string {
  const date = new Date(at)
  const today =
    formatDate(date, viewer, { dateStyle: 'short' }) === formatDate(viewer.now, viewer, { dateStyle: 'short' })
  return today
    ? formatDate(date, viewer, parts('time', false))
    : formatDate(date, viewer, parts(style, !sameYear(date, viewer)))
}

/** The day in the viewer's time zone, as `2026-11-30`: Swedish writes days so. */
const isoDay = (date: Date, viewer: Viewer): string => formatOf(viewer, { dateStyle: 'short' }, 'sv').format(date)

/** A moment after "since" or "until": some languages need an article before a day, but not before a time. */
export function bound(of: 'since' | 'until', at: string, viewer: Viewer, style: 'day' | 'full'): string {
  const isToday = isoDay(new Date(at), viewer) === isoDay(viewer.now, viewer)
  return format(strings.bound[of][isToday ? 'time' : 'day'], { at: moment(at, viewer, style) })
}

/** Since when something waits: the time if it is today, else "yesterday" or the day. */
export function sinceDay(at: string, viewer: Viewer): string {
  const isYesterday = Date.parse(isoDay(viewer.now, viewer)) - Date.parse(isoDay(new Date(at), viewer)) === 86_400_000
  return isYesterday
    ? new Intl.RelativeTimeFormat(locale, { numeric: 'auto' }).format(-1, 'day')
    : bound('since', at, viewer, 'day')
}

/** An hour of the day, 0 to 23, as the viewer's clock shows it. */
export const hourOf = (hour: number, viewer: Viewer): string =>
  formatDate(new Date(Date.UTC(2026, 0, 1, hour)), { ...viewer, timeZone: 'UTC' }, parts('time', false))

/** The viewer's time of day now. */
export const time = (viewer: Viewer): string => formatDate(viewer.now, viewer, parts('time', false))

/** The date and time, also for today. */
export const fullMoment = (at: string, viewer: Viewer): string =>
  formatDate(new Date(at), viewer, parts('full', !sameYear(new Date(at), viewer)))

export const isDay = (text: string): boolean => /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text))

/** A stored day, `2026-11-30`, as people write it. */
export const dayOf = (day: string): string =>
  formatDate(new Date(`${day}T00:00:00Z`), { timeZone: 'UTC' }, { dateStyle: 'long' })

/** The days of a span of time, the last one with the moment before its end: "13 – 20 Nov". */
export function days(from: string, until: string, viewer: Viewer): string {
  const [first, last] = [new Date(from), new Date(Date.parse(until) - 1)]
  const shown = parts('day', !sameYear(first, viewer) || !sameYear(last, viewer))
  return written(formatOf(viewer, shown).formatRangeToParts(first, last))
}

/** The last day of a period: "30 November 2026", with the time unless the period ends with that day. */
export function lastDay(until: string, viewer: Viewer): string {
  const date = new Date(until)
  const shown = { day: 'numeric', month: 'long', year: 'numeric' } as const
  const clock = formatOf(viewer, { ...parts('time', false), hourCycle: 'h23' }, 'en').format(date)
  return formatDate(date, viewer, clock === '23:59' ? shown : { ...shown, ...parts('time', false) })
}

const sameYear = (date: Date, viewer: Viewer): boolean =>
  formatDate(date, viewer, { year: 'numeric' }) === formatDate(viewer.now, viewer, { year: 'numeric' })

function parts(style: TimeStyle, year: boolean): Intl.DateTimeFormatOptions {
  const time = { hour: '2-digit', minute: '2-digit' } as const
  if (style === 'time') return time
  const day = { day: 'numeric', month: 'short', ...(year ? { year: 'numeric' as const } : {}) } as const
  return style === 'day' ? day : { ...day, ...time }
}

const formats = new Map<string, Intl.DateTimeFormat>()
const maxFormats = 500

const formatDate = (date: Date, viewer: Pick<Viewer, 'timeZone'>, options: Intl.DateTimeFormatOptions): string =>
  written(formatOf(viewer, options).formatToParts(date))

/** Joins the parts of a date. Next to the name of a month, French writes the first day as “1er”, and Intl does not. */
function written(parts: readonly Pick<Intl.DateTimeFormatPart, 'type' | 'value'>[]): string {
  const hasName = parts.some(({ type, value }) => type === 'month' && /\p{L}/u.test(value))
  return parts
    .map(({ type, value }) => (hasName && type === 'day' && value === '1' ? strings.firstOfMonth : value))
    .join('')
}

function formatOf(
  { timeZone }: Pick<Viewer, 'timeZone'>,
  options: Intl.DateTimeFormatOptions,
  language: string = locale,
): Intl.DateTimeFormat {
  const key = JSON.stringify([language, timeZone, options])
  const known = formats.get(key) ?? createFormat(language, timeZone, options)
  if (formats.size >= maxFormats) formats.clear()
  formats.set(key, known)
  return known
}

/** Falls back to UTC, because a channel may send a time zone that Intl does not know. */
function createFormat(language: string, timeZone: string, options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  try {
    const made = new Intl.DateTimeFormat(language, { ...options, timeZone })
    // "9:05 AM", but "09:05" where hours are counted to 24.
    const isHalfDay = made.resolvedOptions().hour12 === true
    return isHalfDay ? new Intl.DateTimeFormat(language, { ...options, hour: 'numeric', timeZone }) : made
  } catch (error) {
    if (!(error instanceof RangeError) || timeZone === 'UTC') throw error
    return createFormat(language, 'UTC', options)
  }
}

/** A whole number as people read it: "50,000". */
export const quantity = (value: number): string => new Intl.NumberFormat(locale).format(value)

/** A value that may be a whole number or a text, as people read it. */
export const quantityOf = (value: string | number | boolean): string =>
  /^\d{1,15}$/.test(String(value)) ? quantity(Number(value)) : String(value)

/** A value with its unit: "3 days"; short "3 d". */
export const inUnit = (unit: string, value: number, unitDisplay: 'long' | 'short' = 'long'): string =>
  new Intl.NumberFormat(strings.locale, { style: 'unit', unit, unitDisplay }).format(value)

/** The time that a response took: "210 ms". */
export const quickness = (milliseconds: number): string =>
  inUnit('millisecond', Math.max(0, Math.round(milliseconds)), 'short')

/** The time since a moment, in its largest whole unit and the viewer's language: "3 days ago". */
export function age(at: string, viewer: Viewer): string {
  const minutes = Math.max(1, Math.floor((viewer.now.getTime() - Date.parse(at)) / 60_000))
  const [value, unit] = (
    [
      [minutes / 525_600, 'year'],
      [minutes / 43_200, 'month'],
      [minutes / 1440, 'day'],
      [minutes / 60, 'hour'],
      [minutes, 'minute'],
    ] as const
  ).find(([count]) => count >= 1) ?? [1, 'minute']
  return new Intl.RelativeTimeFormat(locale).format(-Math.floor(value), unit)
}

/** A length of time in its largest whole unit: "41 min". */
export function duration(milliseconds: number): string {
  const seconds = Math.max(0, Math.round(milliseconds / 1000))
  if (seconds < 60) return inUnit('second', seconds, 'short')
  if (seconds < 5400) return inUnit('minute', Math.round(seconds / 60), 'short')
  if (seconds < 172_800) return inUnit('hour', Math.round(seconds / 3600), 'short')
  return inUnit('day', Math.round(seconds / 86_400), 'short')
}
