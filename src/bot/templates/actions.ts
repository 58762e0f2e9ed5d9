import { z } from 'zod'
import { cards, rowsOfPage, type TemplateUse } from '../../cards/index.ts'
import { type ErrorCode, ProvisioningError } from '../../core/index.ts'
import type { Reply, Turn } from '../channel/turn.ts'
import { defineCardAction } from '../define-card-action.ts'

const templateId = z.uuid().toLowerCase()

/** Turns the page of the list of templates; the card changes in place. */
export const pageTemplates = defineCardAction({
  verb: 'admin.templates',
  forAdmins: true,
  data: z.object({ from: z.coerce.number().int().min(0).max(999_999).default(0) }),
  handle: (turn, { from }) => showTemplates(turn, from),
})

/** Shows what a template decides. */
export const examineTemplate = defineCardAction({
  verb: 'admin.template',
  forAdmins: true,
  data: z.object({ templateId }),
  handle: (turn, { templateId }) => useTemplate(turn, templateId, 'show'),
})

/** A version says which one the admin saw who was asked; without one it is asked now. */
const switched = z.object({ templateId, version: z.coerce.number().int().min(1).optional() })

/** Offers a template again, once an admin has confirmed it. */
export const enableTemplate = defineCardAction({
  verb: 'admin.enable',
  forAdmins: true,
  data: switched,
  handle: (turn, { templateId, version }) => switchTemplate(turn, templateId, 'enable', version),
})

/** Takes a template from everybody, once an admin has confirmed it. */
export const disableTemplate = defineCardAction({
  verb: 'admin.disable',
  forAdmins: true,
  data: switched,
  handle: (turn, { templateId, version }) => switchTemplate(turn, templateId, 'disable', version),
})

async function switchTemplate(
  turn: Turn,
  templateId: string,
  does: 'enable' | 'disable',
  version: number | undefined,
): Promise<Reply> {
  if (version === undefined) return useTemplate(turn, templateId, does)
  try {
    await turn.core.switchTemplate(turn.actor, { id: templateId, expected: version, active: does === 'enable' })
  } catch (error) {
    if (!(error instanceof ProvisioningError) || !lateCodes.includes(error.code)) throw error
    // A second click finds what it wanted; another admin's change is looked at first.
    return useTemplate(turn, templateId, does, true)
  }
  return useTemplate(turn, templateId, 'show')
}

const lateCodes: readonly ErrorCode[] = ['stale-version', 'not-found']

/** A page of all templates there are. */
export async function showTemplates({ core, actor, viewer }: Turn, from = 0): Promise<Reply> {
  const page = await core.listTemplatesInUse(actor, { from, most: rowsOfPage })
  return { card: cards.adminTemplates(page, viewer) }
}

/** The card of a template; the question, where it is to be switched and is not so yet. */
export async function useTemplate(
  { core, actor, viewer }: Turn,
  templateId: string,
  does: TemplateUse,
  isChanged = false,
): Promise<Reply> {
  const report = await core.reportOnTemplate(actor, { id: templateId }).catch(unlessGone)
  if (!report) return { card: cards.notice({ code: 'templateGone' }, viewer) }
  const isThere = does === 'show' || report.template.active === (does === 'enable')
  return { card: cards.adminTemplate(report, viewer, isThere ? {} : { asks: does, isChanged }) }
}

function unlessGone(error: unknown): undefined {
  if (!(error instanceof ProvisioningError && error.code === 'not-found')) throw error
}
