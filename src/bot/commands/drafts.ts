import { z } from 'zod'
import { cards } from '../../cards/index.ts'
import { defineCommand } from '../define-command.ts'
import { showStep } from '../dialog-steps.ts'
import type { Reply, Turn } from '../turn.ts'
import { begunOf } from './new.ts'

const anything = z.string()

/** `my drafts`: what was begun and neither sent nor discarded. */
export const myDraftsCommand = defineCommand({
  words: 'my drafts',
  also: ['drafts', 'my draft', 'draft'],
  argument: anything,
  handle: showDrafts,
  otherwise: showDrafts,
})

async function showDrafts(turn: Turn): Promise<Reply> {
  const drafts = await begunOf(turn, await turn.provisioning.templates.usable(turn.actor))
  if (drafts.length === 0) return { card: cards.notice({ code: 'noDrafts' }, turn.viewer) }
  return showStep({ step: 'offer', says: 'list', drafts, anew: { of: 'new' } }, turn)
}
