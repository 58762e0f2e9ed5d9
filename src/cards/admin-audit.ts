import { z } from 'zod'
import { type AuditReport, findingKinds, person, type Request, referenceOf, stepName } from '../core/index.ts'
import { defineCard } from './define-card.ts'
import { look, looks, toFix } from './look.ts'
import { strings } from './strings.ts'
import { cut, longest, moment, time, type Viewer } from './words.ts'

type Action = keyof typeof strings.audit.action
type From = keyof typeof strings.audit.from
const keysOf = <K extends string>(words: Readonly<Record<K, string>>) => Object.keys(words) as [K, ...K[]]
const actions = keysOf<Action>(strings.audit.action)
const froms = keysOf<From>(strings.audit.from)

export const adminAuditCard = defineCard({
  name: 'admin-audit',
  data: z.strictObject({
    at: z.string(),
    reference: z.string(),
    displayName: z.string(),
    look,
    heading: z.enum(['proved', 'provedOne', 'oneFinding', 'findings']),
    count: z.int(),
    hasFindings: z.boolean(),
    findings: z.array(z.strictObject({ kind: z.enum([...findingKinds, 'insertedAnywhere']), entry: z.int() })),
    moreFindings: z.int(),
    entries: z.array(
      z.strictObject({
        number: z.int(),
        action: z.enum(actions),
        value: z.string(),
        who: z.string(),
        from: z.enum(froms),
        at: z.string(),
        comment: z.string(),
        /** The first letters of it: what `GET /audit/v1/requests/{id}` has whole. */
        hash: z.string(),
        isNamed: z.boolean(),
      }),
    ),
    older: z.int(),
  }),
})

/** The newest entries, and the findings, of which a card has room for so many. */
const most = { entries: 8, findings: 4 } as const

/** Who did what, when and from where, the newest first; and whether all of it is as it was written. */
export function adminAuditView(
  { entries, findings }: AuditReport,
  request: Request,
  viewer: Viewer,
): Parameters<typeof adminAuditCard.render>[0] {
  const shown = entries.toReversed().slice(0, most.entries)
  const count = findings.length === 0 ? entries.length : findings.length
  const [one, many] = findings.length === 0 ? (['provedOne', 'proved'] as const) : (['oneFinding', 'findings'] as const)
  return {
    at: time(viewer),
    reference: referenceOf(request),
    displayName: cut(request.details.displayName, longest.name),
    look: findings.length === 0 ? looks.succeeded : toFix,
    heading: count === 1 ? one : many,
    count,
    hasFindings: findings.length > 0,
    findings: findings.slice(0, most.findings).map(({ kind, entry }) => ({
      kind: kind === 'inserted' && entry === null ? 'insertedAnywhere' : kind,
      entry: entry ?? 0,
    })),
    moreFindings: Math.max(0, findings.length - most.findings),
    entries: shown.map((entry) => ({
      number: entry.entry,
      ...actionOf(entry),
      who: cut(whoOf(entry), longest.name),
      from: froms.find((from) => from === entry.from) ?? 'unknown',
      at: moment(entry.at, viewer, 'full'),
      comment: cut(entry.comment ?? '', longest.address),
      hash: entry.hash.slice(0, 8),
      isNamed: findings.some((finding) => finding.entry === entry.entry),
    })),
    older: entries.length - shown.length,
  }
}

function whoOf({ actor, erased }: AuditReport['entries'][number]): string {
  if (!('id' in actor)) return strings.audit.system
  return erased ? strings.audit.erased : actor.displayName
}

/** An action in our words; one that has none as it is. */
function actionOf({ action, actor, data }: AuditReport['entries'][number]): { action: Action; value: string } {
  if ((action === 'approved' || action === 'rejected') && data?.['override'] === true)
    return { action: `${action}Over`, value: '' }
  const to = person.safeParse(data?.['to']).data?.id
  if (action === 'reassigned' && 'id' in actor && to === actor.id) return { action: 'reassignedSelf', value: '' }
  const step = stepName.safeParse(action.replace(/^step:/, '')).data
  if (step !== undefined) return { action: 'step', value: step }
  const known = actions.find((one) => one === action && one !== 'other')
  return known ? { action: known, value: '' } : { action: 'other', value: cut(action, longest.name) }
}
