import { z } from 'zod'
import {
  type DraftBasis,
  isForMailbox,
  isTakenName,
  type Request,
  readRequest,
  referenceOf,
} from '../requests/index.ts'
import { type Actor, type Context, defineUseCase, isMailboxKind, type RequestState } from '../shared/index.ts'
import { answersOf, type Template } from '../templates/index.ts'
import { type Draft, type DraftPorts, type DraftView, knownTemplate } from './draft.ts'
import { beginDraft } from './drafting.ts'
import { formOfRequest } from './form-values.ts'

/** The states of a request that ended without success and can be resubmitted. */
const resubmittable: readonly RequestState[] = ['rejected', 'expired', 'cancelled', 'failed']

/**
 * Opens a new draft with the values of the person's own request that ended without a resource: "Edit and send again".
 * Returns any other request unchanged.
 */
export const draftFromRequest = defineUseCase({
  permission: 'request.create',
  input: z.object({ requestId: z.uuid() }),
  async handle(context: Context<DraftPorts>, { requestId }): Promise<DraftView> {
    const { actor } = context
    const request = await readRequest.handle(context, { requestId })
    if (!isOwn(request, actor) || isReduced(request) || !resubmittable.includes(request.status))
      return { step: 'submitted', request }
    const { problem } = request
    const free = isTakenName(problem) ? problem.suggestion : undefined
    const name = isForMailbox(request) && problem?.code === 'name-taken' ? 'name' : 'alias'
    const values = await stillAllowed(context, request)
    return beginDraft(context, request.template.id, {
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
  return Object.fromEntries(values.filter(([input, value]) => isAllowed(template, request, input, value)))
}

function isAllowed(template: Template, request: Request, input: string, value: string): boolean {
  const { kind, labels, limits, properties, fields } = template
  const rule = properties[input]
  if (rule && (!rule.shown || rule.fixed !== undefined)) return false
  if (input === 'labelId') return !isMailboxKind(kind) && labels.allowed.some(({ id }) => id === value)
  const [, key = ''] = /^\w+\.(.*)$/.exec(input) ?? []
  if (input.startsWith('permissions.')) return limits.accessLevels?.some((level) => level === key) ?? true
  if (!input.startsWith('metadata.')) return true
  const field = fields.find((one) => one.key === key)
  // A value without a template field came by REST or is built in, such as the seats of a room.
  if (!field) return request.template.fields.every((one) => one.key !== key)
  return answersOf([field], { [key]: value }, '').faults.every(({ code }) => !unfit.includes(code))
}

/** Faults of values that a form cannot show. Other faults appear next to their inputs. */
const unfit = ['not-a-choice', 'wrong-type', 'not-a-date', 'unknown-person']
