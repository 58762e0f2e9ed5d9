import {
  access,
  type ErrorCode,
  isTerminal,
  type Permission,
  type RequestState,
  transitions,
} from '../../src/core/index.ts'

/**
 * The relations of people to one request that is in its second of three stages of approval:
 * - `former` decided the first stage, `approver` is asked by name in the second, `later` in the third;
 * - `removed` was asked in the second as a member of a group, and has left the group;
 * - `admin` is an admin as a member of a group; `stranger` has no relation to the request; `guest` is a member of the
 * group of admins too, but has no role;
 * - `gone` has a valid token and is no longer in the directory; `foreign` is of another tenant; `anonymous` has no
 * token;
 * - `application` acts for itself.
 */
export const everybody = [
  ...(['requester', 'approver', 'former', 'later', 'removed', 'admin', 'guest', 'stranger'] as const),
  ...(['application', 'gone', 'foreign', 'anonymous'] as const),
] as const
export type Who = (typeof everybody)[number]

type Role = 'member' | 'requester' | 'approver' | 'admin'
/** Their roles in the access table, for the request. People who are not in the directory have no role. */
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

/** Returns whether the access table gives somebody a permission: nothing else decides it. */
export const mayBy = (who: Who, permission: Permission): boolean =>
  access[permission].some((role) => roles[who].includes(role))

/** The effect of a call on its request. */
export type Act =
  | 'read'
  | 'approve'
  | 'reject'
  | 'reassign'
  | 'nudge'
  | 'address'
  | 'cancel'
  | 'retry'
  | 'over-approve'
  | 'over-reject'

/**
 * The expected result of a call: a refusal by the caller's role, a refusal by the state, or the new state of the
 * request.
 */
export type Outcome =
  | { readonly kind: 'nobody' }
  | { readonly kind: 'hidden' }
  | { readonly kind: 'refused'; readonly code: ErrorCode; readonly unread?: true }
  | { readonly kind: 'late'; readonly code: ErrorCode }
  /** The call lacks necessary data. */
  | { readonly kind: 'incomplete' }
  | { readonly kind: 'done'; readonly status: RequestState }

/** Returns the expected result of an act on a request: first by the access table, then by the state machine. */
export function outcomeOf(who: Who, permission: Permission, act: Act, state: RequestState): Outcome {
  if (!isMember(who)) return { kind: 'nobody' }
  // The caller's relation to the request does not matter here, so it is not checked and the refusal reveals nothing.
  if (isOfAdmins(permission) && !mayBy(who, permission)) return { kind: 'refused', code: 'forbidden', unread: true }
  // A caller without read access does not learn whether the request exists.
  if (!mayBy(who, 'request.read')) return { kind: 'hidden' }
  if (!mayBy(who, permission)) return { kind: 'refused', code: refusalOf(who, permission) }
  if (act === 'approve' || act === 'reject') return decisionOf(who, act, state)
  if (act === 'reassign') return reassignmentOf(who, state)
  if (act === 'nudge' || act === 'address')
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

/** An admin may override any waiting stage. */
function overrideIn(state: RequestState, status: RequestState): Outcome {
  if (state === 'pendingApproval') return { kind: 'done', status }
  return { kind: 'late', code: state === 'cancelled' || state === 'expired' ? 'already-ended' : 'already-decided' }
}

/** People may reassign only their own decisions. An admin must choose the approver if several are possible. */
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
