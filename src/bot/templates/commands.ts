import { z } from 'zod'
import { cards, rowsOfPage, type TemplateUse } from '../../cards/index.ts'
import { meantTemplates } from '../../core/index.ts'
import type { Reply, Turn } from '../channel/turn.ts'
import { type Command, defineCommand } from '../define-command.ts'
import { showTemplates, useTemplate } from './actions.ts'

/** `admin templates`: the templates and how often each is used. With a name, that template. */
export const adminTemplatesCommand = defineCommand({
  words: 'admin templates',
  forAdmins: true,
  argument: z.literal(''),
  handle: (turn) => showTemplates(turn),
  otherwise: (turn, typed) => useNamed(turn, typed, 'show'),
})

/** `admin templates show|enable|disable <name or id>`. The last two ask first, and the click does it. */
export const adminTemplateCommands: readonly Command[] = (['show', 'enable', 'disable'] as const).map((does) =>
  defineCommand({
    words: `admin templates ${does}`,
    forAdmins: true,
    argument: z.string().min(1),
    handle: (turn, typed) => useNamed(turn, typed, does),
    otherwise: async ({ viewer }) => ({ card: cards.notice({ code: 'noTemplateNamed' }, viewer) }),
  }),
)

/** Of several that have the name in theirs the admin chooses; where none has, the nearest are offered. */
async function useNamed(turn: Turn, typed: string, does: TemplateUse): Promise<Reply> {
  const { core, actor, viewer } = turn
  const { found, near } = meantTemplates(await core.listTemplates(actor), typed)
  const [only, ...more] = found
  if (only && more.length === 0) return useTemplate(turn, only.id, does)
  const offered = found.length > 0 ? found : near
  const asks = { typed, found: found.length > 0, does }
  const entries = await core.readUseOfTemplates(actor, { templates: offered.slice(0, rowsOfPage) })
  return { card: cards.adminTemplates({ entries, from: 0, total: offered.length, asks }, viewer) }
}
