import { isMailboxKind, type ResourceKind } from '../shared/index.ts'
import { evaluateMailbox } from './mailbox-plan.ts'
import type { Evaluation, RequestInquiry } from './plan.ts'
import { evaluateSite } from './site-plan.ts'

/** The two resources that the API document creates, each by its own endpoint. */
export type Resource = 'site' | 'mailbox'
export const resourceOf = (kind: ResourceKind): Resource => (isMailboxKind(kind) ? 'mailbox' : 'site')

const evaluations = { site: evaluateSite, mailbox: evaluateMailbox } as const satisfies Record<Resource, unknown>

/**
 * What a request would be, or what is wrong with it, without writing anything. `unavailable` is thrown when the directory
 * cannot be asked.
 */
export const evaluate = (inquiry: RequestInquiry, resource: Resource, body: unknown): Promise<Evaluation> =>
  evaluations[resource](inquiry, body)
