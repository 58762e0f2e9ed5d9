import { z } from 'zod'
import { checkSteps, isApproved, nextStep, openStage, type Request, requestState } from '../core/index.ts'
import { aboutRequest, aboutRequestView } from './about-request.ts'
import { lookOf, reasonOf, whys } from './admin-queue.ts'
import { defineCard } from './define-card.ts'
import { rowLook } from './look.ts'
import { stepWords } from './steps.ts'
import { cut, duration, longest, type Viewer } from './words.ts'

/** What an admin is asked to confirm. `commentMissing`: what needs a comment lacked it, so the card comes back. */
export interface Confirmation {
  readonly verb: 'admin.retry' | 'admin.cancel' | 'admin.approve' | 'admin.reject'
  readonly request: Request
  readonly comment?: string | undefined
  readonly commentMissing?: boolean | undefined
}

export const adminConfirmCard = defineCard({
  name: 'admin-confirm',
  data: z.strictObject({
    asked: z.enum(['retry', 'cancel', 'approve', 'reject']),
    /** What the input asks for: a comment, or the reason of an override. */
    says: z.enum(['comment', 'reason']),
    ...aboutRequest,
    state: requestState,
    look: rowLook,
    age: z.string(),
    why: z.enum(['', ...whys]),
    value: z.string(),
    stopped: z.string(),
    tries: z.enum(['problem', 'problemAttempts']),
    attempts: z.int(),
    /** Why the requester asks for it, where an admin decides by it. */
    reason: z.string(),
    next: z.enum([
      ...(['goesOn', 'startsAnew', 'nothingMade', 'keptMade'] as const),
      ...(['overApproves', 'overApprovesAll', 'overRejects'] as const),
    ]),
    /** Approvals that are missing. */
    count: z.int(),
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
  const { why, value } = reasonOf({ request, attention: undefined }, viewer)
  const attempts = nextStep(request)?.attempts ?? 0
  const first = firstStep(request)
  const asked = askedBy[verb]
  const isOverride = asked === 'approve' || asked === 'reject'
  const since = isOverride ? (openStage(request.approvals)?.openedAt ?? request.submittedAt) : request.updatedAt
  return {
    asked,
    says: isOverride ? 'reason' : 'comment',
    ...aboutRequestView(request, viewer),
    state: request.status,
    look: lookOf({ request, attention: undefined }),
    age: duration(viewer.now.getTime() - Date.parse(since)),
    why: failed ? '' : why,
    value: cut(value, longest.text),
    // Never cut: an admin goes on from it.
    stopped: failed ? value : '',
    tries: attempts > 1 ? 'problemAttempts' : 'problem',
    attempts,
    reason: isOverride ? cut(request.reason, longest.text) : '',
    next: nextOf(asked, request),
    count: request.approvals.filter((stage) => !isApproved(stage)).length,
    step: stepWords(request, first),
    comment: cut(comment, 500),
    commentMissing,
  }
}

const askedBy = {
  'admin.retry': 'retry',
  'admin.cancel': 'cancel',
  'admin.approve': 'approve',
  'admin.reject': 'reject',
} as const satisfies Record<Confirmation['verb'], string>

/** What the click will do. */
function nextOf(asked: 'retry' | 'cancel' | 'approve' | 'reject', { status, steps, approvals }: Request) {
  switch (asked) {
    case 'retry':
      return status === 'failed' ? ('goesOn' as const) : ('startsAnew' as const)
    case 'cancel':
      return steps.some((step) => step.status === 'done') ? ('keptMade' as const) : ('nothingMade' as const)
    case 'approve':
      return approvals.filter((stage) => !isApproved(stage)).length > 1 ? 'overApprovesAll' : 'overApproves'
    case 'reject':
      return 'overRejects'
  }
}

/** Where a retry goes on: what a ready check has found wrong is put right by the step that makes it. */
function firstStep({ steps, checks }: Request) {
  const wrong = new Set<string>(checks.flatMap(({ name, ok }) => (ok ? [] : [checkSteps[name]])))
  return steps.find(({ name, status }) => status !== 'done' || wrong.has(name))?.name
}
