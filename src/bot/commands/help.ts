import { z } from 'zod'
import { cards } from '../../cards/index.ts'
import { defineCommand } from '../define-command.ts'
import { isForAdmins, type Reply, type Turn } from '../turn.ts'
import { offersTo } from './new.ts'

/** `help`, `hi`, `hello`: what this person can do. */
export const helpCommand = defineCommand({
  words: 'help',
  also: ['hi', 'hello', 'hey', 'start', '?'],
  menu: 10,
  argument: z.string(),
  handle: showHelp,
  otherwise: showHelp,
})

async function showHelp(turn: Turn): Promise<Reply> {
  const { actor, provisioning } = turn
  const [{ requests }, offers] = await Promise.all([provisioning.listApprovals(actor, 1), offersTo(turn)])
  const { displayName } = actor
  return { card: cards.help({ displayName, isApprover: requests.length > 0, isAdmin: isForAdmins(actor), offers }) }
}
