/** `help` and `admin help`. */
import { cards } from '../../cards/index.ts'
import { isForAdmins, type Reply, type Turn } from '../channel/turn.ts'
import { type Command, defineShowCommand } from '../define.ts'
import { requestTypesFor } from '../drafts/index.ts'

/** `help`, `hi`, `hello`: the commands for this person. */
export const helpCommand = defineShowCommand({
  words: 'help',
  also: ['hi', 'hello', 'hey', 'start', '?'],
  menu: 10,
  show: showHelp,
})

async function showHelp(turn: Turn): Promise<Reply> {
  const { actor, core } = turn
  const [{ requests }, offers] = await Promise.all([core.listApprovals(actor, { limit: 1 }), requestTypesFor(turn)])
  const { displayName } = actor
  return { card: cards.help({ displayName, isApprover: requests.length > 0, isAdmin: isForAdmins(actor), offers }) }
}

/** `admin help`, or `admin` alone: all admin commands. `commands` is a function, since the table contains this command. */
export const adminHelpFor = (commands: () => readonly Command[]): Command =>
  defineShowCommand({
    words: 'admin help',
    alone: ['admin', 'admin ?', 'admin commands'],
    forAdmins: true,
    show: async () => ({
      card: cards.adminHelp(
        commands()
          .filter(({ forAdmins }) => forAdmins)
          .map(({ words }) => words),
      ),
    }),
  })
