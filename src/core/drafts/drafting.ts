import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import { type Checks, type DraftBasis, quotaFaults, resourceOf, submit } from '../requests/index.ts'
import { type Actor, because, type Context, defineUseCase, type Fault, ProvisioningError } from '../shared/index.ts'
import { type Template, usableTemplate } from '../templates/index.ts'
import {
  checkDraft,
  type Draft,
  type DraftPorts,
  type DraftView,
  filledForm,
  isFilledIn,
  knownTemplate,
  ownDraft,
  reasonOf,
  showDraft,
  withAnswers,
  write,
} from './draft.ts'
import { bodyOfForm, defaultsOf } from './form-values.ts'

/** What a form opens with, and the request that it comes from. */
interface Opening {
  readonly values?: Draft['values']
  readonly replaces?: string | undefined
  readonly basedOn?: DraftBasis
}

/** Opens a form. The draft has its request's id from now on. */
export const openDraft = defineUseCase({
  permission: 'request.create',
  input: z.object({ templateId: z.string() }),
  handle: (context: Context<DraftPorts>, { templateId }): Promise<DraftView> => beginDraft(context, templateId),
})

/** The same with the values of an earlier request. */
export async function beginDraft(
  context: Context<DraftPorts>,
  templateId: string,
  { values = {}, replaces, basedOn }: Opening = {},
): Promise<DraftView> {
  const { ports, actor } = context
  const template = await knownTemplate(context, templateId)
  const draft: Draft = {
    v: 1,
    requestId: randomUUID(),
    tenantId: actor.tenantId,
    personId: actor.id,
    templateId: template.id,
    ...(replaces !== undefined && { replaces }),
    ...(basedOn && { basedOn }),
    version: 1,
    step: 'details',
    values: { ...openingValues(template, actor), ...values },
    updatedAt: ports.clock.now().toISOString(),
  }
  await ports.drafts.insert(draft)
  // Who may have no more of it hears so before they fill it in; what they fill in can be kept until they may.
  const faults = await quotaFaults({ ports, actor, requestId: draft.requestId, replaces }, template)
  return { step: 'details', draft, template, faults, outdated: false }
}

/** The values of a form when it opens: the requester of a shared mailbox usually wants to read it. */
function openingValues(template: Template, { id }: Actor): Draft['values'] {
  const { kind, limits, properties } = template
  const isGiven = limits.permissionsMaximum !== 0 && (limits.accessLevels?.includes('FullAccess') ?? true)
  const isAsked = kind === 'sharedMailbox' && isGiven && properties['permissions.FullAccess']?.shown !== false
  return { ...defaultsOf(template), ...(isAsked && { 'permissions.FullAccess': id }) }
}

/**
 * Takes the filled form. Without faults the draft goes on to review; with faults the form comes back with its values,
 * and so it does when nobody can check them just now: what was typed is kept in either case.
 */
export const reviewDraft = defineUseCase({
  permission: 'request.create',
  input: filledForm,
  handle: (context: Context<DraftPorts & Checks>, form): Promise<DraftView> =>
    context.ports.checks.ofForm(context.actor, form.values, () => review(context, form)),
})

async function review(
  context: Context<DraftPorts>,
  { requestId, version, values }: z.output<typeof filledForm>,
): Promise<DraftView> {
  const { ports } = context
  const draft = await ownDraft(context, requestId)
  if (draft.step !== 'details' || draft.version !== version) return showDraft(context, draft, true)
  const filled = withAnswers(draft, values)
  const template = await knownTemplate(context, draft.templateId)
  const checked = await checkDraft(context, filled, template).catch((error: unknown) => ({
    template,
    faults: [unavailable(error)],
  }))
  const step = 'plan' in checked ? 'review' : 'details'
  const next = await write(ports, { ...filled, step })
  if (!next) return showDraft(context, await ownDraft(context, requestId), true)
  if ('plan' in checked) return { step: 'review', draft: next, ...checked, outdated: false }
  return { step: 'details', draft: next, template: checked.template, faults: checked.faults, outdated: false }
}

