import { z } from 'zod'
import { checkSteps, isApproved, isFault, nextStep, openStage, type Request, requestState } from '../../core/index.ts'
import { aboutRequest, aboutRequestView } from '../requests/about-request.ts'
import { lookOf, reasonOf } from '../requests/admin-queue.ts'
import { stepWords } from '../requests/steps.ts'
import { defineCard } from '../shared/define-card.ts'
import { rowLook } from '../shared/look.ts'
import { format, strings } from '../shared/messages.ts'
import { cut, duration, longest, type Viewer } from '../shared/words.ts'

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
    why: z.string(),
    /** What happened last to a request that failed. */
    stopped: z.string(),
    /** Why the requester asks for it, where an admin decides by it. */
    wrote: z.string(),
    reason: z.string(),
    /** What the click will do. */
    next: z.string(),
    fallback: z.string(),
    help: z.string(),
    error: z.string(),
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
  const count = nextStep(request)?.attempts ?? 0
  const words = strings.confirm
  const name = cut(request.requester.displayName, longest.name)
  const asked = askedBy[verb]
  const isOverride = asked === 'approve' || asked === 'reject'
  const since = isOverride ? (openStage(request.approvals)?.openedAt ?? request.submittedAt) : request.updatedAt
  const says = isOverride ? 'reason' : 'comment'
  const about = aboutRequestView(request, viewer)
  return {
    asked,
    says,
    ...about,
    state: request.status,
    look: lookOf({ request, attention: undefined }),
    age: duration(viewer.now.getTime() - Date.parse(since)),
    why: failed ? '' : format(strings.queue.why[why], { value: cut(value, longest.text) }),
    // Never cut: an admin goes on from it.
    stopped:
      failed && value ? format(count > 1 ? strings.note.problemAttempts : strings.note.problem, { value, count }) : '',
    wrote: format(words.wrote, { name }),
    reason: isOverride ? cut(request.reason, longest.text) : '',
    next: nextOf(asked, request, name),
    fallback: format(words.fallback, { reference: about.reference }),
    help: format(words[says].help, { name }),
    error: format(words[says].error, { name }),
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
function nextOf(asked: 'retry' | 'cancel' | 'approve' | 'reject', request: Request, name: string): string {
  const words = strings.confirm
  switch (asked) {
    case 'retry': {
      const step = stepWords(request, firstStep(request))
      return format(request.status === 'failed' ? words.goesOn : words.startsAnew, { step })
    }
    case 'cancel': {
      const isMade = request.steps.some((step) => step.status === 'done')
      return format(isMade ? words.keptMade : words.nothingMade, { name })
    }
    case 'approve': {
      const count = request.approvals.filter((stage) => !isApproved(stage)).length
      return format(words.overApproves, { count, name })
    }
    case 'reject':
      return format(words.overRejects, { name })
  }
}

/** Where a retry goes on: what a ready check has found wrong is put right by the step that makes it. */
function firstStep({ steps, checks }: Request) {
  const wrong = new Set<string>(checks.filter(isFault).map(({ name }) => checkSteps[name]))
  return steps.find(({ name, status }) => status !== 'done' || wrong.has(name))?.name
}
