import {
  access,
  type ErrorCode,
  isTerminal,
  type Permission,
  type RequestState,
  transitions,
} from '../../src/core/index.ts'

/**
 * Who somebody can be to one request that is in its second of three stages of approval:
 * - `former` decided the first stage, `approver` is asked by name in the second, `later` in the third;
 * - `removed` was asked in the second as a member of a group, and has left it;
 * - `admin` is one as a member of a group; `stranger` is nothing to the request; `guest` is a member of the group of
 *   admins too, and nobody here;
 * - `gone` has a good token and is no longer in the directory; `foreign` is of another tenant; `anonymous` shows nothing;
 * - `application` acts for itself.
 */
export const everybody = [
  ...(['requester', 'approver', 'former', 'later', 'removed', 'admin', 'guest', 'stranger'] as const),
  ...(['application', 'gone', 'foreign', 'anonymous'] as const),
] as const
export type Who = (typeof everybody)[number]

type Role = 'member' | 'requester' | 'approver' | 'admin'
/** What the access table calls them, of the request; nobody of the directory is nothing at all. */
const roles: Readonly<Record<Who, readonly Role[]>> = {
  requester: ['member', 'requester'],
  approver: ['member', 'approver'],
  former: ['member', 'approver'],
  later: ['member', 'approver'],
  removed: ['member', 'approver'],
  admin: ['member', 'admin'],
  guest: [],
  stranger: ['member'],
  application: ['member'],
  gone: [],
  foreign: [],
  anonymous: [],
}
export const isMember = (who: Who): boolean => roles[who].includes('member')

/** What the access table says of somebody and a permission: nothing else decides it. */
export const mayBy = (who: Who, permission: Permission): boolean =>
  access[permission].some((role) => roles[who].includes(role))

/** What a call does to the request that it is about. */
export type Act =
  | 'read'
  | 'approve'
  | 'reject'
  | 'reassign'
  | 'nudge'
  | 'cancel'
  | 'retry'
  | 'over-approve'
  | 'over-reject'

/** What has to come of a call: a refusal by who is asking, one by the state, or the state that the request has then. */
export type Outcome =
  | { readonly kind: 'nobody' }
  | { readonly kind: 'hidden' }
  | { readonly kind: 'refused'; readonly code: ErrorCode; readonly unread?: true }
  | { readonly kind: 'late'; readonly code: ErrorCode }
  /** What was sent does not say enough. */
  | { readonly kind: 'incomplete' }
  | { readonly kind: 'done'; readonly status: RequestState }

/** What has to come of an act on the request in a state, by the access table first and the state machine then. */
export function outcomeOf(who: Who, permission: Permission, act: Act, state: RequestState): Outcome {
  if (!isMember(who)) return { kind: 'nobody' }
  // What somebody is to the request does not matter here, so it is not even looked for: nothing is told by the refusal.
  if (isOfAdmins(permission) && !mayBy(who, permission)) return { kind: 'refused', code: 'forbidden', unread: true }
  // Whether there is such a request is not told to whoever may not see it.
  if (!mayBy(who, 'request.read')) return { kind: 'hidden' }
  if (!mayBy(who, permission)) return { kind: 'refused', code: refusalOf(who, permission) }
  if (act === 'approve' || act === 'reject') return decisionOf(who, act, state)
  if (act === 'reassign') return reassignmentOf(who, state)
  if (act === 'nudge')
    return state === 'pendingApproval' ? { kind: 'done', status: state } : { kind: 'late', code: 'already-ended' }
  if (act === 'cancel') return cancellationOf(state)
  if (act === 'over-approve') return overrideIn(state, 'queued')
  if (act === 'over-reject') return overrideIn(state, 'rejected')
  if (act === 'read') return { kind: 'done', status: state }
  return state === 'failed' ? { kind: 'done', status: 'queued' } : { kind: 'late', code: 'illegal-transition' }
}

const isOfAdmins = (permission: Permission): boolean => access[permission].every((role) => role === 'admin')

function refusalOf(who: Who, permission: Permission): ErrorCode {
  if (permission !== 'request.decide') return 'forbidden'
  return who === 'requester' ? 'self-approval' : 'not-an-approver'
}

function decisionOf(who: Who, act: 'approve' | 'reject', state: RequestState): Outcome {
  if (state === 'cancelled' || state === 'expired') return { kind: 'late', code: 'already-ended' }
  if (state !== 'pendingApproval' || who === 'former') return { kind: 'late', code: 'already-decided' }
  if (who !== 'approver') return { kind: 'refused', code: 'not-an-approver' }
  return { kind: 'done', status: act === 'reject' ? 'rejected' : 'pendingApproval' }
}

/** An admin decides whatever waits, whoever is asked. */
function overrideIn(state: RequestState, status: RequestState): Outcome {
  if (state === 'pendingApproval') return { kind: 'done', status }
  return { kind: 'late', code: state === 'cancelled' || state === 'expired' ? 'already-ended' : 'already-decided' }
}

/** Only what waits for one's own decision can be given away; an admin says in whose place, where it can be several. */
function reassignmentOf(who: Who, state: RequestState): Outcome {
  if (state === 'cancelled' || state === 'expired') return { kind: 'late', code: 'already-ended' }
  if (state !== 'pendingApproval') return { kind: 'late', code: 'already-decided' }
  if (who === 'admin') return { kind: 'incomplete' }
  if (who !== 'approver') return { kind: 'refused', code: 'not-an-approver' }
  return { kind: 'done', status: state }
}

function cancellationOf(state: RequestState): Outcome {
  const next: readonly RequestState[] = transitions[state]
  if (next.includes('cancelled')) return { kind: 'done', status: 'cancelled' }
  return { kind: 'late', code: isTerminal(state) ? 'already-ended' : 'illegal-transition' }
}
