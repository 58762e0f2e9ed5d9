import { setTimeout } from 'node:timers/promises'
import { z } from 'zod'
import { cardsFor, receiverKey, receiversOfPage, type WebhookNews } from '../../cards/index.ts'
import type { ReceiverId } from '../../core/index.ts'
import type { Reply, Turn } from '../channel/turn.ts'
import { defineCardAction, isRefusal, pageStart, showNotice, version } from '../define.ts'

const templateId = z.union([z.uuid().toLowerCase(), receiverKey])
/** A confirmation has a version. A click without a version shows the confirmation. */
const confirmed = z.object({ templateId, version: version.optional() })

/** Shows another page of the receivers, on the same card. */
export const pageReceivers = defineCardAction({
  verb: 'admin.webhooks',
  forAdmins: true,
  data: z.object({ from: pageStart }),
  handle: (turn, { from }) => showReceivers(turn, from),
})

/** Shows one receiver. */
export const examineReceiver = defineCardAction({
  verb: 'admin.webhook',
  forAdmins: true,
  data: z.object({ templateId }),
  handle: (turn, { templateId }) => showReceiver(turn, receiverOf(templateId), () => ({ kind: 'show' })),
})

/** The longest time until the answer to a click, in milliseconds. A receiver may need longer. */
const patience = 4000

/**
 * Sends one test delivery now. Only the audit records the test, so no confirmation is needed. If the receiver is slow,
 * the card appears before its answer and says where the result will appear.
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

/** Whether a receiver is disabled and gets no deliveries. */
async function isOff({ core, actor }: Turn, id: z.output<typeof templateId>): Promise<boolean> {
  const { state } = await core.readReceiver(actor, { subscriber: receiverOf(id) })
  return state === 'off'
}

/** Enables a receiver after an admin confirms it. An enabled receiver does not change. */
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

/** Resends a receiver's failed deliveries after an admin confirms it. Deliveries in progress are not sent twice. */
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

/**
 * Sends a receiver's waiting deliveries now. Only the time of the next attempts changes, so no confirmation is needed.
 */
export const sendWaiting = defineCardAction({
  verb: 'admin.send-waiting',
  forAdmins: true,
  data: z.object({ templateId }),
  handle: (turn, { templateId }) =>
    showReceiver(turn, receiverOf(templateId), async () => {
      if (await isOff(turn, templateId)) return { kind: 'askOn' }
      const { sent } = await turn.core.sendWaitingDeliveries(turn.actor, { subscriber: receiverOf(templateId) })
      return { kind: 'sentNow', sent }
    }),
})

/** Returns the receiver that the data of a button names. */
export const receiverOf = (key: string): ReceiverId => (key === 'own' ? 'bot' : { templateId: key })

/** Shows a page of all receivers. */
export async function showReceivers({ core, actor, viewer }: Turn, from = 0): Promise<Reply> {
  const page = await core.listReceivers(actor, { from, most: receiversOfPage })
  return { card: cardsFor(viewer).adminWebhooks(page, viewer) }
}

/** Runs an action on a receiver, then shows its status; a notice if the receiver no longer exists. */
async function showReceiver(
  turn: Turn,
  subscriber: ReceiverId,
  act: () => WebhookNews | Promise<WebhookNews>,
): Promise<Reply> {
  const { core, actor, viewer } = turn
  try {
    const news = await act()
    const [receiver, failed] = await Promise.all([
      core.readReceiver(actor, { subscriber }),
      core.countFailedDeliveries(actor, { subscriber }),
    ])
    return { card: cardsFor(viewer).adminWebhook(receiver, failed, news, viewer) }
  } catch (error) {
    if (!isRefusal(error, 'not-found')) throw error
    return showNotice(turn, { code: 'webhookGoneForGood' })
  }
}
