import { z } from 'zod'
import type { HealthNotice, HealthPart } from '../../core/index.ts'
import { healthRow, healthRowOf } from '../operations/admin-health.ts'
import { look, looks, toFix } from '../shared/look.ts'
import { format, strings } from '../shared/messages.ts'
import { defineCard, type ViewOf } from '../shared/render.ts'
import { duration, listOf, moment, type Viewer } from '../shared/texts.ts'

export const healthTurnedCard = defineCard({
  name: 'health-turned',
  data: z.strictObject({
    turned: z.enum(['red', 'well']),
    look,
    since: z.string(),
    /** How long the problem lasted, when the service is healthy again. */
    took: z.string(),
    /** What is broken now; parts that are healthy again are only named, in `was`. */
    parts: z.array(healthRow.pick({ name: true, sentence: true, look: true })),
    was: z.string(),
  }),
})

/** Notifies an admin when something is broken and when all parts are healthy again. */
export function healthTurnedView(
  { turned, since, until, parts }: HealthNotice,
  viewer: Viewer,
): ViewOf<typeof healthTurnedCard> {
  const isRed = turned === 'red'
  const words = strings.health.turned
  const at = (when: string | null) => (when === null ? '' : moment(when, viewer, 'full'))
  const names = parts.map(({ name }) => strings.health.part[name])
  return {
    turned,
    look: isRed ? toFix : looks.succeeded,
    since: format(words.since, { since: at(isRed ? since : until) }),
    took: isRed
      ? ''
      : format(words.wellMeans, {
          for: until === null ? '' : duration(Date.parse(until) - Date.parse(since)),
          since: at(since),
          until: at(until),
        }),
    parts: isRed ? parts.map((part) => brief(part, viewer)) : [],
    was: isRed || names.length === 0 ? '' : format(words.was, { parts: listOf([...new Set(names)], 'and') }),
  }
}

function brief(part: HealthPart, viewer: Viewer) {
  const { name, sentence, look } = healthRowOf(part, viewer)
  return { name, sentence, look }
}
