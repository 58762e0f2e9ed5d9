import { z } from 'zod'
import { cards } from '../../cards/index.ts'
import type { Days, Person } from '../../core/index.ts'
import type { Reply, Turn } from '../channel/turn.ts'
import { defineCommand } from '../define-command.ts'
import { erasureAsked } from './erase.ts'
import { exportForm, exportOf } from './export.ts'

const typed = z.string().max(300)

/** `admin export 2026-11-01 to 2026-11-20`: links to requests and the audit; without days a form. */
export const adminExportCommand = defineCommand({
  words: 'admin export',
  forAdmins: true,
  argument: typed,
  async handle(turn, words) {
    const days = daysIn(words, turn.viewer.now)
    return days ? exportOf(turn, days) : exportForm(turn, { typed: words })
  },
  otherwise: (turn) => exportForm(turn),
})

/** `admin export person dana@contoso.com`: a link to all data that is stored about a person. */
export const adminExportPersonCommand = defineCommand({
  words: 'admin export person',
  forAdmins: true,
  argument: typed,
  handle: (turn, words) =>
    ofPerson(turn, 'export', words, async ({ id }) => {
      const offer = await turn.core.offerPersonExport(turn.actor, { personId: id })
      return { card: cards.adminExport({ step: 'person', offer }, turn.viewer) }
    }),
  otherwise: (turn) => ofPerson(turn, 'export', ''),
})

/** `admin erase dana@contoso.com`: asks first, and for their address; the click does it. */
export const adminEraseCommand = defineCommand({
  words: 'admin erase',
  also: ['admin erase person'],
  forAdmins: true,
  argument: typed,
  handle: (turn, words) => ofPerson(turn, 'erase', words, ({ id }) => erasureAsked(turn, id)),
  otherwise: (turn) => ofPerson(turn, 'erase', ''),
})

/** The days that are meant, by UTC: two, one, or a month by its name; undefined for anything else. */
export function daysIn(words: string, now: Date): Days | undefined {
  const said = words.trim().toLowerCase()
  const month = ['this month', 'last month'].indexOf(said)
  if (month >= 0) return monthBefore(now, month)
  const ago = ['today', 'yesterday'].indexOf(said)
  if (ago >= 0) {
    const day = dayOf(now.getTime() - ago * 86_400_000)
    return { from: day, to: day }
  }
  const [from = '', to = from, ...more] = said
    .split(/\s+(?:to\s+|until\s+|[-–]\s+)?|\s*[–,]\s*/)
    .filter((word) => word !== 'from')
  const isDay = (word: string) => z.iso.date().safeParse(word).success
  return isDay(from) && isDay(to) && more.length === 0 ? { from, to } : undefined
}

const dayOf = (at: number): string => new Date(at).toISOString().slice(0, 10)
function monthBefore(now: Date, months: number): Days {
  const place = [now.getUTCFullYear(), now.getUTCMonth() - months] as const
  return { from: dayOf(Date.UTC(...place, 1)), to: dayOf(Date.UTC(place[0], place[1] + 1, 0)) }
}

/** What is to be done with the one person who is meant; where there are none or several, a card that asks. */
async function ofPerson(
  turn: Turn,
  purpose: 'export' | 'erase',
  words: string,
  then?: (person: Person) => Promise<Reply>,
): Promise<Reply> {
  const said = words.trim()
  const mentioned = turn.mentions.find(({ name, id }) => id && name.toLowerCase() === said.toLowerCase())?.id
  const people = said === '' ? [] : await turn.core.findPerson(turn.actor, { typed: mentioned ?? said })
  const [only, ...others] = people
  if (only && others.length === 0 && then) return then(only)
  return { card: cards.adminPerson({ purpose, typed: said, people }) }
}
