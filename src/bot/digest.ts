import { z } from 'zod'
import { cards } from '../cards/index.ts'
import { defineCardAction } from './define-card-action.ts'
import { defineCommand } from './define-command.ts'
import type { Reply, Turn } from './turn.ts'

const data = z.object({})

/** Brings the summary to now, and changes nothing. */
export const refreshDigest = defineCardAction({ verb: 'digest.refresh', data, handle: showDigest })

/** From the next working day on the person gets it. */
export const beginDigest = defineCardAction({ verb: 'digest.on', data, handle: (turn) => chooseDigest(turn, true) })

/** The person gets it no more, and reminders in its place. */
export const endDigest = defineCardAction({ verb: 'digest.off', data, handle: (turn) => chooseDigest(turn, false) })

/** What is open for the person just now. */
export async function showDigest({ provisioning, actor, viewer }: Turn): Promise<Reply> {
  const [digest, standing] = await Promise.all([provisioning.digest.read(actor), provisioning.digest.standing(actor)])
  return { card: cards.digest(digest, standing, viewer) }
}

/** Switches it, and says how it stands then. */
export async function chooseDigest({ provisioning, actor, viewer }: Turn, isOn: boolean): Promise<Reply> {
  return { card: cards.digestChoice(await provisioning.digest.choose(actor, isOn), viewer) }
}

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
