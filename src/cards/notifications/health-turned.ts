import { z } from 'zod'
import type { HealthNotice, HealthPart } from '../../core/index.ts'
import { healthRow, healthRowOf } from '../operations/admin-health.ts'
import { look, looks, toFix, toKnow } from '../shared/look.ts'
import { format, strings } from '../shared/messages.ts'
import { defineCard, type ViewOf } from '../shared/render.ts'
import { bound, duration, listOf, type Viewer } from '../shared/texts.ts'

export const healthTurnedCard = defineCard({
  name: 'health-turned',
  data: z.strictObject({
    subject: z.enum(['red', 'more', 'expiring', 'expired', 'less', 'well', 'renewed', 'renewedOne']),
    look,
    since: z.string(),
    /** The meaning of the problem, or `''`. */
    means: z.string(),
    /** How long the problem lasted, when the service is healthy again; `''` for a credential. */
    took: z.string(),
    /** The broken parts; `was` only names parts that are healthy again. */
    parts: z.array(healthRow.pick({ name: true, sentence: true, look: true })),
    was: z.string(),
    /** The other parts that are broken, or `''`. */
    others: z.string(),
  }),
})

/** Notifies an admin when something is broken or a credential expires, and when all parts are healthy again. */
export function healthTurnedView(notice: HealthNotice, viewer: Viewer): ViewOf<typeof healthTurnedCard> {
  const { turned, since, until, parts, others } = notice
  const isRed = turned === 'red' || turned === 'more'
  const subject = subjectOf(notice)
  const isRenewed = subject === 'renewed' || subject === 'renewedOne'
  const texts = strings.health.turned
  const isOfCredentials = subject !== turned
  const at = (of: 'since' | 'until', when: string | null) => (when === null ? '' : bound(of, when, viewer, 'full'))
  const namesOf = (all: readonly HealthPart[]) =>
    listOf([...new Set(all.map(({ name }) => strings.health.part[name]))], 'and')
  const names = namesOf(parts)
  const took = { for: until === null ? '' : duration(Date.parse(until) - Date.parse(since)) }
  return {
    subject,
    look: subject === 'renewedOne' ? toKnow : isRed || turned === 'less' ? toFix : looks.succeeded,
    since: format(texts.since, { since: at('since', isRed ? since : until) }),
    means: subject === 'well' || isRenewed ? '' : texts.means[subject],
    others:
      others.length === 0
        ? ''
        : format(isOfCredentials ? texts.othersExpire : texts.others, { parts: namesOf(others) }),
    took:
      subject === 'well'
        ? format(texts.wellMeans, { ...took, since: at('since', since), until: at('until', until) })
        : '',
    parts: isRed ? parts.map((part) => brief(part, viewer)) : [],
    was: isRed || names === '' ? '' : format(isRenewed ? texts.renewed : texts.was, { parts: names }),
  }
}

/** A certificate or secret that expires breaks nothing yet, so a card about credentials alone has titles of its own. */
function subjectOf({ turned, parts, others }: HealthNotice): z.output<typeof healthTurnedCard.data>['subject'] {
  const isExpiry = ({ name, says }: HealthPart) =>
    (name === 'certificate' || name === 'botSecret') && says !== 'certificateEarly'
  if (parts.length === 0 || ![...parts, ...others].every(isExpiry)) return turned
  if (turned === 'well') return 'renewed'
  if (turned === 'less') return others.length > 0 ? 'renewedOne' : 'renewed'
  return parts.some(({ daysLeft = 0 }) => daysLeft < 0) ? 'expired' : 'expiring'
}

function brief(part: HealthPart, viewer: Viewer) {
  const { name, sentence, look } = healthRowOf(part, viewer)
  return { name, sentence, look }
}
