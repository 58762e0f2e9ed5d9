import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import { type Checks, type DraftBasis, quotaFaults, resourceOf, submit } from '../requests/index.ts'
import { type Actor, because, type Context, defineUseCase, type Fault, ProvisioningError } from '../shared/index.ts'
import { longestName, type Template, usableTemplate } from '../templates/index.ts'
import {
  checkDraft,
  type Draft,
  type DraftPorts,
  type DraftView,
  filledForm,
  isFilledIn,
  isOutdated,
  knownTemplate,
  ownDraft,
  reasonOf,
  showDraft,
  withAnswers,
  write,
} from './draft.ts'
import { asksWhoOpens, bodyOfForm, defaultsOf, leavesOut, withPerson } from './form-values.ts'

/** The opening values of a form, and the request from which they were copied. */
interface Opening {
  /** The id of the draft and of its later request; without it, a new one. */
  readonly requestId?: string
  readonly values?: Draft['values']
  readonly replaces?: string | undefined
  readonly basedOn?: DraftBasis
}

/** Opens a form, with a name that the person has given already. The draft gets the id of its later request. */
export const openDraft = defineUseCase({
  permission: 'request.create',
  input: z.object({ templateId: z.string(), displayName: z.string().max(longestName.displayName).optional() }),
  handle: (context: Context<DraftPorts>, { templateId, displayName = '' }): Promise<DraftView> =>
    beginDraft(context, templateId, displayName === '' ? {} : { values: { displayName } }),
})

