import { z } from 'zod'
import { cards } from '../../cards/index.ts'
import { type Command, defineCommand } from '../define-command.ts'
import type { Reply } from '../turn.ts'

/** `admin help`, or `admin` alone: all that admins can type, as the table of commands has it. */
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
