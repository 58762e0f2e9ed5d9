import { z } from 'zod'
import {
  type BasedOn,
  type DraftBasis,
  endOfBasis,
  isForMailbox,
  isTakenName,
  type Request,
  readRequest,
  referenceOf,
} from '../requests/index.ts'
import { type Actor, type Context, defineUseCase, jobId, type RequestState } from '../shared/index.ts'
import { answersOf, type Template } from '../templates/index.ts'
import { type Draft, type DraftPorts, type DraftView, knownTemplate, ownDraft, showDraft } from './draft.ts'
import { beginDraft } from './drafting.ts'
import { formOfRequest, isAsked } from './form-values.ts'

/** The states of a request that ended without success and can be resubmitted. */
const resubmittable: readonly RequestState[] = ['rejected', 'expired', 'cancelled', 'failed']

/**
 * Opens a draft with the values of the person's own request that ended without a resource: "Edit and send again". A
 * second call opens the same draft or, if the draft was submitted, returns its request. Returns any other request
 * unchanged.
 */
export const draftFromRequest = defineUseCase({
  permission: 'request.create',
  input: z.object({ requestId: z.uuid() }),
  async handle(context: Context<DraftPorts>, { requestId }): Promise<DraftView> {
    const { actor } = context
    const request = await readRequest.handle(context, { requestId })
    if (!isOwn(request, actor) || isReduced(request) || !resubmittable.includes(request.status))
      return { step: 'submitted', request }
    const again = await resubmissionOf(context, request)
    if ('view' in again) return again.view
    const { problem } = request
    const free = isTakenName(problem) ? problem.suggestion : undefined
    const name = isForMailbox(request) && problem?.code === 'name-taken' ? 'name' : 'alias'
    const values = await stillAllowed(context, request)
    return beginDraft(context, request.template.id, {
      requestId: again.id,
      values: free === undefined ? values : { ...values, [name]: free },
      replaces: request.status === 'failed' ? request.requestId : undefined,
      basedOn: basisOf(request, 'resubmission'),
    })
  },
})

/**
 * Opens a new draft with the values of the person's own successful request, without its unique names. Returns any other
 * request unchanged.
 */
export const draftLikeRequest = defineUseCase({
  permission: 'request.create',
  input: z.object({ requestId: z.uuid() }),
  async handle(context: Context<DraftPorts>, { requestId }): Promise<DraftView> {
    const { actor } = context
    const request = await readRequest.handle(context, { requestId })
    if (!isOwn(request, actor) || isReduced(request) || request.status !== 'succeeded')
      return { step: 'submitted', request }
    const { name: _, alias: __, ...values } = await stillAllowed(context, request)
    return beginDraft(context, request.template.id, { values, basedOn: basisOf(request, 'repeat') })
  },
})

/** Reads how the earlier request of a draft ended, with the person who ended it and their comment. */
export const readEarlierEnd = defineUseCase({
  permission: 'request.create',
  input: z.object({ requestId: z.uuid() }),
  async handle(context: Context<DraftPorts>, { requestId }): Promise<BasedOn['ended']> {
    return endOfBasis(context, (await ownDraft(context, requestId)).basedOn)
  },
})

/**
 * Finds the resubmission of a request, or the id for it. The id results from the request, so clicks at the same time open
 * one draft. After a discarded draft there is a next id.
 */
async function resubmissionOf(
  context: Context<DraftPorts>,
  { requestId }: Request,
): Promise<{ readonly id: string } | { readonly view: DraftView }> {
  const { drafts, requests } = context.ports
  for (let count = 1; ; count += 1) {
    const id = jobId('resubmission', requestId, count)
    const [draft, sent] = await Promise.all([drafts.find(id), requests.find(id)])
    if (sent) return { view: { step: 'submitted', request: await readRequest.handle(context, { requestId: id }) } }
    if (!draft) return { id }
    if (draft.step !== 'discarded') return { view: await showDraft(context, draft, false) }
  }
}

/** Whether the retention period has removed the request's details. */
const isReduced = ({ reducedAt }: Request): boolean => reducedAt !== undefined

const isOwn = ({ requester, tenantId }: Request, actor: Actor): boolean =>
  requester.id === actor.id && tenantId === actor.tenantId

const basisOf = (request: Request, how: DraftBasis['how']): DraftBasis => ({
  requestId: request.requestId,
  reference: referenceOf(request),
  how,
})

/** Returns the values of a request's form that the current template still allows. */
async function stillAllowed(context: Context<DraftPorts>, request: Request): Promise<Draft['values']> {
  const template = await knownTemplate(context, request.template.id)
  const values = Object.entries(formOfRequest(request))
  const now = context.ports.clock.now()
  return Object.fromEntries(values.filter(([input, value]) => isAllowed(template, request, input, value, now)))
}

function isAllowed(template: Template, request: Request, input: string, value: string, now: Date): boolean {
  if (!isAsked(template, [input, value])) return false
  const [, key] = /^metadata\.(.*)$/.exec(input) ?? []
  if (key === undefined) return true
  const field = template.fields.find((one) => one.key === key)
  // A value without a template field came by REST or is built in, such as the seats of a room.
  if (!field) return request.template.fields.every((one) => one.key !== key)
  return answersOf([field], { [key]: value }, now).faults.every(({ code }) => !unfit.includes(code))
}

/** Faults of values that a form cannot show. Other faults appear next to their inputs. */
const unfit = ['not-a-choice', 'wrong-type', 'not-a-date', 'unknown-person']