/** Opens a form with the values of an earlier request. */
export async function beginDraft(
  context: Context<DraftPorts>,
  templateId: string,
  { requestId = randomUUID(), values = {}, replaces, basedOn }: Opening = {},
): Promise<DraftView> {
  const { ports, actor } = context
  const template = await knownTemplate(context, templateId)
  const draft: Draft = {
    v: 1,
    requestId,
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
  // Another click has opened the same form.
  if (!(await ports.drafts.insert(draft))) return showDraft(context, await ownDraft(context, requestId), false)
  // People whose quota is used up see this before they complete the form. They can still save the draft.
  const faults = await quotaFaults({ ports, actor, requestId: draft.requestId, replaces }, template)
  return { step: 'details', draft, template, faults, outdated: false }
}

/** Returns the opening values of a form. The requester of a shared mailbox gets full access by default. */
function openingValues(template: Template, { id }: Actor): Draft['values'] {
  return { ...defaultsOf(template), ...(asksWhoOpens(template) && { 'permissions.FullAccess': id }) }
}

/**
 * Saves a completed form. Without faults the draft continues to its review. With faults, or if the values cannot be
 * checked now, the form returns with its values.
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
  const draft = await ownDraft(context, requestId)
  if (draft.step !== 'details' || draft.version !== version) return showDraft(context, draft, true)
  const template = await knownTemplate(context, draft.templateId)
  return checkedStep(context, withAnswers(template, draft, values), template)
}

/** Checks a filled draft and saves it: at its review, or at its form if it has faults. */
async function checkedStep(context: Context<DraftPorts>, filled: Draft, template: Template): Promise<DraftView> {
  const checked = await checkDraft(context, filled, template).catch((error: unknown) => ({
    template,
    faults: [unavailable(error)],
  }))
  const step = 'plan' in checked ? 'review' : 'details'
  const next = await write(context.ports, { ...filled, step, templateVersion: template.version })
  if (!next) return showDraft(context, await ownDraft(context, filled.requestId), true)
  if ('plan' in checked) return { step: 'review', draft: next, ...checked, outdated: false }
  return { step: 'details', draft: next, template: checked.template, faults: checked.faults, outdated: false }
}

/** Adds the requester to the people who can open the mailbox, on its form or on its review. Saves the form. */
export const joinDraft = defineUseCase({
  permission: 'request.create',
  input: filledForm,
  handle: (context: Context<DraftPorts & Checks>, form): Promise<DraftView> =>
    context.ports.checks.ofForm(context.actor, form.values, () => join(context, form)),
})

async function join(
  context: Context<DraftPorts>,
  { requestId, version, values }: z.output<typeof filledForm>,
): Promise<DraftView> {
  const { ports, actor } = context
  const draft = await ownDraft(context, requestId)
  const isOpen = draft.step === 'details' || draft.step === 'review'
  if (!isOpen || draft.version !== version) return showDraft(context, draft, true)
  const template = await knownTemplate(context, draft.templateId)
  const answers = { ...draft.values, ...values }
  const isOut = leavesOut(template, answers, actor.id)
  const joined = withAnswers(template, draft, isOut ? withPerson(answers, actor.id) : answers)
  if (draft.step === 'review') {
    const view = await checkedStep(context, joined, template)
    return view.step === 'review' ? { ...view, templateChanged: isOutdated(draft, template) } : view
  }
  const next = await write(ports, joined)
  if (!next) return showDraft(context, await ownDraft(context, requestId), true)
  return { step: 'details', draft: next, template, faults: [], outdated: false }
}

/** Returns from the review to the form, with all values. A click on an outdated review changes nothing. */
export const editDraft = defineUseCase({
  permission: 'request.create',
  input: z.object({ requestId: z.uuid(), version: z.int() }),
  async handle(context: Context<DraftPorts>, { requestId, version }): Promise<DraftView> {
    const { ports } = context
    const draft = await ownDraft(context, requestId)
    const written =
      draft.step === 'review' && draft.version === version && (await write(ports, { ...draft, step: 'details' }))
    const now = written || (await ownDraft(context, requestId))
    // A second click finds the form that the first click opened.
    const isWanted = now.step === 'details' && now.version === version + 1
    return showDraft(context, now, !isWanted)
  },
})

/**
 * Submits a reviewed draft. Repeated clicks create one request. If a value is no longer valid, for example a name that
 * is now taken, the form returns with its values. If the template has changed since the review, a new review returns.
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
    const template = await knownTemplate(context, draft.templateId)
    if (isOutdated(draft, template)) return showDraft(context, draft, true)
    const submitted: Draft = {
      ...draft,
      step: 'submitted',
      version: draft.version + 1,
      updatedAt: ports.clock.now().toISOString(),
    }
    try {
      const { body } = bodyOfForm(template, draft.values)
      const { replaces, basedOn } = draft
      const submission = { resource: resourceOf(template.kind), body, reason: reasonOf(draft), replaces, basedOn }
      const request = await submit(context, {
        ...submission,
        ...(statusCard && { statusCard }),
        requestId,
        channel: 'chat',
        async alsoWrite() {
          // Another click has discarded or changed the draft, so this click is outdated.
          if (!(await ports.drafts.update(submitted)))
            throw new ProvisioningError('stale-version', because('formChanged'))
        },
      })
      return { step: 'submitted', request }
    } catch (error) {
      if (error instanceof ProvisioningError && error.code === 'stale-version')
        return showDraft(context, await ownDraft(context, requestId), true)
      if (!(error instanceof ProvisioningError) || error.faults.length === 0) throw error
      const returned = await write(ports, { ...draft, step: 'details' })
      return { step: 'details', draft: returned ?? draft, template, faults: error.faults, outdated: false }
    }
  },
})

/**
 * Discards a draft. Saves the values of its form too, so that Undo restores them; not those of an outdated form. Returns
 * the request instead if the draft was submitted.
 */
export const discardDraft = defineUseCase({
  permission: 'request.create',
  input: filledForm.partial({ version: true, values: true }),
  async handle(context: Context<DraftPorts>, { requestId, version, values }): Promise<DraftView> {
    const { ports } = context
    const draft = await ownDraft(context, requestId)
    if (draft.step !== 'details' && draft.step !== 'review') return showDraft(context, draft, false)
    const isForm = values !== undefined && draft.step === 'details' && draft.version === version
    const template = isForm && (await usableTemplate(context, draft.templateId))
    const last = template ? withAnswers(template, draft, values) : draft
    const next = await write(ports, { ...last, step: 'discarded' })
    return next ? { step: 'discarded', draft: next } : showDraft(context, await ownDraft(context, requestId), false)
  },
})

/** Reads a draft of this person with its template. The template is undefined if the person can no longer use it. */
export const readDraft = defineUseCase({
  permission: 'request.create',
  input: z.object({ requestId: z.uuid() }),
  async handle(context: Context<DraftPorts>, { requestId }): Promise<{ draft: Draft; template: Template | undefined }> {
    const draft = await ownDraft(context, requestId)
    return { draft, template: await usableTemplate(context, draft.templateId) }
  },
})

/** Turns an unavailable directory into a fault without a field. Throws any other error. */
function unavailable(error: unknown): Fault {
  if (!(error instanceof ProvisioningError) || error.code !== 'unavailable') throw error
  return { pointer: '', code: error.code, reason: error.reason }
}

/** The maximum number of drafts in a list. */
const maxListed = 200

/**
 * Lists the drafts that a person has started, last changed first. The person may no longer be able to use their
 * templates.
 */
export const listDrafts = defineUseCase({
  permission: 'request.create',
  input: z.object({}),
  handle: ({ ports, actor }: Context<DraftPorts>): Promise<Draft[]> =>
    ports.drafts.listStarted(actor.tenantId, actor.id, maxListed),
})

/** Reads whether decisions and drafts wait for the actor. */
export const readWaiting = defineUseCase({
  permission: 'approval.list',
  input: z.object({}),
  handle: ({ ports, actor }: Context<DraftPorts>): Promise<{ approvals: boolean; drafts: boolean }> =>
    ports.drafts.waitingFor(actor.tenantId, actor.id),
})

/** Saves an incomplete form, valid or not, for later. */
export const keepDraft = defineUseCase({
  permission: 'request.create',
  input: filledForm,
  async handle(context: Context<DraftPorts>, { requestId, version, values }): Promise<DraftView> {
    const { ports } = context
    const draft = await ownDraft(context, requestId)
    if (draft.step !== 'details') return showDraft(context, draft, true)
    // Without its template, the draft must not change: the form stays on the card, and its next click needs this version.
    const template = await knownTemplate(context, draft.templateId)
    const filled: Draft = { ...withAnswers(template, draft, values), begun: true }
    const now = (draft.version === version && (await write(ports, filled))) || (await ownDraft(context, requestId))
    // A second click finds the draft that the first click saved.
    const isSaved = now.step === 'details' && now.version === version + 1 && now.begun === true
    if (!isSaved || isFilledIn(filled.values, now.values)) return showDraft(context, now, true)
    return { step: 'kept', draft: now, template }
  },
})

/**
 * Continues a draft at its form or its review, or returns its submitted request. `restore`: a discarded draft returns to
 * its form.
 */
export const continueDraft = defineUseCase({
  permission: 'request.create',
  input: z.object({ requestId: z.uuid(), restore: z.boolean().optional() }),
  async handle(context: Context<DraftPorts>, { requestId, restore }): Promise<DraftView> {
    const draft = await ownDraft(context, requestId)
    if (draft.step !== 'discarded' || restore !== true) return showDraft(context, draft, false)
    const restored = await write(context.ports, { ...draft, step: 'details' })
    return showDraft(context, restored ?? (await ownDraft(context, requestId)), false)
  },
})
