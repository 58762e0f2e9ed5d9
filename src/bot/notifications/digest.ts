import { z } from 'zod'
import { cards } from '../../cards/index.ts'
import type { Reply, Turn } from '../channel/turn.ts'
import { defineCardAction } from '../define-card-action.ts'
import { defineCommand } from '../define-command.ts'

const data = z.object({})

/** Updates the summary, and changes nothing else. */
export const refreshDigest = defineCardAction({ verb: 'digest.refresh', data, handle: showDigest })

/** Sends the summary to the person from the next working day on. */
export const beginDigest = defineCardAction({ verb: 'digest.on', data, handle: (turn) => chooseDigest(turn, true) })

/** Stops the summary. The person gets reminders instead. */
export const endDigest = defineCardAction({ verb: 'digest.off', data, handle: (turn) => chooseDigest(turn, false) })

/** The open tasks of the person. */
async function showDigest({ provisioning, actor, viewer }: Turn): Promise<Reply> {
  const [digest, setting] = await Promise.all([provisioning.readDigest(actor), provisioning.readDigestSetting(actor)])
  return { card: cards.digest(digest, setting, viewer) }
}

/** Switches the summary on or off, and shows the new setting. */
async function chooseDigest({ provisioning, actor, viewer }: Turn, isOn: boolean): Promise<Reply> {
  return { card: cards.digestChoice(await provisioning.chooseDigest(actor, { isOn }), viewer) }
}

/** `digest on`, `digest off`: switches the daily summary; `digest` alone shows the setting. */
export const digestCommand = defineCommand({
  words: 'digest',
  also: ['summary', 'daily summary'],
  argument: z
    .string()
    .toLowerCase()
    .pipe(z.enum(['on', 'off'])),
  handle: (turn, word) => chooseDigest(turn, word === 'on'),
  otherwise: showSetting,
})

async function showSetting({ provisioning, actor, viewer }: Turn): Promise<Reply> {
  return { card: cards.digestChoice(await provisioning.readDigestSetting(actor), viewer) }
}
