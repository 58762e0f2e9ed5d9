import { z } from 'zod'
import type { Notice, NoticeCode } from '../../cards/index.ts'
import { ProvisioningError, TenantError, whyUnavailable } from '../../core/index.ts'
import type { Click } from './turn.ts'

/** The subject in a click's data. It is not trusted, so only the person who clicked sees it. */
const subject = z.object({ requestId: z.uuid(), version: z.coerce.number().int().min(1) }).partial()

/**
 * Returns the notice for a refusal, with a button for the request's status or for a retry. `isOnCard`: the click was on
 * a card in the chat. Only admins get admin cards, so a person who may not use such a card was an admin before.
 */
export function refusalOf(error: ProvisioningError, click: Click | undefined, isOnCard = false): Notice {
  const { code, context, faults, cause, reason } = error
  if (faults.some((fault) => fault.code === 'unknown-template')) return { code: 'templateGone' }
  const { requestId, version } = subject.safeParse(click?.data ?? {}).data ?? {}
  if (code === 'forbidden' && isOnCard && click?.verb.startsWith('admin.')) return { code: 'noLongerAdmin' }
  const again = click?.verb === 'request.submit' && mayBeSentAgain(error)
  return {
    code: (code === 'illegal-transition' && click ? illegalOf[click.verb] : undefined) ?? noticeOf[code],
    ...context,
    ...(requestId !== undefined && { requestId }),
    ...(code === 'unavailable' && (cause === undefined || whyUnavailable(error)) && { detail: reason }),
    ...(again && requestId !== undefined && { retry: { verb: 'request.submit', requestId, version } }),
  }
}

/** Whether the same activity can succeed later. If so, a repeated delivery runs again. */
export const isPassing = (error: unknown): boolean =>
  !(error instanceof ProvisioningError) || error.code === 'unavailable'

/** Whether the reviewed draft in the store is certainly unchanged. This is unknown if the store did not answer. */
const mayBeSentAgain = ({ code, cause }: ProvisioningError): boolean =>
  code === 'too-many-open-requests' || (code === 'unavailable' && (cause === undefined || cause instanceof TenantError))

/** Returns the notice for a click that the request's state does not allow. */
const illegalOf: Readonly<Partial<Record<string, NoticeCode>>> = {
  'admin.retry': 'cannotRetry',
  'admin.approve': 'nothingToDecide',
  'admin.reject': 'nothingToDecide',
}

const noticeOf = {
  'validation-failed': 'outdated',
  'name-taken': 'outdated',
  'not-found': 'notFound',
  forbidden: 'notAllowed',
  'self-approval': 'selfApproval',
  'not-an-approver': 'notApprover',
  'second-admin-needed': 'secondAdminNeeded',
  'already-decided': 'alreadyDecided',
  'already-ended': 'alreadyEnded',
  'illegal-transition': 'cannotCancel',
  'comment-required': 'outdated',
  'nudged-already': 'nudgedAlready',
  'duplicate-request': 'outdated',
  'stale-version': 'outdated',
  'too-many-open-requests': 'tooManyOpen',
  unavailable: 'unavailable',
} as const satisfies Record<ProvisioningError['code'], NoticeCode>
