import { z } from 'zod'
import { cards } from '../../cards/index.ts'
import { chooseDigest } from '../actions/digest.ts'
import { defineCommand } from '../define-command.ts'
import type { Reply, Turn } from '../turn.ts'

/** `digest on`, `digest off`: switches the summary of each day; alone, says how it stands. */
export const digestCommand = defineCommand({
  words: 'digest',
  also: ['summary', 'daily summary'],
  argument: z
    .string()
    .toLowerCase()
    .pipe(z.enum(['on', 'off'])),
  handle: (turn, word) => chooseDigest(turn, word === 'on'),
  otherwise: showStanding,
})

async function showStanding({ provisioning, actor, viewer }: Turn): Promise<Reply> {
  return { card: cards.digestChoice(await provisioning.digest.standing(actor), viewer) }
}
