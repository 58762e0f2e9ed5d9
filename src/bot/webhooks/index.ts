/** Webhook receivers and their deliveries, for admins. */
import { z } from 'zod'
import { meantTemplates, referencePattern } from '../../core/index.ts'
import type { Reply, Turn } from '../channel/turn.ts'
import { defineCommand, defineShowCommand, showNotice } from '../define.ts'
import { ifFound } from '../requests/index.ts'
import { examineDelivery, pageDeliveries, redeliver, showDeliveries } from './deliveries.ts'
import {
  examineReceiver,
  pageReceivers,
  resendFailed,
  sendWaiting,
  showReceivers,
  switchReceiverOn,
  testReceiver,
} from './receivers.ts'

/**
 * `admin webhooks`: shows the receivers and their status. With a request's number it shows the deliveries of that
 * request, with a name the deliveries of that template.
 */
const adminWebhooksCommand = defineCommand({
  name: 'admin webhooks',
  forAdmins: true,
  argument: z.literal(''),
  handle: (turn) => showReceivers(turn),
  withoutValidArgument: (turn, typed) =>
    referencePattern.test(typed)
      ? ifFound(turn, typed, ({ requestId }) => showDeliveries(turn, { of: 'all', requestId }))
      : showTemplate(turn, typed),
})

/** `admin webhooks failures`: shows the deliveries to all receivers that failed for good. */
const webhookFailuresCommand = defineShowCommand({
  name: 'admin webhooks failures',
  forAdmins: true,
  show: (turn) => showDeliveries(turn, { of: 'failed' }),
})

/** Shows the deliveries of a template; the receivers if the name fits several templates or one without a webhook. */
async function showTemplate(turn: Turn, typed: string): Promise<Reply> {
  const { found } = meantTemplates(await turn.core.listTemplates(turn.actor), typed)
  if (found.length === 0) return showNotice(turn, { code: 'noTemplateLikeIt' })
  const [only, ...more] = found.filter(({ webhook }) => webhook !== null)
  if (only && more.length === 0) return showDeliveries(turn, { of: 'all', templateId: only.id })
  return showReceivers(turn)
}

export const webhookActions = [
  pageReceivers,
  examineReceiver,
  testReceiver,
  switchReceiverOn,
  resendFailed,
  sendWaiting,
  pageDeliveries,
  examineDelivery,
  redeliver,
]
export const webhookCommands = [adminWebhooksCommand, webhookFailuresCommand]
