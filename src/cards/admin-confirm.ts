import { z } from 'zod'
import { checkSteps, inLocale, nextStep, type Request, referenceOf, requestState, resourceKind } from '../core/index.ts'
import { lookOf, reasonOf, whys } from './admin-queue.ts'
import { defineCard } from './define-card.ts'
import { askedAddress } from './links.ts'
import { rowLook } from './look.ts'
import { stepWords } from './steps.ts'
import { cut, duration, longest, moment, type Viewer } from './words.ts'

/** What an admin is asked to confirm. `commentMissing`: the cancellation lacked its comment, so the card comes back. */
export interface Confirmation {
  readonly verb: 'admin.retry' | 'admin.cancel'
  readonly request: Request
  readonly comment?: string | undefined
  readonly commentMissing?: boolean | undefined
}

export const adminConfirmCard = defineCard({
  name: 'admin-confirm',
  data: z.strictObject({
    asked: z.enum(['retry', 'cancel']),
    requestId: z.uuid(),
    reference: z.string(),
    kind: resourceKind,
    templateName: z.string(),
    displayName: z.string(),
    address: z.string(),
    requester: z.string(),
    sentAt: z.string(),
    state: requestState,
    look: rowLook,
    age: z.string(),
    why: z.enum(['', ...whys]),
    value: z.string(),
    stopped: z.string(),
    tries: z.enum(['problem', 'problemAttempts']),
    attempts: z.int(),
    next: z.enum(['goesOn', 'startsAnew', 'nothingMade', 'keptMade']),
    step: z.string(),
    comment: z.string(),
    commentMissing: z.boolean(),
  }),
})

/** What the request is, where it stands and why it stopped, and what the click will do. */
export function adminConfirmView(
  { verb, request, comment = '', commentMissing = false }: Confirmation,
  viewer: Viewer,
): Parameters<typeof adminConfirmCard.render>[0] {
  const failed = request.status === 'failed'
  const { why, value } = reasonOf({ request, attention: undefined })
  const attempts = nextStep(request)?.attempts ?? 0
  const first = firstStep(request)
  const anyDone = request.steps.some(({ status }) => status === 'done')
  return {
    asked: verb === 'admin.retry' ? 'retry' : 'cancel',
    requestId: request.requestId,
    reference: referenceOf(request),
    kind: request.kind,
    templateName: inLocale(request.template, viewer.locale).name,
    displayName: cut(request.details.displayName, longest.title),
    address: askedAddress(request, viewer),
    requester: cut(request.requester.displayName, longest.name),
    sentAt: moment(request.submittedAt, viewer, 'full'),
    state: request.status,
    look: lookOf({ request, attention: undefined }),
    age: duration(viewer.now.getTime() - Date.parse(request.updatedAt)),
    why: failed ? '' : why,
    value: cut(value, longest.text),
    // Never cut: an admin goes on from it.
    stopped: failed ? value : '',
    tries: attempts > 1 ? 'problemAttempts' : 'problem',
    attempts,
    next: verb === 'admin.retry' ? (failed ? 'goesOn' : 'startsAnew') : anyDone ? 'keptMade' : 'nothingMade',
    step: stepWords(request, first),
    comment: cut(comment, 500),
    commentMissing,
  }
}

/** Where a retry goes on: what a ready check has found wrong is put right by the step that makes it. */
function firstStep({ steps, checks }: Request) {
  const wrong = new Set<string>(checks.flatMap(({ name, ok }) => (ok ? [] : [checkSteps[name]])))
  return steps.find(({ name, status }) => status !== 'done' || wrong.has(name))?.name
}
