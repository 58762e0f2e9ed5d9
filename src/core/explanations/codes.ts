import type { Person } from '../shared/index.ts'

/**
 * The keys of explanation lines: a code and, after a dot, the fact `why`, which distinguishes the cases of one code. The
 * catalogue has a message for each key.
 */
export const explanationKeys = [
  'no-approval',
  'none-asked',
  'stage-asked.above',
  'stage-asked.below',
  'stage-asked.noNumber',
  'stage-asked.oneOf',
  'stage-asked.noneOf',
  'stage-asked.given',
  'stage-asked.notGiven',
  'stage-asked.externalOwners',
  'stage-left-out.above',
  'stage-left-out.below',
  'stage-left-out.oneOf',
  'stage-left-out.noneOf',
  'stage-left-out.given',
  'stage-left-out.notGiven',
  'stage-left-out.externalOwners',
  'value-usual',
  'asked-as.person',
  'asked-as.manager',
  'asked-as.member',
  'asked-as.owner',
  'asked-as.group',
  'asked-as.admin',
  'asked-as.groupOrAdmin',
  'asked-as.template',
  'admins-asked.noManager',
  'admins-asked.onlyRequester',
  'admins-asked.blocked',
  'admins-asked.onlyGuests',
  'admins-asked.nobodyFound',
  'admins-asked.tooFew',
  'reassigned',
  'reassigned-saying',
  'stands-in.delegated',
  'stands-in.escalated',
  'stands-in.unreachable',
  'not-told',
  'waits',
  'reminded',
  'approved',
  'approved-instead',
  'rejected',
  'approved-override',
  'approved-override.notKept',
  'rejected-override',
  'rejected-override.notKept',
  'rejected-instead',
  'will-remind',
  'in-summary',
  'will-escalate',
  'will-expire',
  'next-approval',
  'name-is',
  'name-typed',
  'name-derived',
  'name-of-request',
  'name-affixed.prefix',
  'name-affixed.suffix',
  'name-affixed.both',
  'name-passed-over',
  'name-taken',
  'name-taken-only',
  'name-changed',
  'domain-typed',
  'domain-usual',
  'other-address',
  'took',
  'took-so-far',
  'approval-took',
  'approval-waits',
  'queue-took',
  'queue-waits',
  'step-took',
  'step-took-again',
  'step-runs',
  'step-runs-again',
  'step-tried',
  'step-late',
  'stopped',
  'stopped-between',
  'went-on',
  'late',
  'overdue',
  'delayed',
  'step-next',
  'starts-after-approval',
  'not-found-yet',
  'not-told-yet',
  'announced.webhook',
  'announced.poll',
  'announced.state',
  'cancelled',
  'expired',
] as const
export type ExplanationKey = (typeof explanationKeys)[number]
type CodeOf<K> = K extends `${infer Code}.${string}` ? Code : K
export type ExplanationCode = CodeOf<ExplanationKey>

export const explanationCodes = [...new Set(explanationKeys.map((key) => key.split('.')[0]))] as [
  ExplanationCode,
  ...ExplanationCode[],
]

/** One line: its code, and the facts of its message. */
export interface ExplanationLine {
  readonly code: ExplanationCode
  readonly at?: string | undefined
  readonly stage?: number | undefined
  readonly people?: readonly Person[] | undefined
  readonly facts: Readonly<Record<string, string | number>>
}

/** The key of a line's message; undefined for a line of another version. */
export const explanationKeyOf = ({
  code,
  facts,
}: Pick<ExplanationLine, 'code' | 'facts'>): ExplanationKey | undefined =>
  explanationKeys.find((key) => key === `${code}.${facts['why']}`) ?? explanationKeys.find((key) => key === code)
