/** `help`, `admin help`, and the welcome. */
import { cardsFor } from '../../cards/index.ts'
import { isForAdmins, type Reply, type Turn } from '../channel/turn.ts'
import { type Command, defineShowCommand } from '../define.ts'
import { requestTypesFor } from '../drafts/index.ts'
import { isAdminWithoutTemplates, showGettingStarted } from '../operations/index.ts'

/** `help`, `hi`, `hello`: shows the commands for this person. */
export const helpCommand = defineShowCommand({
  name: 'help',
  menu: 10,
  show: (turn) => showHelp(turn),
})

/** Welcomes a person who opens the chat for the first time. An admin sees what works and what is missing. */
export const welcome = (turn: Turn): Promise<Reply> =>
  isForAdmins(turn.actor) ? showGettingStarted(turn) : showHelp(turn)

/**
 * Shows the commands for this person. If there are no templates, an admin sees how to add the first one. `isUnclear`: the
 * card answers a text that is no command.
 */
export async function showHelp(turn: Turn, { isUnclear = false } = {}): Promise<Reply> {
  if (await isAdminWithoutTemplates(turn)) return showGettingStarted(turn)
  const { actor, core, viewer } = turn
  const [has, offers] = await Promise.all([core.readWaiting(actor), requestTypesFor(turn)])
  const { displayName } = actor
  const helpers = offers.length === 0 ? await core.listHelpers(actor) : []
  return { card: cardsFor(viewer).help({ displayName, has, isAdmin: isForAdmins(actor), isUnclear, offers, helpers }) }
}

/**
 * `admin help`, or `admin` alone: shows all admin commands. `commands` is a function, because the list contains this
 * command.
 */
export const adminHelpFor = (commands: () => readonly Command[]): Command =>
  defineShowCommand({
    name: 'admin help',
    alone: ['admin', 'admin ?', 'admin commands'],
    forAdmins: true,
    show: async ({ viewer }) => ({
      card: cardsFor(viewer).adminHelp(
        commands()
          .filter(({ forAdmins }) => forAdmins)
          .map(({ name }) => name),
      ),
    }),
  })
