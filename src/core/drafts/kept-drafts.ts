import { z } from 'zod'
import { type Context, defineUseCase } from '../shared/index.ts'
import { type Draft, filledForm } from './draft.ts'
import { type DraftView, isFilledIn, knownTemplate, ownDraft, showDraft, withAnswers, write } from './draft-view.ts'
import type { DraftPorts } from './ports.ts'

/** More than these nobody looks through; the others are forgotten in time. */
const mostBegun = 50

/** The drafts that a person has begun, the last changed first. Whether their templates are still offered is not asked. */
export const listBegunDrafts = defineUseCase({
  permission: 'request.create',
  input: z.object({}),
  handle: ({ ports, actor }: Context<DraftPorts>): Promise<Draft[]> =>
    ports.drafts.listBegun(actor.tenantId, actor.id, mostBegun),
})

/** Keeps a form as it is filled in, right or wrong, to go on with later. */
export const keepDraft = defineUseCase({
  permission: 'request.create',
  input: filledForm,
  async handle(context: Context<DraftPorts>, { requestId, version, values }): Promise<DraftView> {
    const { ports } = context
    const draft = await ownDraft(context, requestId)
    const asked: Draft = { ...withAnswers(draft, values), begun: true }
    const isOpen = draft.step === 'details' && draft.version === version
    const now = (isOpen && (await write(ports, asked))) || (await ownDraft(context, requestId))
    // The same click a second time finds the form kept as it asked for.
    const isKept = now.step === 'details' && now.version === version + 1 && now.begun === true
    if (!isKept || isFilledIn(asked.values, now.values)) return showDraft(context, now, true)
    return { step: 'kept', draft: now, template: await knownTemplate(context, now.templateId) }
  },
})

/** Goes on with a draft where it was left: at its form, at its review, or at the request that it has become. */
export const continueDraft = defineUseCase({
  permission: 'request.create',
  input: z.object({ requestId: z.uuid() }),
  async handle(context: Context<DraftPorts>, { requestId }): Promise<DraftView> {
    return showDraft(context, await ownDraft(context, requestId), false)
  },
})
