import { z } from 'zod'
import {
  type CertificateReading,
  type HealthPart,
  type HealthReport,
  type HealthState,
  healthParts,
  healthStates,
} from '../../core/index.ts'
import { defineCard } from '../shared/define-card.ts'
import { type Look, look, looks, type RowLook, rowLook, rowLooks, toFix, toKnow } from '../shared/look.ts'
import { format, strings } from '../shared/messages.ts'
import { cut, duration, fullMoment, longest, moment, quantity, quickness, time, type Viewer } from '../shared/words.ts'

export const healthRow = z.strictObject({
  name: z.enum(healthParts),
  state: z.enum(healthStates),
  sentence: z.string(),
  /** What was counted lately, or `''`. */
  numbers: z.string(),
  look: rowLook,
  /** What to type to go on from here, or `''`. */
  command: z.string(),
  /** Whether the certificate can be read again from here. */
  readsAgain: z.boolean(),
})

export const adminHealthCard = defineCard({
  name: 'admin-health',
  data: z.strictObject({
    at: z.string(),
    look,
    heading: z.string(),
    /** What came of reading the certificate again, or `''`. */
    remark: z.string(),
    troubles: z.array(healthRow),
    good: z.array(healthRow),
    /** Whether those that are well are shown at once. */
    open: z.boolean(),
    /** Which version runs, and for how long. */
    version: z.string(),
  }),
})

const bands: Readonly<Record<HealthState, Look>> = { green: looks.succeeded, amber: toKnow, red: toFix }
const marks: Readonly<Record<HealthState, RowLook>> = {
  green: rowLooks.done,
  amber: { ...rowLooks.done, mark: '!', color: 'Attention' },
  red: { ...rowLooks.failed, now: false },
}

/** How the service and everything it needs do: what is wrong first. */
export function adminHealthView(
  report: HealthReport,
  viewer: Viewer,
  reading?: CertificateReading,
): Parameters<typeof adminHealthCard.render>[0] {
  const { state, at, version, startedAt, parts } = report
  const rows = parts.map((part) => healthRowOf(part, viewer))
  const troubles = rows.filter((row) => row.state !== 'green')
  return {
    at: time({ ...viewer, now: at }),
    look: bands[state],
    heading: format(strings.health.heading, { count: troubles.length }),
    remark: reading === undefined ? '' : strings.health.reading[reading],
    troubles,
    good: rows.filter((row) => row.state === 'green'),
    open: troubles.length === 0,
    version: format(strings.health.version, { version, uptime: duration(at.getTime() - startedAt.getTime()) }),
  }
}

export function healthRowOf(part: HealthPart, viewer: Viewer): z.output<typeof healthRow> {
  const { name, state, says } = part
  const writing: HealthWriting = {
    quickness,
    duration: (seconds) => duration(seconds * 1000),
    days: (count) => inUnits(count, 'day'),
    share: (of) => new Intl.NumberFormat(strings.locale, { style: 'percent' }).format(of),
    moment: (at) => moment(at, viewer, 'full'),
    end: (at) => fullMoment(at, viewer),
    count: quantity,
  }
  const shown = { ...part, ...(part.problem !== undefined && { problem: cut(part.problem, longest.text) }) }
  return {
    name,
    state,
    sentence: healthText(strings.health.says[says], shown, writing),
    numbers: part.calls ? healthText(strings.health.lately[latelyOf(part)], shown, writing) : '',
    look: marks[state],
    command: state === 'green' ? '' : (commands[name] ?? ''),
    readsAgain: name === 'certificate' && state !== 'green',
  }
}

/** How the measures of a part are written for the reader. */
export interface HealthWriting {
  /** Milliseconds that an answer took. */
  quickness(milliseconds: number): string
  duration(seconds: number): string
  days(count: number): string
  /** Of all, 0 to 1. */
  share(of: number): string
  moment(at: string): string
  /** When a credential ends: always with the date. */
  end(at: string): string
  count(value: number): string
}

/** A message about a part, filled with the measures of the part. */
export function healthText(message: string, part: HealthPart, writing: HealthWriting): string {
  const values = Object.entries(part).map(([name, value]) => [name, measureText(name, value, writing)])
  return format(message, Object.fromEntries(values))
}

function measureText(name: string, value: string | number, writing: HealthWriting): string {
  if (typeof value === 'string' && name === 'endsAt') return writing.end(value)
  if (typeof value === 'string') return name.endsWith('At') ? writing.moment(value) : value
  if (name === 'milliseconds') return writing.quickness(value)
  if (/seconds/i.test(name)) return writing.duration(value)
  if (name === 'daysLeft') return writing.days(value)
  return name.endsWith('Rate') ? writing.share(value) : writing.count(value)
}

/** How much of what was counted is told: of what goes well only how often it was called. */
function latelyOf({ problem, lastSuccessAt, throttled, timedOut }: HealthPart): keyof typeof strings.health.lately {
  if (problem !== undefined && lastSuccessAt !== undefined) return 'lastGood'
  return throttled || timedOut ? 'all' : 'few'
}

/** Where what is wrong with a part can be seen and mended. */
const commands: Partial<Readonly<Record<HealthPart['name'], string>>> = {
  queue: strings.types.adminStuck,
  watchdog: strings.types.adminStuck,
  deadLetters: strings.types.adminJobs,
  webhooks: strings.types.adminWebhooks,
}

const inUnits = (value: number, unit: 'day'): string =>
  new Intl.NumberFormat(strings.locale, { style: 'unit', unit, unitDisplay: 'long' }).format(value)
