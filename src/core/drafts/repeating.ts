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

/** How a request ends without success, so that the same may be asked for again. */
const endedInVain: readonly RequestState[] = ['rejected', 'expired', 'cancelled', 'failed']

/**
 * A new draft with what a request of one's own asked for that came to nothing: "Edit and send again". Any other is shown
 * as it is.
 */
export const draftFromRequest = defineUseCase({
  permission: 'request.create',
  input: z.object({ requestId: z.uuid() }),
  async handle(context: Context<DraftPorts>, { requestId }): Promise<DraftView> {
    const { actor } = context
    const request = await readRequest.handle(context, { requestId })
    if (!isOwn(request, actor) || isReduced(request) || !endedInVain.includes(request.status))
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
 * A new draft like a request of one's own that was made, without the names that only one resource can have. Any other
 * request is shown as it is.
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

/** What it asked for is not known any more. */
const isReduced = ({ reducedAt }: Request): boolean => reducedAt !== undefined

const isOwn = ({ requester, tenantId }: Request, actor: Actor): boolean =>
  requester.id === actor.id && tenantId === actor.tenantId

const basisOf = (request: Request, how: DraftBasis['how']): DraftBasis => ({
  requestId: request.requestId,
  reference: referenceOf(request),
  how,
})

/** The values of a request's form that its template, as it is now, still takes: nothing that is gone, or decided now. */
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
  // What no field ever asked for was sent by REST, or is one of our own, such as the seats of a room.
  if (!field) return request.template.fields.every((one) => one.key !== key)
  return answersOf([field], { [key]: value }, '').faults.every(({ code }) => !unfit.includes(code))
}

/** What no form could show as an answer of a field; any other mistake comes back beside its input. */
const unfit = ['not-a-choice', 'wrong-type', 'not-a-date', 'unknown-person']
