/** Exports and erasure, for admins. */
import { z } from 'zod'
import { cardsFor } from '../../cards/index.ts'
import type { Days, Fault, Person } from '../../core/index.ts'
import type { Reply, Turn } from '../channel/turn.ts'
import { defineCardAction, defineCommand, input, isRefusal } from '../define.ts'

const typedText = z.string().max(300)

/** `admin export 2026-11-01 to 2026-11-20`: shows links to requests and the audit; without days, a form. */
const adminExportCommand = defineCommand({
  name: 'admin export',
  forAdmins: true,
  argument: typedText,
  async handle(turn, typed) {
    const days = parseDays(typed, turn.viewer.now)
    return days ? showExport(turn, days) : showExportForm(turn, { typed })
  },
  withoutValidArgument: (turn) => showExportForm(turn),
})

/** `admin export person dana@contoso.com`: shows a link to all stored data about a person. */
const adminExportPersonCommand = defineCommand({
  name: 'admin export person',
  forAdmins: true,
  argument: typedText,
  handle: (turn, typed) =>
    forPerson(turn, 'export', typed, async ({ id }) => {
      const offer = await turn.core.offerPersonExport(turn.actor, { personId: id })
      return { card: cardsFor(turn.viewer).adminExport({ step: 'person', offer }, turn.viewer) }
    }),
  withoutValidArgument: (turn) => forPerson(turn, 'export', ''),
})

/**
 * `admin erase dana@contoso.com`: shows a card on which the admin types the person's address. The button of the card starts
 * the erasure.
 */
const adminEraseCommand = defineCommand({
  name: 'admin erase',
  forAdmins: true,
  argument: typedText,
  handle: (turn, typed) => forPerson(turn, 'erase', typed, ({ id }) => showErasure(turn, id)),
  withoutValidArgument: (turn) => forPerson(turn, 'erase', ''),
})

/**
 * Returns the days in a text, in UTC: two dates, one date, `today`, `yesterday`, `this month` or `last month`. Returns
 * undefined for any other text.
 */
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
    .filter((part) => part !== 'from')
  const isDay = (part: string) => z.iso.date().safeParse(part).success
  return isDay(from) && isDay(to) && more.length === 0 ? { from, to } : undefined
}

const dayOf = (at: number): string => new Date(at).toISOString().slice(0, 10)

function monthBefore(now: Date, months: number): Days {
  const [year, month] = [now.getUTCFullYear(), now.getUTCMonth() - months]
  return { from: dayOf(Date.UTC(year, month, 1)), to: dayOf(Date.UTC(year, month + 1, 0)) }
}

/**
 * Looks up the person by the typed text and runs the action. If the text matches no person or several people, shows a card to
 * choose one.
 */
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
  return { card: cardsFor(turn.viewer).adminPerson({ purpose, typed, people }) }
}

/** Creates the links of an export. If the days are invalid, shows the form again with the errors. */
const exportAsAdmin = defineCardAction({
  verb: 'admin.export',
  forAdmins: true,
  data: z.object({ from: input, to: input }),
  handle: (turn, days) => showExport(turn, days),
})

/** Shows the links of an export of these days, or the form with the errors. */
async function showExport(turn: Turn, days: Days): Promise<Reply> {
  try {
    const offer = await turn.core.offerExport(turn.actor, days)
    return { card: cardsFor(turn.viewer).adminExport({ step: 'links', offer }, turn.viewer) }
  } catch (error) {
    if (!isRefusal(error, 'validation-failed')) throw error
    return showExportForm(turn, { days, faults: error.faults })
  }
}

/**
 * Shows the form of an export. Default: from the first day of this month until today. `typed`: the text that could not be
 * read as days.
 */
async function showExportForm(
  { viewer }: Turn,
  form: { days?: Days; typed?: string; faults?: readonly Fault[] } = {},
): Promise<Reply> {
  const today = dayOf(viewer.now.getTime())
  const { days = { from: `${today.slice(0, 8)}01`, to: today }, typed = '', faults = [] } = form
  return { card: cardsFor(viewer).adminExport({ step: 'form', days, typed, faults }, viewer) }
}

const address = input.transform((text) => text.slice(0, 300))

/** Starts the erasure of a person after the admin typed the person's address. A second click starts no second erasure. */
const eraseAsAdmin = defineCardAction({
  verb: 'admin.erase',
  forAdmins: true,
  data: z.object({ personId: z.uuid(), address, erasureId: z.uuid() }),
  async handle({ core, actor, viewer }, order) {
    const { state, erasure } = await core.orderErasure(actor, order)
    return { card: cardsFor(viewer).adminErase({ step: state, erasure }, viewer) }
  },
})

/**
 * Ends all delegations from and to a person. Then the card asks to confirm the erasure, unless something else blocks the
 * erasure.
 */
const endDelegationsAsAdmin = defineCardAction({
  verb: 'admin.undelegate',
  forAdmins: true,
  data: z.object({ personId: z.uuid() }),
  async handle(turn, { personId }) {
    await turn.core.endDelegationsOf(turn.actor, { personId })
    return showErasure(turn, personId)
  },
})

/** Shows the data that an erasure would remove and keep, or what blocks the erasure. */
async function showErasure({ core, actor, viewer }: Turn, personId: string): Promise<Reply> {
  const erasure = await core.readErasure(actor, { personId })
  const step = erasure.isYou || erasure.isBlocked ? 'blocked' : 'confirm'
  return { card: cardsFor(viewer).adminErase({ step, erasure }, viewer) }
}

export const privacyActions = [exportAsAdmin, eraseAsAdmin, endDelegationsAsAdmin]
export const privacyCommands = [adminExportCommand, adminExportPersonCommand, adminEraseCommand]
