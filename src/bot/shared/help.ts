import { z } from 'zod'
import { cards } from '../../cards/index.ts'
import { isForAdmins, type Reply, type Turn } from '../channel/turn.ts'
import { type Command, defineCommand } from '../define-command.ts'
import { offersTo } from '../drafts/new.ts'

/** `help`, `hi`, `hello`: the commands for this person. */
export const helpCommand = defineCommand({
  words: 'help',
  also: ['hi', 'hello', 'hey', 'start', '?'],
  menu: 10,
  argument: z.string(),
  handle: showHelp,
  otherwise: showHelp,
})

async function showHelp(turn: Turn): Promise<Reply> {
  const { actor, core } = turn
  const [{ requests }, offers] = await Promise.all([core.listApprovals(actor, { limit: 1 }), offersTo(turn)])
  const { displayName } = actor
  return { card: cards.help({ displayName, isApprover: requests.length > 0, isAdmin: isForAdmins(actor), offers }) }
}

/** `admin help`, or `admin` alone: all admin commands. `table` is a function, since the table contains this command. */
export function adminHelpFor(table: () => readonly Command[]): Command {
  const show = async (): Promise<Reply> => {
    const words = table()
      .filter(({ forAdmins }) => forAdmins)
      .map((command) => command.words)
    return { card: cards.adminHelp(words) }
  }
  return defineCommand({
    words: 'admin help',
    alone: ['admin', 'admin ?', 'admin commands'],
    forAdmins: true,
    argument: z.string(),
    handle: show,
    otherwise: show,
  })
}
