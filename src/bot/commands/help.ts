import { z } from 'zod'
import { cards } from '../../cards/index.ts'
import { defineCommand } from '../define-command.ts'
import type { Turn } from '../turn.ts'

/** `help`, `hi`, `hello`: what the bot can do. */
export const helpCommand = defineCommand({
  words: 'help',
  also: ['hi', 'hello', 'hey', 'start', '?'],
  menu: 6,
  argument: z.string(),
  handle: showHelp,
  otherwise: showHelp,
})

async function showHelp(turn: Turn) {
  const { requests } = await turn.provisioning.listApprovals(turn.actor, 1)
  return { card: cards.help({ displayName: turn.actor.displayName, isApprover: requests.length > 0 }) }
}
