/** The audit trail of a request or of the organisation, and its proof. */
import { z } from 'zod'
import {
  type AuditReport,
  type EndOfDelegation,
  person,
  type Request,
  reasonShape,
  referenceOf,
  stepName,
} from '../../core/index.ts'
import { look, looks, plain, toFix } from '../shared/look.ts'
import { format, keysOf, restText, strings } from '../shared/messages.ts'
import { rangeOf } from '../shared/paging.ts'
import { reasonText } from '../shared/reasons.ts'
import { defineCard, type ViewOf } from '../shared/render.ts'
import { cut, listOf, longest, moment, quantity, shortName, time, type Viewer } from '../shared/texts.ts'
import { answerOf } from '../webhooks/admin-webhooks.ts'

type From = keyof typeof strings.audit.from
const actions = keysOf(strings.audit.action)
const acts = keysOf(strings.audit.act)
const froms = keysOf(strings.audit.from)

export const adminAuditCard = defineCard({
  name: 'admin-audit',
  data: z.strictObject({
    at: z.string(),
    /** `''` for the organisation. */
    reference: z.string(),
    about: z.string(),
    look,
    heading: z.string(),
    fallback: z.string(),
    hasFindings: z.boolean(),
    findings: z.array(z.strictObject({ finding: z.string() })),
    /** How many more findings there are, or `''`. */
    more: z.string(),
    entries: z.array(
      z.strictObject({
        number: z.int(),
        /** The action as text. */
        what: z.string(),
        /** The actor and the channel. */
        who: z.string(),
        at: z.string(),
        comment: z.string(),
        /** The first digits; `GET /audit/v1/requests/{id}` has the whole hash. */
        hash: z.string(),
        /** The first digits, enough to find the trace in the log; `''` without one. */
        trace: z.string(),
        isNamed: z.boolean(),
      }),
    ),
    /** `''` for the organisation. */
    requestId: z.string(),
    /** Where the next pages begin, counted from the newest entry. */
    newerFrom: z.int(),
    hasNewer: z.boolean(),
    olderFrom: z.int(),
    hasOlder: z.boolean(),
  }),
})

/** How many entries and findings a card has room for. */
const most = { entries: 8, findings: 4 } as const

type View = ViewOf<typeof adminAuditCard>

/** A page of a request's audit trail, newest first, and whether the trail is unchanged. `from`: how many entries to skip. */
export function adminAuditView(report: AuditReport, request: Request, from: number, viewer: Viewer): View {
  const reference = referenceOf(request)
  const about = format(strings.audit.about, { reference, name: shortName(request.details) })
  const { shown, range, ...pages } = pageOf(report.entries, from)
  return {
    ...proofOf(report, viewer),
    fallback: format(strings.audit.fallback, { reference }),
    reference,
    requestId: request.requestId,
    about: about + range,
    entries: shown.map((entry) => lineOf(report, entry, whatOf(entry), entry.comment ?? '', viewer)),
    ...pages,
  }
}

/** A page of the entries that are not about one request. */
export function organisationAuditView(report: AuditReport, from: number, viewer: Viewer): View {
  const isEmpty = report.entries.length === 0 && report.findings.length === 0
  const { organisation, nothingYet, empty, fallbackOrganisation } = strings.audit
  const { shown, range, ...pages } = pageOf(report.entries, from)
  return {
    ...proofOf(report, viewer),
    ...(isEmpty && { look: plain, heading: empty }),
    fallback: fallbackOrganisation,
    reference: '',
    requestId: '',
    about: isEmpty ? nothingYet : organisation + range,
    entries: shown.map((entry) => lineOf(report, entry, actOf(entry), detailOf(entry, viewer), viewer)),
    ...pages,
  }
}

/** The page after `from` newer entries, and where the pages next to it begin. */
function pageOf(entries: AuditReport['entries'], from: number) {
  const newest = entries.toReversed()
  // A page that does not exist is replaced by the newest.
  const first = from < newest.length ? from : 0
  const shown = newest.slice(first, first + most.entries)
  const range = rangeOf(first + 1, first + shown.length, newest.length, quantity)
  return {
    shown,
    range: shown.length < newest.length ? ` (${range})` : '',
    newerFrom: Math.max(0, first - most.entries),
    hasNewer: first > 0,
    olderFrom: first + shown.length,
    hasOlder: first + shown.length < newest.length,
  }
}

function proofOf({ entries, findings }: AuditReport, viewer: Viewer) {
  const count = findings.length === 0 ? entries.length : findings.length
  const texts = strings.audit
  return {
    at: time(viewer),
    look: findings.length === 0 ? looks.succeeded : toFix,
    heading: format(findings.length === 0 ? texts.proved : texts.findings, { count }),
    hasFindings: findings.length > 0,
    findings: findings.slice(0, most.findings).map(({ kind, entry }) => ({
      finding:
        kind === 'inserted' && entry === null
          ? texts.finding.insertedAnywhere
          : format(texts.finding[kind], { entry: entry ?? 0 }),
    })),
    more: restText(texts.moreFindings, findings.length - most.findings),
  }
}

