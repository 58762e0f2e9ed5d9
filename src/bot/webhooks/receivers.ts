import { setTimeout } from 'node:timers/promises'
import { z } from 'zod'
import { cards, receiverKey, receiversOfPage, type WebhookNews } from '../../cards/index.ts'
import { type ErrorCode, ProvisioningError, type ReceiverId } from '../../core/index.ts'
import type { Reply, Turn } from '../channel/turn.ts'
import { defineCardAction } from '../define-card-action.ts'

const templateId = z.union([z.uuid().toLowerCase(), receiverKey])
/** A confirmation carries a version; a click without one only asks. */
const confirmed = z.object({ templateId, version: z.coerce.number().int().min(1).optional() })

/** Turns the page of those who are told of requests; the card changes in place. */
export const pageReceivers = defineCardAction({
  verb: 'admin.webhooks',
  forAdmins: true,
  data: z.object({ from: z.coerce.number().int().min(0).max(999_999).default(0) }),
  handle: (turn, { from }) => showReceivers(turn, from),
})

/** Shows one of them. */
export const examineReceiver = defineCardAction({
  verb: 'admin.webhook',
  forAdmins: true,
  data: z.object({ templateId }),
  handle: (turn, { templateId }) => showReceiver(turn, receiverOf(templateId), () => ({ kind: 'show' })),
})

/** A click is answered within so many milliseconds; a receiver may take longer than that. */
const patience = 4000

/**
 * Sends one test delivery now. It records only that an admin tested the receiver, so no confirmation is needed. If the
 * receiver is slow, the card is shown before its answer, and says where the result will appear.
 */
export const testReceiver = defineCardAction({
  verb: 'admin.webhook-test',
  forAdmins: true,
  data: z.object({ templateId }),
  handle: (turn, { templateId }) =>
    showReceiver(turn, receiverOf(templateId), async () => {
      const late = new AbortController()
      const test = turn.core.testReceiver(turn.actor, { subscriber: receiverOf(templateId) })
      const timeUp = setTimeout(patience, undefined, { ref: false, signal: late.signal }).catch(() => undefined)
      const result = await Promise.race([test, timeUp]).finally(() => late.abort())
      return result ? { kind: 'tested', result } : { kind: 'slow' }
    }),
})

/** Whether one of them was switched off: it is sent nothing then. */
async function isOff({ core, actor }: Turn, id: z.output<typeof templateId>): Promise<boolean> {
  const { state } = await core.readReceiver(actor, { subscriber: receiverOf(id) })
  return state === 'off'
}

/** Switches one of them on again, once an admin has confirmed it. One that is on already is shown so. */
export const switchReceiverOn = defineCardAction({
  verb: 'admin.webhook-on',
  forAdmins: true,
  data: confirmed,
  handle: (turn, { templateId, version }) =>
    showReceiver(turn, receiverOf(templateId), async () => {
      const off = await isOff(turn, templateId)
      if (off && version === undefined) return { kind: 'askOn' }
      if (off) await turn.core.switchReceiverOn(turn.actor, { subscriber: receiverOf(templateId) })
      return { kind: 'isOn' }
    }),
})

/** Sends a receiver's failed deliveries again after an admin confirms. Deliveries in progress are not sent twice. */
export const resendFailed = defineCardAction({
  verb: 'admin.resend',
  forAdmins: true,
  data: confirmed,
  handle: (turn, { templateId, version }) =>
    showReceiver(turn, receiverOf(templateId), async () => {
      const { core } = turn
      if (await isOff(turn, templateId)) return { kind: 'askOn' }
      const failed = await core.countFailedDeliveries(turn.actor, { subscriber: receiverOf(templateId) })
      if (version === undefined && failed > 0) return { kind: 'askResend' }
      const { sent } = await core.replayFailedDeliveries(turn.actor, { subscriber: receiverOf(templateId) })
      return { kind: 'resent', sent }
    }),
})

/** Whom a button means. */
export const receiverOf = (key: string): ReceiverId => (key === 'own' ? 'bot' : { templateId: key })

/** A page of all who are told of requests. */
export async function showReceivers({ core, actor, viewer }: Turn, from = 0): Promise<Reply> {
  const page = await core.listReceivers(actor, { from, most: receiversOfPage })
  return { card: cards.adminWebhooks(page, viewer) }
}

/** Runs an action on a receiver, then shows its status; a notice if it does not exist any more. */
async function showReceiver(
  { core, actor, viewer }: Turn,
  subscriber: ReceiverId,
  act: () => WebhookNews | Promise<WebhookNews>,
): Promise<Reply> {
  try {
    const news = await act()
    const [receiver, failed] = await Promise.all([
      core.readReceiver(actor, { subscriber }),
      core.countFailedDeliveries(actor, { subscriber }),
    ])
    return { card: cards.adminWebhook(receiver, failed, news, viewer) }
  } catch (error) {
    if (!(error instanceof ProvisioningError) || error.code !== gone) throw error
    return { card: cards.notice({ code: 'webhookGoneForGood' }, viewer) }
  }
}

const gone: ErrorCode = 'not-found'
