import { setTimeout } from 'node:timers/promises'
import type { TurnContext } from 'botbuilder'
import { cards, type Viewer } from '../../cards/index.ts'
import { isDirectoryAway, isStoreAway } from '../../core/index.ts'
import { hear } from '../commands.ts'
import { adminHealthCommand } from '../operations/commands.ts'
import { respond } from './respond.ts'
import { type BotServices, clickOf, isForAdmins, textOf } from './turn.ts'

/** Nobody waits longer for the answer, and at least so long is waited for what Microsoft 365 says. In milliseconds. */
const answerWithin = 4500
const leastPatience = 500

/** Whether somebody asks how the service does. */
function asksForHealth({ activity }: TurnContext): boolean {
  if (activity.type !== 'message' || clickOf(activity)) return false
  return hear(textOf(activity))?.command === adminHealthCommand
}

/**
 * Answers an admin who asks how the service does while the store is away, or the directory, which says who is an admin: then whoever
 * is known to be one is answered. What lies in a store that is away is left out. False: it is not that, and not answered. `began`: when the turn did, by `performance.now()`. Throws when
 * the directory does not answer, and nobody knows whether it is an admin.
 */
export async function tellHealthWithoutStore(
  context: TurnContext,
  error: unknown,
  { core }: BotServices,
  { viewer, began }: { viewer: Viewer; began: number },
): Promise<boolean> {
  const { conversation, channelData } = context.activity
  const tenantId: unknown = conversation.tenantId ?? channelData?.tenant?.id
  const isAway = isStoreAway(error) || isDirectoryAway(error)
  if (!isAway || !asksForHealth(context) || typeof tenantId !== 'string') return false
  const actor = await core.actorForHealth({ tenantId, id: viewer.id })
  if (!isForAdmins(actor)) return false
  const left = Math.max(leastPatience, answerWithin - (performance.now() - began))
  const [whole, brief] = [core.readHealth(actor), core.readOwnHealth(actor)]
  const report = await Promise.race([whole, setTimeout(left, brief, { ref: false })])
  await respond(context, cards.adminHealth(report, { ...viewer, isAdmin: true }))
  return true
}
