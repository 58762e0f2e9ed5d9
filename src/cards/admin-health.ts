import { z } from 'zod'
import type { HealthReport } from '../core/index.ts'
import { defineCard } from './define-card.ts'
import { look, looks, type RowLook, rowLook, rowLooks, toKnow } from './look.ts'
import { strings } from './strings.ts'
import { cut, duration, longest, quantity, quickness, time, type Viewer } from './words.ts'

type PartName = keyof typeof strings.health.part
type Says = keyof typeof strings.health.says
const keysOf = <K extends string>(words: Readonly<Record<K, string>>) => Object.keys(words) as [K, ...K[]]

const part = z.strictObject({
  name: z.enum(keysOf<PartName>(strings.health.part)),
  says: z.enum(keysOf<Says>(strings.health.says)),
  value: z.string(),
  age: z.string(),
  look: rowLook,
  /** What to type to go on from here, or `''`. */
  command: z.string(),
})
type Part = z.output<typeof part>

export const adminHealthCard = defineCard({
  name: 'admin-health',
  data: z.strictObject({
    at: z.string(),
    look,
    heading: z.enum(['good', 'one', 'many']),
    troubles: z.int(),
    parts: z.array(part).min(1),
    version: z.string(),
    uptime: z.string(),
  }),
})

/** A job that is due should be at work by then, in seconds. */
const lateAfter = 60

const toLookAt: RowLook = { ...rowLooks.done, mark: '!', color: 'Attention' }
const broken: RowLook = { ...rowLooks.failed, now: false }
const partOf = (name: PartName, says: Says, look: RowLook, more: Partial<Part> = {}): Part => ({
  name,
  says,
  value: '',
  age: '',
  look,
  command: '',
  ...more,
})

/** How the service and everything it needs do: what is wrong first. */
export function adminHealthView(
  { own, deadLetters, services, at }: HealthReport,
  viewer: Viewer,
): Parameters<typeof adminHealthCard.render>[0] {
  const parts = [...ownParts(own), watchdogPart(own, at), deadLettersPart(deadLetters), ...services.map(serviceOf)]
  const troubles = parts.filter(({ look }) => look.mark !== '✓')
  return {
    at: time({ ...viewer, now: at }),
    look: troubles.length === 0 ? looks.succeeded : toKnow,
    heading: troubles.length === 0 ? 'good' : troubles.length === 1 ? 'one' : 'many',
    troubles: troubles.length,
    parts: [...troubles, ...parts.filter((part) => !troubles.includes(part))],
    version: own.version,
    uptime: duration(at.getTime() - own.startedAt.getTime()),
  }
}

function ownParts({ databaseMilliseconds, queue }: HealthReport['own']): Part[] {
  const { waiting, oldestSeconds } = queue
  const value = quantity(waiting)
  return [
    databaseMilliseconds === null
      ? partOf('database', 'silent', broken)
      : partOf('database', 'answers', rowLooks.done, { value: quickness(databaseMilliseconds) }),
    oldestSeconds > lateAfter
      ? partOf('queue', 'late', toLookAt, {
          value,
          age: duration(oldestSeconds * 1000),
          command: strings.types.adminStuck,
        })
      : partOf('queue', waiting === 0 ? 'idle' : 'onTime', rowLooks.done, { value }),
  ]
}

/** The watchdog looks every minute; after some that did not come, nobody looks. */
const unwatchedAfter = 5 * 60_000

function watchdogPart({ watchedAt }: HealthReport['own'], at: Date): Part {
  if (watchedAt === null) return partOf('watchdog', 'neverWatched', broken)
  const ago = at.getTime() - watchedAt.getTime()
  return ago > unwatchedAfter
    ? partOf('watchdog', 'unwatched', broken, { age: duration(ago) })
    : partOf('watchdog', 'watched', rowLooks.done, { age: duration(ago) })
}

const deadLettersPart = (count: number): Part =>
  count === 0
    ? partOf('deadLetters', 'noDeadLetters', rowLooks.done)
    : partOf('deadLetters', 'deadLetters', broken, { value: quantity(count), command: strings.types.adminJobs })

function serviceOf({ name, milliseconds, problem }: HealthReport['services'][number]): Part {
  if (problem !== undefined) return partOf(name, 'problem', broken, { value: cut(problem, longest.text) })
  return partOf(name, 'answers', rowLooks.done, { value: quickness(milliseconds) })
}