/** Back from review to the form, with everything kept. A click on an outdated review changes nothing. */
export const editDraft = defineUseCase({
  permission: 'request.create',
  input: z.object({ requestId: z.uuid(), version: z.int() }),
  async handle(context: Context<DraftPorts>, { requestId, version }): Promise<DraftView> {
    const { ports } = context
    const draft = await ownDraft(context, requestId)
    const opened =
      draft.step === 'review' && draft.version === version && (await write(ports, { ...draft, step: 'details' }))
    const now = opened || (await ownDraft(context, requestId))
    // The same click a second time finds the form that it asked for.
    const isWanted = now.step === 'details' && now.version === version + 1
    return showDraft(context, now, !isWanted)
  },
})

/**
 * Submits what was reviewed: one request for one draft, however often it is clicked. What is no longer right (a name
 * taken meanwhile) brings the form back with its values.
 */
export const submitDraft = defineUseCase({
  permission: 'request.create',
  input: z.object({
    requestId: z.uuid(),
    version: z.int(),
    statusCard: z.object({ conversationId: z.string(), activityId: z.string() }).optional(),
  }),
  async handle(context: Context<DraftPorts>, { requestId, version, statusCard }): Promise<DraftView> {
    const { ports } = context
    const draft = await ownDraft(context, requestId)
    if (draft.step !== 'review' || draft.version !== version) return showDraft(context, draft, true)
    const submitted: Draft = {
      ...draft,
      step: 'submitted',
      version: draft.version + 1,
      updatedAt: ports.clock.now().toISOString(),
    }
    try {
      const template = await knownTemplate(context, draft.templateId)
      const { body } = bodyOfForm(template, draft.values)
      const { replaces, basedOn } = draft
      const submission = { resource: resourceOf(template.kind), body, reason: reasonOf(draft), replaces, basedOn }
      const request = await submit(context, {
        ...submission,
        ...(statusCard && { statusCard }),
        requestId,
        channel: 'chat',
        async along() {
          // Discarded, or changed by another click meanwhile: then this click is not what the person last wanted.
          if (!(await ports.drafts.update(submitted)))
            throw new ProvisioningError('stale-version', because('formChanged'))
        },
      })
      return { step: 'submitted', request }
    } catch (error) {
      if (error instanceof ProvisioningError && error.code === 'stale-version')
        return showDraft(context, await ownDraft(context, requestId), true)
      if (!(error instanceof ProvisioningError) || error.faults.length === 0) throw error
      const template = await knownTemplate(context, draft.templateId)
      const back = await write(ports, { ...draft, step: 'details' })
      return { step: 'details', draft: back ?? draft, template, faults: error.faults, outdated: false }
    }
  },
})

/** Throws the draft away. One that became a request meanwhile is shown as that request instead. */
export const discardDraft = defineUseCase({
  permission: 'request.create',
  input: z.object({ requestId: z.uuid() }),
  async handle(context: Context<DraftPorts>, { requestId }): Promise<DraftView> {
    const { ports } = context
    const draft = await ownDraft(context, requestId)
    if (draft.step !== 'details' && draft.step !== 'review') return showDraft(context, draft, false)
    const next = await write(ports, { ...draft, step: 'discarded' })
    return next ? { step: 'discarded', draft: next } : showDraft(context, await ownDraft(context, requestId), false)
  },
})

/** A draft of this person with its template; none when the template is no longer offered to them. */
export const readDraft = defineUseCase({
  permission: 'request.create',
  input: z.object({ requestId: z.uuid() }),
  async handle(context: Context<DraftPorts>, { requestId }): Promise<{ draft: Draft; template: Template | undefined }> {
    const draft = await ownDraft(context, requestId)
    return { draft, template: await usableTemplate(context, draft.templateId) }
  },
})

/** A directory that does not answer, as a fault of no field; anything else is thrown on. */
function unavailable(error: unknown): Fault {
  if (!(error instanceof ProvisioningError) || error.code !== 'unavailable') throw error
  return { pointer: '', code: error.code, reason: error.reason }
}

/** The most that a list shows; older drafts are deleted in time. */
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
    const filled: Draft = { ...withAnswers(draft, values), begun: true }
    const isOpen = draft.step === 'details' && draft.version === version
    const now = (isOpen && (await write(ports, filled))) || (await ownDraft(context, requestId))
    // The same click a second time finds the form kept as it asked for.
    const isKept = now.step === 'details' && now.version === version + 1 && now.begun === true
    if (!isKept || isFilledIn(filled.values, now.values)) return showDraft(context, now, true)
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
