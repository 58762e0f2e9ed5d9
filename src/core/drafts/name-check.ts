import { z } from 'zod'
import type { Checks } from '../requests/index.ts'
import { type Context, defineUseCase, handedBack } from '../shared/index.ts'
import type { Template } from '../templates/index.ts'
import { type Draft, filledForm } from './draft.ts'
import { type DraftView, knownTemplate, ownDraft, showDraft, withAnswers, write } from './draft-view.ts'
import { type NamePreview, previewNames } from './name-preview.ts'
import type { DraftPorts } from './ports.ts'

/**
 * Takes a form as far as it is filled in and says of its names alone what comes of them and whether they are free. What else is
 * missing or wrong is no mistake yet; what was typed is kept.
 */
export const checkDraftNames = defineUseCase({
  permission: 'request.create',
  input: filledForm,
  handle: (context: Context<DraftPorts & Checks>, form): Promise<DraftView> =>
    context.ports.checks.ofForm(context.actor, {}, () => checkNames(context, form)),
})

async function checkNames(
  context: Context<DraftPorts>,
  { requestId, version, values }: z.output<typeof filledForm>,
): Promise<DraftView> {
  const { ports } = context
  const draft = await ownDraft(context, requestId)
  if (draft.step !== 'details' || draft.version !== version) return showDraft(context, draft, true)
  const template = await knownTemplate(context, draft.templateId)
  const next = await write(ports, withAnswers(draft, values))
  if (!next) return showDraft(context, await ownDraft(context, requestId), true)
  const { preview, faults } = await previewNames(inquiryOf(context, next), template, next.values, {
    look: true,
  })
  return { step: 'details', draft: next, template, faults, preview, outdated: false }
}

/** What the names of a form would be, as far as that is known without asking whether they are free. */
export const likelyNames = defineUseCase({
  permission: 'request.create',
  input: z.object({ draft: handedBack<Draft>(), template: handedBack<Template>() }),
  async handle(context: Context<DraftPorts>, { draft, template }): Promise<NamePreview> {
    const inquiry = inquiryOf(context, draft)
    return (await previewNames(inquiry, template, draft.values, { look: false })).preview
  },
})

const inquiryOf = ({ ports, settings, actor }: Context<DraftPorts>, { requestId, replaces }: Draft) => ({
  ...{ ports, settings, actor, requestId, replaces },
  isSubmission: false,
  crowded: false,
})
