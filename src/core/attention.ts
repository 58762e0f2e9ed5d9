import { waitingFor } from './approval-stage.ts'
import type { Request, RequestState } from './request.ts'

/** How long a request may stay in a state before an admin should look, in seconds; null = for good. */
export const deadlines = {
  pendingApproval: 3 * 86_400,
  queued: 5 * 60,
  provisioning: 20 * 60,
  failed: 0,
  // It is made, but nobody was told yet: after the fast looks.
  succeeded: 5 * 60,
  rejected: null,
  expired: null,
  cancelled: null,
} as const satisfies Record<RequestState, number | null>

/** Why an admin should look at a request, and what would mend it. */
export interface Attention {
  readonly why: 'failed' | 'waitsFor' | 'notStarted' | 'standsStill' | 'notFound'
  /** Since when, ISO 8601. */
  readonly since: string
  readonly mend: 'retry' | 'cancel' | 'look'
}

/** Whether a request is past the deadline of its state, and why; undefined when all is as it should be. */
export function attentionOf(request: Request, now: Date): Attention | undefined {
  const deadline = deadlines[request.status]
  const since = sinceOf(request)
  if (deadline === null || since === undefined || now.getTime() - Date.parse(since) < deadline * 1000) return undefined
  switch (request.status) {
    case 'failed':
      return { why: 'failed', since, mend: 'retry' }
    case 'pendingApproval':
      return waitingFor(request.approvals).length > 0 ? { why: 'waitsFor', since, mend: 'cancel' } : undefined
    case 'queued':
      return { why: 'notStarted', since, mend: 'retry' }
    case 'provisioning':
      return { why: 'standsStill', since, mend: 'retry' }
    default:
      return { why: 'notFound', since, mend: 'look' }
  }
}

/** Since when a request waits for whatever comes next; undefined when nothing more is to come. */
export function sinceOf({
  status,
  followUp,
  updatedAt,
  submittedAt,
  queuedAt,
  finishedAt,
}: Request): string | undefined {
  if (status === 'succeeded') return followUp.state === 'announced' ? undefined : (finishedAt ?? updatedAt)
  if (status === 'pendingApproval') return submittedAt
  if (status === 'queued') return queuedAt ?? submittedAt
  return updatedAt
}
