import { z } from 'zod'
import type { HealthNotice, HealthPart } from '../../core/index.ts'
import { healthRow, healthRowOf } from '../operations/admin-health.ts'
import { defineCard } from '../shared/define-card.ts'
import { look, looks, toFix } from '../shared/look.ts'
import { format, strings } from '../shared/messages.ts'
import { duration, listOf, moment, type Viewer } from '../shared/words.ts'

export const healthTurnedCard = defineCard({
  name: 'health-turned',
  data: z.strictObject({
    subject: z.enum(['red', 'expiring', 'expired', 'well', 'renewed']),
    look,
    /** Since when it is so. */
    since: z.string(),
    /** What it means while it is so, or `''`. */
    means: z.string(),
    /** How long it took, once all is well; `''` for a credential. */
    took: z.string(),
    /** What is broken; what was is only named. */
    parts: z.array(healthRow.pick({ name: true, sentence: true, look: true })),
    was: z.string(),
  }),
})

/** Tells an admin once that something is broken or that a credential expires, and once that all is well again. */
export function healthTurnedView(notice: HealthNotice, viewer: Viewer): Parameters<typeof healthTurnedCard.render>[0] {
  const { turned, since, until, parts } = notice
  const isRed = turned === 'red'
  const subject = subjectOf(notice)
  const words = strings.health.turned
  const at = (when: string | null) => (when === null ? '' : moment(when, viewer, 'full'))
  const names = listOf([...new Set(parts.map(({ name }) => strings.health.part[name]))], 'and')
  const took = { for: until === null ? '' : duration(Date.parse(until) - Date.parse(since)) }
  return {
    subject,
    look: isRed ? toFix : looks.succeeded,
    since: format(words.since, { since: at(isRed ? since : until) }),
    means: subject === 'well' || subject === 'renewed' ? '' : words.means[subject],
    took: subject === 'well' ? format(words.wellMeans, { ...took, since: at(since), until: at(until) }) : '',
    parts: isRed ? parts.map((part) => brief(part, viewer)) : [],
    was: isRed || names === '' ? '' : format(subject === 'renewed' ? words.renewed : words.was, { parts: names }),
  }
}

/** A certificate or secret that expires breaks nothing yet, so a card about credentials alone has titles of its own. */
function subjectOf({ turned, parts }: HealthNotice): z.output<typeof healthTurnedCard.data>['subject'] {
  const isExpiry = ({ name, says }: HealthPart) =>
    (name === 'certificate' || name === 'botSecret') && says !== 'certificateEarly'
  if (parts.length === 0 || !parts.every(isExpiry)) return turned
  if (turned === 'well') return 'renewed'
  return parts.some(({ daysLeft = 0 }) => daysLeft < 0) ? 'expired' : 'expiring'
}

function brief(part: HealthPart, viewer: Viewer) {
  const { name, sentence, look } = healthRowOf(part, viewer)
  return { name, sentence, look }
}
