import { z } from 'zod'
import { cards } from '../../cards/index.ts'
import { meantTemplates, ProvisioningError, referencePattern } from '../../core/index.ts'
import type { Reply, Turn } from '../channel/turn.ts'
import { defineCommand } from '../define-command.ts'
import { showDeliveries } from './deliveries.ts'
import { showReceivers } from './receivers.ts'

/**
 * `admin webhooks`: the receivers and their status. With a request's number it shows the deliveries of that request,
 * with a name those of that template.
 */
export const adminWebhooksCommand = defineCommand({
  words: 'admin webhooks',
  also: ['admin webhook'],
  forAdmins: true,
  argument: z.literal(''),
  handle: (turn) => showReceivers(turn),
  otherwise: (turn, typed) => (referencePattern.test(typed) ? ofRequest(turn, typed) : ofTemplate(turn, typed)),
})

/** `admin webhooks failures`: the deliveries that failed finally, for all receivers. */
export const webhookFailuresCommand = defineCommand({
  words: 'admin webhooks failures',
  also: ['admin webhooks failed'],
  forAdmins: true,
  argument: z.string(),
  handle: (turn) => showDeliveries(turn, { of: 'failed' }),
  otherwise: (turn) => showDeliveries(turn, { of: 'failed' }),
})

async function ofRequest(turn: Turn, reference: string): Promise<Reply> {
  const { core, actor, viewer } = turn
  try {
    const { requestId } = await core.readRequestByReference(actor, { reference })
    return await showDeliveries(turn, { of: 'all', requestId })
  } catch (error) {
    if (!(error instanceof ProvisioningError) || error.code !== 'not-found') throw error
    return { card: cards.notice({ code: 'notFoundForAdmin' }, viewer) }
  }
}

/** The list of receivers, if the name fits several templates or one without a webhook. */
async function ofTemplate(turn: Turn, typed: string): Promise<Reply> {
  const { found } = meantTemplates(await turn.core.listTemplates(turn.actor), typed)
  if (found.length === 0) return { card: cards.notice({ code: 'noTemplateLikeIt' }, turn.viewer) }
  const withWebhook = found.filter(({ webhook }) => webhook !== null)
  const [only] = withWebhook
  if (only && withWebhook.length === 1) return showDeliveries(turn, { of: 'all', templateId: only.id })
  return showReceivers(turn)
}
