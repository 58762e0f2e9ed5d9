import { z } from 'zod'
import { type AuditEntry, auditActions, type Person, person } from '../../core/index.ts'
import { format, restText, strings } from '../shared/messages.ts'
import { cut, fullMoment, longest, moment, peopleList, shortName, type Viewer } from '../shared/texts.ts'

type Message = keyof typeof strings.timeline.says

/** The timeline of a status card: only a button that loads it, or its rows, folded or open. */
export const timeline = z.strictObject({
  shows: z.enum(['button', 'folded', 'open']),
  /** How many earlier entries there are, or `''`. */
  earlier: z.string(),
  rows: z.array(z.strictObject({ text: z.string(), at: z.string(), comment: z.string() })),
})
type TimelineView = z.output<typeof timeline>

/** The entries that a card shows. `isOpen`: they are visible without a click. */
export interface Timeline {
  readonly entries: readonly AuditEntry[]
  readonly isOpen: boolean
}
/** The space for the timeline: entries, and characters of each comment. */
interface TimelineRoom {
  readonly rows: number
  readonly comment: number
}
export const timelineRooms = [
  { rows: 8, comment: longest.text },
  { rows: 8, comment: longest.title },
  { rows: 5, comment: longest.name },
  { rows: 2, comment: 0 },
] as const satisfies readonly TimelineRoom[]

/** The last entries, the oldest of them first. The steps of provisioning are part of the progress instead. */
export function timelineView(
  known: Timeline | undefined,
  viewer: Viewer,
  room: TimelineRoom = timelineRooms[0],
): TimelineView {
  if (!known) return { shows: 'button', earlier: '', rows: [] }
  const entries = known.entries.flatMap((entry, index) => {
    const message = isForViewer(entry, viewer) ? messageOf(entry, index === 0) : undefined
    return message === undefined ? [] : [{ entry, message }]
  })
  const shown = entries.slice(-room.rows)
  return {
    shows: known.isOpen ? 'open' : 'folded',
    earlier: restText(strings.timeline.earlier, entries.length - shown.length),
    rows: shown.map(({ entry, message }) => ({
      text: format(strings.timeline.says[message], valuesOf(entry, viewer)),
      at: moment(entry.at, viewer, 'day'),
      comment: room.comment > 0 && entry.comment ? quoted(cut(entry.comment, room.comment)) : '',
    })),
  }
}

/** Only admins see which people no card reached. The status says so to others if nobody else can decide. */
const isForViewer = ({ action }: AuditEntry, { isAdmin }: Viewer): boolean =>
  isAdmin === true || (action !== 'not-told' && action !== 'reached')

const quoted = (comment: string): string => format(strings.timeline.quote, { comment })

/** The message of an entry; undefined for steps of provisioning and for actions of later versions. */
function messageOf({ action, actor, data = {} }: AuditEntry, isFirst: boolean): Message | undefined {
  const known = auditActions.find((one) => one === action)
  const isPerson = 'id' in actor
  const isGiven = (name: string): boolean => peopleIn(data[name]).length > 0
  switch (known) {
    case undefined:
    // Only the audit shows refusals.
    case 'refused':
      return undefined
    case 'queued':
      if (data['why'] === 'interrupted') return 'retriedAutomatically'
      return isFirst ? 'asked' : isPerson ? 'retried' : 'queued'
    case 'approved':
    case 'rejected':
      if (data['override'] === true) return `${known}Over`
      if (data['ownReassignment'] === true) return `${known}Own`
      return isGiven('insteadOf') ? `${known}For` : known
    case 'cancelled':
      return data['replacedBy'] === undefined ? 'cancelled' : 'replaced'
    case 'reminded':
      if (isPerson) return 'remindedBy'
      if (isGiven('inDigest')) return isGiven('people') ? 'remindedOrDigest' : 'inDigest'
      return 'reminded'
    case 'delegated':
      return standInsOf(data).length > 0 ? 'delegatedTo' : known
    case 'escalated':
      return isGiven('to') ? 'escalated' : 'escalatedToNobody'
    case 'reassigned':
      return isPerson ? handedOn(actor, peopleIn(data['from']), peopleIn(data['to'])) : known
    default:
      return known
  }
}

/** The message of a reassignment: of the person's own decision, to themselves, or between others. */
function handedOn({ id }: Person, from: readonly Person[], to: readonly Person[]): Message {
  if (from.every((one) => one.id === id)) return 'reassignedOwn'
  return to.some((one) => one.id === id) ? 'reassignedSelf' : 'reassigned'
}

function valuesOf({ actor, data = {} }: AuditEntry, viewer: Viewer): Record<string, string> {
  const named = (...names: string[]): string =>
    peopleList(
      names.flatMap((name) => peopleIn(data[name])),
      'and',
      3,
    )
  const expiresAt = String(data['expiresAt'] ?? '')
  return {
    name:
      data['alias'] !== undefined && typeof data['displayName'] === 'string'
        ? cut(data['displayName'], longest.name)
        : 'id' in actor && actor.displayName !== ''
          ? shortName(actor)
          : strings.timeline.somebody,
    people:
      peopleList(
        standInsOf(data).flatMap((one) => peopleIn(one['person'])),
        'and',
        3,
      ) ||
      named('to', 'people', 'person', 'insteadOf') ||
      strings.timeline.somebody,
    others:
      peopleList(
        standInsOf(data).flatMap((one) => peopleIn(one['insteadOf'])),
        'and',
        3,
      ) ||
      named('from', 'inDigest') ||
      strings.timeline.somebody,
    at: Number.isNaN(Date.parse(expiresAt)) ? '' : fullMoment(expiresAt, viewer),
  }
}

/** The delegates of an entry, each with the absent person. */
const standInsOf = ({ standIns }: Record<string, unknown>): Record<string, unknown>[] =>
  z.array(z.record(z.string(), z.unknown())).catch([]).parse(standIns)

/** The people of an entry's value: one person or a list; none for other values. */
function peopleIn(value: unknown): Person[] {
  const all: unknown[] = Array.isArray(value) ? value : [value]
  return all.flatMap((one) => person.safeParse(one).data ?? [])
}
