import { z } from 'zod'
import type { HealthReport } from '../../core/index.ts'
import { look, looks, toFix } from '../shared/look.ts'
import { format, restText, strings } from '../shared/messages.ts'
import { defineCard, type ViewOf } from '../shared/render.ts'
import { cut, listOf, longest, time, type Viewer } from '../shared/texts.ts'
import { healthRow, healthRowOf } from './admin-health.ts'

/** More troubles do not fit; `admin health` shows them all. */
const maxTroubles = 6

export const firstDayCard = defineCard({
  name: 'first-day',
  data: z.strictObject({
    at: z.string(),
    look,
    heading: z.string(),
    hello: z.string(),
    hasTemplates: z.boolean(),
    /** The number of templates in a sentence. */
    templates: z.string(),
    troubles: z.array(healthRow),
    /** How many troubles it leaves out, or `''`. */
    hidden: z.string(),
    /** The names of the parts that work, or `''`. */
    good: z.string(),
  }),
})

/** The state of the service on an admin's first day. */
export interface FirstDay {
  readonly displayName: string
  readonly health: HealthReport
  readonly templates: number
}

/** The card already shows whether there are templates, so it leaves out the part of the health about templates. */
const ownParts: readonly string[] = ['templates']

/** Shows an admin what works, what is missing, and how to add the first template. */
export function firstDayView(
  { displayName, health, templates }: FirstDay,
  viewer: Viewer,
): ViewOf<typeof firstDayCard> {
  const texts = strings.firstDay
  const rows = health.parts.filter(({ name }) => !ownParts.includes(name)).map((part) => healthRowOf(part, viewer))
  const troubles = rows.filter(({ state }) => state !== 'green')
  const good = rows.filter(({ state }) => state === 'green').map(({ name }) => strings.health.part[name])
  const hasTemplates = templates > 0
  const missing = troubles.length + (hasTemplates ? 0 : 1)
  return {
    at: time({ ...viewer, now: health.at }),
    look: missing === 0 ? looks.succeeded : toFix,
    heading: missing === 0 ? texts.heading.ready : format(texts.heading.missing, { count: missing }),
    hello: format(texts.hello, { name: cut(displayName, longest.title) }),
    hasTemplates,
    templates: hasTemplates ? format(texts.templates.some, { count: templates }) : texts.templates.none,
    troubles: troubles.slice(0, maxTroubles).map((row) => ({ ...row, numbers: '' })),
    hidden: restText(texts.more, troubles.length - maxTroubles),
    good: good.length === 0 ? '' : format(texts.good, { parts: listOf(good, 'and') }),
  }
}
