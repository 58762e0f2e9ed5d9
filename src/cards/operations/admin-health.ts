import { z } from 'zod'
import {
  type CertificateReading,
  type HealthPart,
  type HealthReport,
  type HealthState,
  healthParts,
  healthStates,
  type Reason,
} from '../../core/index.ts'
import { type Look, look, looks, marks, rowLook, toFix, toKnow } from '../shared/look.ts'
import { format, locale, strings } from '../shared/messages.ts'
import { reasonText } from '../shared/reasons.ts'
import { defineCard, type ViewOf } from '../shared/render.ts'
import {
  cut,
  duration,
  fullMoment,
  inUnit,
  listOf,
  longest,
  moment,
  quantity,
  quickness,
  time,
  type Viewer,
} from '../shared/texts.ts'

export const healthRow = z.strictObject({
  name: z.enum(healthParts),
  state: z.enum(healthStates),
  sentence: z.string(),
  /** The recent measures, or `''`. */
  numbers: z.string(),
  look: rowLook,
  /** The command that shows more, or `''`. */
  command: z.string(),
  readsAgain: z.boolean(),
})

export const adminHealthCard = defineCard({
  name: 'admin-health',
  data: z.strictObject({
    at: z.string(),
    look,
    heading: z.string(),
    /** The result of reading the certificate again, or `''`. */
    remark: z.string(),
    troubles: z.array(healthRow),
    /** Names the problems that are not in `troubles`, because a card has no room for all; `''` without others. */
    more: z.string(),
    /** A sentence about each healthy part. */
    good: z.array(z.strictObject({ text: z.string() })),
    /** Names the healthy parts, which a click shows; `''` without any. */
    summary: z.string(),
    version: z.string(),
  }),
})

const bands: Readonly<Record<HealthState, Look>> = { green: looks.succeeded, amber: toKnow, red: toFix }
export const healthMarks = { green: marks.good, amber: marks.attention, red: marks.wrong } as const

/** The health of the service and its dependencies, problems first. `reading`: the result of reading the certificate again. */
export function adminHealthView(
  report: HealthReport,
  viewer: Viewer,
  reading?: CertificateReading,
): ViewOf<typeof adminHealthCard> {
  const { state, at, version, startedAt, parts } = report
  const rows = parts.map((part) => healthRowOf(part, viewer))
  const [troubles, good] = [rows.filter((row) => row.state !== 'green'), rows.filter((row) => row.state === 'green')]
  return {
    at: time({ ...viewer, now: at }),
    look: bands[state],
    heading: format(strings.health.heading, { count: troubles.length }),
    remark: reading === undefined ? '' : strings.health.reading[reading],
    troubles: troubles.slice(0, maxTroubles),
    more: namesIn(strings.health.more, troubles.slice(maxTroubles)),
    good: good.map(({ name, sentence }) => ({
      text: format(strings.reason.aboutProbe, { subject: strings.health.part[name], reason: sentence }),
    })),
    summary: namesIn(strings.health.good, good),
    version: format(strings.health.version, { version, uptime: duration(at.getTime() - startedAt.getTime()) }),
  }
}

/** The number of problems that a card has room for. The worst come first in the report. */
const maxTroubles = 8

/** Names parts in one sentence, or `''` without any: a report has more parts than a card can show. */
function namesIn(message: string, parts: readonly Pick<HealthPart, 'name'>[]): string {
  if (parts.length === 0) return ''
  const names = parts.map(({ name }) => strings.health.part[name])
  return format(message, { count: parts.length, parts: listOf(names, 'and') })
}

export function healthRowOf(part: HealthPart, viewer: Viewer): z.output<typeof healthRow> {
  const { name, state, says } = part
  const writing: HealthWriting = {
    quickness,
    duration: (seconds) => duration(seconds * 1000),
    days: (count) => inUnit('day', count),
    share,
    moment: (at) => moment(at, viewer, 'full'),
    end: (at) => fullMoment(at, viewer),
    count: quantity,
    reason: (reason) => cut(reasonText(reason), longest.text),
  }
  return {
    name,
    state,
    sentence: healthText(strings.health.says[says], part, writing),
    numbers: numbersOf(part) ? healthText(strings.health.lately[latelyOf(part)], part, writing) : '',
    look: healthMarks[state],
    command: state === 'green' ? '' : commandOf(name),
    readsAgain: name === 'certificate' && state !== 'green',
  }
}

const share = (of: number): string => new Intl.NumberFormat(locale, { style: 'percent' }).format(of)

/** How the measures of a part are written for the reader. */
interface HealthWriting {
  quickness(milliseconds: number): string
  duration(seconds: number): string
  days(count: number): string
  /** A share of all, 0 to 1. */
  share(of: number): string
  moment(at: string): string
  /** When a credential ends: always with the date. */
  end(at: string): string
  count(value: number): string
  reason(reason: Reason): string
}

/** Formats a message about a part with its measures. */
export function healthText(message: string, part: HealthPart, writing: HealthWriting): string {
  const values = Object.entries(part).map(([name, value]) => [name, measureText(name, value, writing)])
  return format(message, Object.fromEntries(values))
}

function measureText(name: string, value: HealthPart[keyof HealthPart], writing: HealthWriting): string {
  if (value === undefined) return ''
  if (typeof value === 'object' && 'key' in value) return writing.reason(value)
  if (typeof value === 'object')
    return listOf(
      value.map((kind) => strings.kind[kind]),
      'and',
    )
  if (typeof value === 'string' && name === 'endsAt') return writing.end(value)
  if (typeof value === 'string') return name.endsWith('At') ? writing.moment(value) : value
  if (name === 'milliseconds') return writing.quickness(value)
  if (/seconds/i.test(name)) return writing.duration(value)
  if (name === 'daysLeft') return writing.days(value)
  return name.endsWith('Rate') ? writing.share(value) : writing.count(value)
}

/** Whether a part has measures to show: its calls, or for a problem when it was found. */
const numbersOf = ({ calls, checkedAt, state }: HealthPart): boolean =>
  (calls ?? 0) > 0 || (checkedAt !== undefined && state !== 'green')

/** The measures on the card: for a healthy part only the number of calls. */
function latelyOf(part: HealthPart): keyof typeof strings.health.lately {
  const { problem, lastSuccessAt, throttled, timedOut, checkedAt } = part
  if (checkedAt !== undefined) return 'checked'
  if (problem !== undefined && lastSuccessAt !== undefined) return 'lastGood'
  return throttled || timedOut ? 'all' : 'few'
}

/** The commands that show the problems of a part. */
const commands: Partial<Readonly<Record<HealthPart['name'], keyof typeof strings.types>>> = {
  queue: 'adminStuck',
  watchdog: 'adminStuck',
  deadLetters: 'adminJobs',
  requests: 'adminStuck',
  webhooks: 'adminWebhooks',
}

function commandOf(name: HealthPart['name']): string {
  const command = commands[name]
  return command === undefined ? '' : strings.types[command]
}

/** Measures as the API writes them. */
export const plainHealth: HealthWriting = {
  quickness: (milliseconds) => `${Math.round(milliseconds)} ms`,
  duration(seconds) {
    if (seconds < 120) return inUnit('second', Math.round(seconds))
    if (seconds < 7200) return inUnit('minute', Math.round(seconds / 60))
    return seconds < 172_800 ? inUnit('hour', Math.round(seconds / 3600)) : inUnit('day', Math.round(seconds / 86_400))
  },
  days: (count) => inUnit('day', count),
  share,
  moment: (at) => at,
  end: (at) => at,
  count: quantity,
  reason: reasonText,
}