type Entry = AuditReport['entries'][number]
const lineOf = ({ findings }: AuditReport, entry: Entry, what: string, comment: string, viewer: Viewer) => ({
  number: entry.entry,
  what,
  who: format(strings.audit.who, { name: cut(whoOf(entry), longest.name), from: strings.audit.from[fromOf(entry)] }),
  at: moment(entry.at, viewer, 'full'),
  comment: cut(comment, longest.address),
  hash: format(strings.audit.hash, { hash: entry.hash.slice(0, 8) }),
  trace: entry.traceId ? format(strings.audit.trace, { trace: entry.traceId.slice(0, 8) }) : '',
  isNamed: findings.some((finding) => finding.entry === entry.entry),
})

/** The service calls REST only for its own webhook. */
const fromOf = ({ from, actor }: Entry): From =>
  from === 'rest' && !('id' in actor) ? 'webhook' : (froms.find((one) => one === from) ?? 'unknown')

function whoOf({ actor }: Entry): string {
  if (!('id' in actor)) return strings.audit.system
  return actor.displayName || strings.audit.erased
}

/** An action as text; an unknown one by its name. */
function whatOf({ action, actor, data }: Pick<Entry, 'action' | 'actor' | 'data'>): string {
  const texts = strings.audit.action
  if ((action === 'approved' || action === 'rejected') && data?.['override'] === true) return texts[`${action}Over`]
  if ((action === 'approved' || action === 'rejected') && data?.['ownReassignment'] === true)
    return texts[`${action}Own`]
  const to = person.safeParse(data?.['to']).data?.id
  if (action === 'reassigned' && 'id' in actor && to === actor.id) return texts.reassignedSelf
  const step = stepName.safeParse(action.replace(/^step:/, '')).data
  if (step !== undefined) return format(texts.step, { value: strings.audit.step[step] })
  const known = actions.find((one) => one === action && one !== 'other')
  return known ? format(texts[known], { value: '' }) : cut(action, longest.name)
}

/** An action that is not about one request, with the name of its subject (`about` in its data). */
function actOf(entry: Entry): string {
  const { action, data } = entry
  const known = acts.find((one) => one === action)
  if (known === undefined) return whatOf(entry)
  const about = textOf(data?.['about'])
  const job = Object.entries(strings.jobs.job).find(([name]) => name === about)?.[1]
  return format(strings.audit.act[known], { about: cut(job ?? about, longest.name) }).replace(/: $/, '')
}

/** The rest of an entry's data that people understand: what changed, the result, the number. */
function detailOf({ action, data = {}, comment = '' }: Entry, viewer: Viewer): string {
  const { on, off, changed, made, sent } = strings.audit.of
  if (comment !== '') return comment
  if (typeof data['active'] === 'boolean') return data['active'] ? on : off
  if (typeof data['sent'] === 'number') return format(sent, { count: quantity(data['sent']) })
  if (Array.isArray(data['changed'])) {
    const parts = data['changed'].map((part) => partOf(textOf(part)))
    return parts.length === 0 ? made : format(changed, { parts: listOf(parts, 'unit') })
  }
  if (action === 'delegation-started' || action === 'delegation-ended') return delegationOf(data, viewer)
  if (action === 'webhook-tested') return answerOf(textOf(data['status']))
  const reason = reasonShape.safeParse(data['reason']).data
  return reason ? reasonText(reason) : textOf(data['problem'])
}

/** The people, end and reason of a delegation. Entries of earlier versions have no names. */
function delegationOf(data: Readonly<Record<string, unknown>>, viewer: Viewer): string {
  const { delegated, delegationEnd } = strings.audit.of
  const known = delegationFacts.safeParse(data).data
  if (!known) return ''
  const { person: away, delegate, until, endedAt, why } = known
  return format(why === undefined ? delegated : delegationEnd[why], {
    name: cut(away.displayName || strings.audit.erased, longest.name),
    people: cut(delegate.displayName || strings.audit.erased, longest.name),
    date: moment(endedAt ?? until, viewer, 'full'),
  })
}
const delegationFacts = z.object({
  person,
  delegate: person,
  until: z.string(),
  endedAt: z.string().optional(),
  why: z.enum(keysOf<EndOfDelegation>(strings.audit.of.delegationEnd)).optional(),
})

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')
const partOf = (name: string): string =>
  Object.entries(strings.catalogue.part).find(([part]) => part === name)?.[1] ?? name
