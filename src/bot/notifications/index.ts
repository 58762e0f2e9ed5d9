/** The outbox, which sends ordered cards into chats, and the setting of the daily digest. */
import { z } from 'zod'
import { cardsFor } from '../../cards/index.ts'
import type { Reply, Turn } from '../channel/turn.ts'
import { defineCardAction, defineCommand } from '../define.ts'

export { createOutbox } from './outbox.ts'

const data = z.object({})

/** Updates the digest card. */
const refreshDigest = defineCardAction({
  verb: 'digest.refresh',
  data,
  async handle({ core, actor, viewer }) {
    const [digest, standing] = await Promise.all([core.readDigest(actor), core.readDigestSetting(actor)])
    return { card: cardsFor(viewer).digest(digest, standing, viewer) }
  },
})

/** Turns on the digest from the next working day. */
const beginDigest = defineCardAction({ verb: 'digest.on', data, handle: (turn) => chooseDigest(turn, true) })

/** Turns off the digest. The person gets reminders instead. */
const endDigest = defineCardAction({ verb: 'digest.off', data, handle: (turn) => chooseDigest(turn, false) })

/** Turns the digest on or off, and shows the new setting. */
async function chooseDigest({ core, actor, viewer }: Turn, isOn: boolean): Promise<Reply> {
  return { card: cardsFor(viewer).digestChoice(await core.chooseDigest(actor, { isOn }), viewer) }
}

/** `digest on`, `digest off`: turns the daily digest on or off; `digest` alone shows the setting. */
const digestCommand = defineCommand({
  name: 'digest',
  argument: z
    .string()
    .toLowerCase()
    .pipe(z.enum(['on', 'off'])),
  handle: (turn, choice) => chooseDigest(turn, choice === 'on'),
  withoutValidArgument: async ({ core, actor, viewer }) => ({
    card: cardsFor(viewer).digestChoice(await core.readDigestSetting(actor), viewer),
  }),
})

export const digestActions = [refreshDigest, beginDigest, endDigest]
export const digestCommands = [digestCommand]
