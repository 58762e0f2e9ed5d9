/** Exports and erasure, for admins. */
import { z } from 'zod'
import { cards } from '../../cards/index.ts'
import type { Days, Fault, Person } from '../../core/index.ts'
import type { Reply, Turn } from '../channel/turn.ts'
import { defineCardAction, defineCommand, input, isRefusal } from '../define.ts'

const typedText = z.string().max(300)

/** `admin export 2026-11-01 to 2026-11-20`: links to requests and the audit; without days a form. */
const adminExportCommand = defineCommand({
  words: 'admin export',
  forAdmins: true,
  argument: typedText,
  async handle(turn, typed) {
    const days = parseDays(typed, turn.viewer.now)
    return days ? showExport(turn, days) : showExportForm(turn, { typed })
  },
  otherwise: (turn) => showExportForm(turn),
})

/** `admin export person dana@contoso.com`: a link to all data that is stored about a person. */
const adminExportPersonCommand = defineCommand({
  words: 'admin export person',
  forAdmins: true,
  argument: typedText,
  handle: (turn, typed) =>
    forPerson(turn, 'export', typed, async ({ id }) => {
      const offer = await turn.core.offerPersonExport(turn.actor, { personId: id })
      return { card: cards.adminExport({ step: 'person', offer }, turn.viewer) }
    }),
  otherwise: (turn) => forPerson(turn, 'export', ''),
})

/** `admin erase dana@contoso.com`: asks the admin to type the person's address. The click erases. */
const adminEraseCommand = defineCommand({
  words: 'admin erase',
  also: ['admin erase person'],
  forAdmins: true,
  argument: typedText,
  handle: (turn, typed) => forPerson(turn, 'erase', typed, ({ id }) => showErasure(turn, id)),
  otherwise: (turn) => forPerson(turn, 'erase', ''),
})

/** The days in a text, by UTC: two days, one, or a month by its name; undefined for anything else. */
function parseDays(typed: string, now: Date): Days | undefined {
  const text = typed.trim().toLowerCase()
  const month = ['this month', 'last month'].indexOf(text)
  if (month >= 0) return monthBefore(now, month)
  const ago = ['today', 'yesterday'].indexOf(text)
  if (ago >= 0) {
    const day = dayOf(now.getTime() - ago * 86_400_000)
    return { from: day, to: day }
  }
  const [from = '', to = from, ...more] = text
    .split(/\s+(?:to\s+|until\s+|[-–]\s+)?|\s*[–,]\s*/)
    .filter((word) => word !== 'from')
  const isDay = (word: string) => z.iso.date().safeParse(word).success
  return isDay(from) && isDay(to) && more.length === 0 ? { from, to } : undefined
}

const dayOf = (at: number): string => new Date(at).toISOString().slice(0, 10)

function monthBefore(now: Date, months: number): Days {
  const [year, month] = [now.getUTCFullYear(), now.getUTCMonth() - months]
  return { from: dayOf(Date.UTC(year, month, 1)), to: dayOf(Date.UTC(year, month + 1, 0)) }
}

/** Runs an action for the person that a text means. If it means none or several, the card asks for the person. */
async function forPerson(
  turn: Turn,
  purpose: 'export' | 'erase',
  text: string,
  act?: (person: Person) => Promise<Reply>,
): Promise<Reply> {
  const typed = text.trim()
  const mentioned = turn.mentions.find(({ name, id }) => id && name.toLowerCase() === typed.toLowerCase())?.id
  const people = typed === '' ? [] : await turn.core.findPerson(turn.actor, { typed: mentioned ?? typed })
  const [only, ...others] = people
  if (only && others.length === 0 && act) return act(only)
  return { card: cards.adminPerson({ purpose, typed, people }) }
}

/** Creates the links of an export. The form returns with the mistakes. */
const exportAsAdmin = defineCardAction({
  verb: 'admin.export',
  forAdmins: true,
  data: z.object({ from: input, to: input }),
  handle: (turn, days) => showExport(turn, days),
})

/** The links of an export of these days, or the form with the mistakes. */
async function showExport(turn: Turn, days: Days): Promise<Reply> {
  try {
    const offer = await turn.core.offerExport(turn.actor, days)
    return { card: cards.adminExport({ step: 'links', offer }, turn.viewer) }
  } catch (error) {
    if (!isRefusal(error, 'validation-failed')) throw error
    return showExportForm(turn, { days, faults: error.faults })
  }
}

/** The form of an export, with this month until today if no days are given. `typed`: a text that has no days. */
async function showExportForm(
  { viewer }: Turn,
  form: { days?: Days; typed?: string; faults?: readonly Fault[] } = {},
): Promise<Reply> {
  const today = dayOf(viewer.now.getTime())
  const { days = { from: `${today.slice(0, 8)}01`, to: today }, typed = '', faults = [] } = form
  return { card: cards.adminExport({ step: 'form', days, typed, faults }, viewer) }
}

const address = input.transform((text) => text.slice(0, 300))

/** Orders the erasure of a person after their address was typed. A second click is the same order. */
const eraseAsAdmin = defineCardAction({
  verb: 'admin.erase',
  forAdmins: true,
  data: z.object({ personId: z.uuid(), address, erasureId: z.uuid() }),
  async handle({ core, actor, viewer }, order) {
    const { state, erasure } = await core.orderErasure(actor, order)
    return { card: cards.adminErase({ step: state, erasure }, viewer) }
  },
})

/** Ends a person's delegations and those to them. Then the card asks to confirm, unless something else blocks it. */
const endDelegationsAsAdmin = defineCardAction({
  verb: 'admin.undelegate',
  forAdmins: true,
  data: z.object({ personId: z.uuid() }),
  async handle(turn, { personId }) {
    await turn.core.endDelegationsOf(turn.actor, { personId })
    return showErasure(turn, personId)
  },
})

/** The data that an erasure would remove and keep, or what blocks the erasure. */
async function showErasure({ core, actor, viewer }: Turn, personId: string): Promise<Reply> {
  const erasure = await core.readErasure(actor, { personId })
  const step = erasure.isYou || erasure.isBlocked ? 'blocked' : 'confirm'
  return { card: cards.adminErase({ step, erasure }, viewer) }
}

export const privacyActions = [exportAsAdmin, eraseAsAdmin, endDelegationsAsAdmin]
export const privacyCommands = [adminExportCommand, adminExportPersonCommand, adminEraseCommand]
