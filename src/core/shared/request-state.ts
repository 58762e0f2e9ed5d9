import { z } from 'zod'

export const requestStates = [
  'pendingApproval',
  'queued',
  'provisioning',
  'succeeded',
  'failed',
  'rejected',
  'expired',
  'cancelled',
] as const
export const requestState = z.enum(requestStates)
export type RequestState = z.output<typeof requestState>
/** The only legal moves (DESIGN §4). An empty list is a terminal state. */
export const transitions = {
  pendingApproval: ['queued', 'rejected', 'expired', 'cancelled'],
  queued: ['provisioning', 'cancelled'],
  provisioning: ['succeeded', 'failed'],
  failed: ['queued', 'cancelled'],
  succeeded: [],
  rejected: [],
  expired: [],
  cancelled: [],
} as const satisfies Record<RequestState, readonly RequestState[]>

export const isTerminal = (state: RequestState): boolean => transitions[state].length === 0
/** An open request counts against the limit of open requests per person. */
export const openStates = requestStates.filter((state) => !isTerminal(state))
