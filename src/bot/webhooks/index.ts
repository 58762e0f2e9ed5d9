/** Receivers of webhooks and their deliveries, for admins. */
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
 * `admin webhooks`: the receivers and their status. With a request's number it shows the deliveries of that request,
 * with a name those of that template.
 */
const adminWebhooksCommand = defineCommand({
  words: 'admin webhooks',
  also: ['admin webhook'],
  forAdmins: true,
  argument: z.literal(''),
  handle: (turn) => showReceivers(turn),
  otherwise: (turn, typed) =>
    referencePattern.test(typed)
      ? ifFound(turn, typed, ({ requestId }) => showDeliveries(turn, { of: 'all', requestId }))
      : showTemplate(turn, typed),
})

/** `admin webhooks failures`: the deliveries that failed finally, for all receivers. */
const webhookFailuresCommand = defineShowCommand({
  words: 'admin webhooks failures',
  also: ['admin webhooks failed'],
  forAdmins: true,
  show: (turn) => showDeliveries(turn, { of: 'failed' }),
})

/** The deliveries of a template. Shows the receivers if the name fits several templates or one without a webhook. */
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
