import { z } from 'zod'
import { type AuditEntry, auditActions, type Person, person } from '../../core/index.ts'
import { format, restText, strings } from '../shared/messages.ts'
import { cut, fullMoment, longest, moment, peopleList, shortName, type Viewer } from '../shared/texts.ts'

type Text = keyof typeof strings.timeline.says

/** How a status card shows who did what: behind a button that asks for it, or with it on the card, folded or open. */
export const timeline = z.strictObject({
  shows: z.enum(['button', 'folded', 'open']),
  /** How many there are before the first that is shown, or `''`. */
  earlier: z.string(),
  rows: z.array(z.strictObject({ text: z.string(), at: z.string(), comment: z.string() })),
})
type TimelineView = z.output<typeof timeline>

/** The entries that a card shows, and whether they are to be seen at once. */
export interface Timeline {
  readonly entries: readonly AuditEntry[]
  readonly isOpen: boolean
}
/** A card has room for so many entries, and characters of a comment. */
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

/** The last entries, the oldest of them first, as progress is read. The steps of the work stand in the progress itself. */
export function timelineView(
  known: Timeline | undefined,
  viewer: Viewer,
  room: TimelineRoom = timelineRooms[0],
): TimelineView {
  if (!known) return { shows: 'button', earlier: '', rows: [] }
  const entries = known.entries.flatMap((entry, index) => {
    const text = textOf(entry, index === 0)
    return text === undefined ? [] : [{ entry, text }]
  })
  const shown = entries.slice(-room.rows)
  return {
    shows: known.isOpen ? 'open' : 'folded',
    earlier: restText(strings.timeline.earlier, entries.length - shown.length),
    rows: shown.map(({ entry, text }) => ({
      text: format(strings.timeline.says[text], valuesOf(entry, viewer)),
      at: moment(entry.at, viewer, 'day'),
      comment: room.comment > 0 && entry.comment ? quoted(cut(entry.comment, room.comment)) : '',
    })),
  }
}

const quoted = (comment: string): string => format(strings.timeline.quote, { comment })

/** Which words tell an entry; undefined for the steps of the work, and for what a later version may have written. */
function textOf({ action, actor, data = {} }: AuditEntry, isFirst: boolean): Text | undefined {
  const known = auditActions.find((one) => one === action)
  const isPerson = 'id' in actor
  const isGiven = (name: string): boolean => peopleIn(data[name]).length > 0
  switch (known) {
    case undefined:
    // Who tried and might not is for those who audit.
    case 'refused':
      return undefined
    case 'queued':
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
    case 'escalated':
      return isGiven('to') ? 'escalated' : 'escalatedToNobody'
    case 'reassigned':
      return isPerson ? handedOn(actor, peopleIn(data['from']), peopleIn(data['to'])) : known
    default:
      return known
  }
}

/** Whoever gave their own part away, or took somebody else's over, is told of as such. */
function handedOn({ id }: Person, from: readonly Person[], to: readonly Person[]): Text {
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
    people: named('to', 'people', 'person', 'insteadOf') || strings.timeline.somebody,
    others: named('from', 'inDigest') || strings.timeline.somebody,
    at: Number.isNaN(Date.parse(expiresAt)) ? '' : fullMoment(expiresAt, viewer),
  }
}

/** People as entries hold them: one, or a list; anything else names nobody. */
function peopleIn(value: unknown): Person[] {
  const all: unknown[] = Array.isArray(value) ? value : [value]
  return all.flatMap((one) => person.safeParse(one).data ?? [])
}
