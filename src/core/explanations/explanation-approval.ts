import {
  type ApprovalStage,
  type Decision,
  isApproved,
  type JudgedStage,
  openStage,
  type StandIn,
  waitingFor,
} from '../approvals/index.ts'
import type { Request } from '../requests/index.ts'
import type { Person } from '../shared/index.ts'
import { type JudgedCondition, titleOfFound } from '../templates/index.ts'
import type { ExplanationLine } from './codes.ts'

/**
 * Explains why these people are the approvers, who may decide instead of them, and what happens without a decision. `inDigest`: the
 * ids of the people whose daily digest replaces the reminder.
 */
export function whyThisApprover(
  request: Request,
  now: Date,
  inDigest: ReadonlySet<string> = new Set(),
): ExplanationLine[] {
  const { template, approvals, policy = [], status } = request
  const open = status === 'pendingApproval' ? openStage(approvals) : undefined
  const last = approvals.findIndex((stage) => !isApproved(stage))
  // Later stages never open after a rejection or the end.
  const came = last === -1 ? approvals : approvals.slice(0, last + 1)
  // The open stage comes first.
  const known = open ? [open, ...came.filter((stage) => stage !== open)] : came
  const later = open ? approvals.slice(last + 1) : []
  return [
    ...(approvals.length > 0 ? [] : [withoutApproval(template)]),
    ...known.flatMap((stage) => [
      ...(stage === open ? [waits(request, stage), ...whatIsDue(request, stage, now, inDigest)] : []),
      ...stage.decisions.map((one) => decided(stage, one)),
      ...conditionsOf(request, stage),
      ...(hasOpened(request, stage) ? namedBy(request, stage) : []),
      ...changedSince(stage),
    ]),
    ...later.map(
      ({ stage, approvers }): ExplanationLine => ({ code: 'next-approval', stage, people: approvers, facts: {} }),
    ),
    ...policy.filter(({ stage }) => stage === null).flatMap((one) => leftOut(request, one)),
  ]
}

const withoutApproval = ({ name, approval }: Request['template']): ExplanationLine => ({
  code: approval === null ? 'no-approval' : 'none-asked',
  facts: { template: name },
})

/** When a stage opened. Earlier versions recorded it for the first stage only. */
export const openedAtOf = (request: Request, { stage, openedAt }: ApprovalStage): string | undefined =>
  openedAt ?? (stage === 1 ? request.submittedAt : undefined)

/** Whether a stage has opened: an admin may have decided it before. */
const hasOpened = (request: Request, stage: ApprovalStage): boolean =>
  openedAtOf(request, stage) !== undefined || !stage.decisions.some(({ override }) => override)

function waits(request: Request, stage: ApprovalStage): ExplanationLine {
  const since = openedAtOf(request, stage) ?? request.updatedAt
  return { code: 'waits', stage: stage.stage, people: waitingFor(request.approvals), facts: { since } }
}

function decided(
  { stage }: ApprovalStage,
  { by, decision, at, comment, insteadOf = [], override }: Decision,
): ExplanationLine {
  if (override) {
    // The comment is removed with the details of the request.
    const facts: ExplanationLine['facts'] = comment ? { comment } : { why: 'notKept' }
    return { code: `${decision}-override`, stage, people: [by], at, facts }
  }
  const facts = {
    ...(comment !== undefined && { comment }),
    ...(insteadOf.length > 0 && { insteadOf: namesOf(insteadOf) }),
  }
  return { code: insteadOf.length > 0 ? `${decision}-instead` : decision, stage, people: [by], at, facts }
}

/** Names of several people, as one fact. */
const namesOf = (people: readonly Person[]): string => people.map(({ displayName }) => displayName).join(', ')

function conditionsOf(request: Request, { stage }: ApprovalStage): ExplanationLine[] {
  const judged = request.policy?.find((one) => one.stage === stage)?.conditions ?? []
  return judged.flatMap((one) => [
    { code: 'stage-asked', stage, facts: factsOf(request, one) },
    ...usualOf(request, one),
  ])
}

/** The failed conditions: a stage is left out as soon as one condition does not hold. */
const leftOut = (request: Request, { place, conditions }: JudgedStage): ExplanationLine[] =>
  conditions
    .filter(({ holds }) => !holds)
    .flatMap((one) => [
      { code: 'stage-left-out', facts: { ...factsOf(request, one), place } },
      ...usualOf(request, one),
    ])

/** The requester did not name the value that was judged. */
function usualOf({ template }: Request, { condition, found, usual }: JudgedCondition): ExplanationLine[] {
  if (!usual || 'externalOwners' in condition || found === '') return []
  const { field } = condition
  return [{ code: 'value-usual', facts: { field, found: titleOfFound(template, field, found) } }]
}

function factsOf(request: Request, { condition, found, holds }: JudgedCondition): Record<string, string | number> {
  if ('externalOwners' in condition) return { why: 'externalOwners', ...(holds && { found }) }
  const { field } = condition
  const isMissing = 'given' in condition ? condition.given !== holds : found.trim() === ''
  if (isMissing) return { why: 'notGiven', field }
  const facts = { field, found: titleOfFound(request.template, field, found) }
  if ('given' in condition) return { why: 'given', ...facts }
  if ('oneOf' in condition) return { why: 'oneOf', ...facts }
  if ('noneOf' in condition) return { why: 'noneOf', ...facts }
  const [why, bound] = 'above' in condition ? ['above', condition.above] : ['below', condition.below]
  // A text is neither above nor below a number.
  return { why: Number.isNaN(Number(found)) ? 'noNumber' : why, ...facts, bound }
}

type Way = 'person' | 'manager' | 'member' | 'owner' | 'group' | 'admin' | 'groupOrAdmin' | 'template'

/** The line of the policy that named each approver; another line explains replacements. */
function namedBy(request: Request, stage: ApprovalStage): ExplanationLine[] {
  const { reassigned = [], approvers, resolvedTo, resolvedFor } = stage
  const first = approvers.filter(({ id }) => !reassigned.some(({ to }) => to.id === id))
  const former = reassigned.flatMap(({ from }) => from).filter(({ id }) => !reassigned.some(({ to }) => to.id === id))
  const approversOfPolicy = [...new Map([...first, ...former].map((one) => [one.id, one])).values()]
  const byWay = Map.groupBy(approversOfPolicy, ({ id }) => wayTo(request, stage, id))
  const requester = request.requester.displayName
  return [
    ...(resolvedTo && resolvedFor
      ? [{ code: 'admins-asked', stage: stage.stage, facts: { why: resolvedFor } } as const]
      : []),
    ...[...byWay].map(([why, people]): ExplanationLine => {
      return { code: 'asked-as', stage: stage.stage, people, facts: { why, ...(why === 'manager' && { requester }) } }
    }),
  ]
}

function wayTo(request: Request, stage: ApprovalStage, id: string): Way {
  const lines = request.template.approval?.stages[placeOf(request, stage) - 1]?.approvers ?? []
  const isNamed = lines.some((line) => 'user' in line && line.user === id)
  if (isNamed) return 'person'
  // A person who reassigned their part is no longer stored as a member.
  const isMember = stage.membership?.people.includes(id) ?? false
  const isFormer = !stage.approvers.some((one) => one.id === id)
  const hasManager = lines.some((line) => 'manager' in line)
  if (!isMember && hasManager && !isFormer) return 'manager'
  if (!isMember && !isFormer) return 'template'
  const [members, owners] = [lines.some((line) => 'group' in line), lines.some((line) => 'ownersOf' in line)]
  const admins = stage.resolvedTo !== undefined
  if (isFormer && hasManager && (members || owners || admins)) return 'template'
  if (admins) return members || owners ? 'groupOrAdmin' : 'admin'
  if (members && owners) return 'group'
  return members ? 'member' : owners ? 'owner' : hasManager ? 'manager' : 'template'
}

/** The stage's place in the policy. Older requests do not store it; only conditions left out stages of theirs. */
const placeOf = ({ policy }: Request, { stage, place }: ApprovalStage): number =>
  place ?? policy?.find((one) => one.stage === stage)?.place ?? stage

/** The changes after the stage opened: reassignments, stand-ins, unreachable approvers, reminders. */
function changedSince(of: ApprovalStage): ExplanationLine[] {
  const { stage, reassigned = [], standIns = [], unreachable = [] } = of
  // A line in the daily digest does not count as a reminder.
  const reminders = of.reminders?.filter(({ inDigest }) => !inDigest) ?? []
  const last = reminders.at(-1)
  return [
    ...reassigned.map(({ from, to, by, at, comment = '' }): ExplanationLine => {
      const facts = { from: namesOf(from), by: by.displayName, ...(comment && { comment }) }
      return { code: comment ? 'reassigned-saying' : 'reassigned', stage, people: [to], at, facts }
    }),
    ...standIns.flatMap((one) => standsIn(of, one)),
    ...unreachable.map(({ person, at, why }): ExplanationLine => {
      return { code: 'not-told', stage, people: [person], at, facts: { reason: why } }
    }),
    ...(last ? [{ code: 'reminded', stage, at: last.at, facts: { count: reminders.length } } as const] : []),
  ]
}

function standsIn({ stage, approvers }: ApprovalStage, standIn: StandIn): ExplanationLine[] {
  const { person, insteadOf: ids, why, as, by, since, until } = standIn
  const insteadOf = namesOf(approvers.filter(({ id }) => ids.includes(id)))
  if (insteadOf === '' || (why === 'delegated' && (!by || !until))) return []
  const away: Record<string, string> = by && until ? { by: by.displayName, until } : {}
  return [{ code: 'stands-in', stage, people: [person], facts: { why, as, since, insteadOf, ...away } }]
}

/**
 * The next timers without a decision. The digest of some people shows the request instead of a reminder. While the address is
 * taken, reminders and escalations pause.
 */
function whatIsDue(
  { addressConflict }: Request,
  of: ApprovalStage,
  now: Date,
  inDigest: ReadonlySet<string>,
): ExplanationLine[] {
  const { stage, times, reminders = [], escalatedAt } = of
  const isToCome = (at: string | undefined): at is string => at !== undefined && Date.parse(at) > now.getTime()
  const own = reminders.find(({ by }) => by === null)
  const waiting = waitingFor([of])
  const byCard = waiting.filter(({ id }) => !inDigest.has(id))
  const remindAt = addressConflict ? undefined : times?.remindAt
  const escalateAt = addressConflict ? undefined : times?.escalateAt
  const bySummary = remindAt === undefined ? [] : waiting.filter(({ id }) => inDigest.has(id))
  const due = [
    { code: 'will-remind', at: own || byCard.length === 0 ? undefined : remindAt, people: byCard },
    { code: 'will-escalate', at: escalatedAt === undefined ? escalateAt : undefined },
    { code: 'will-expire', at: times?.expiresAt },
  ] as const
  return [
    ...(bySummary.length > 0 ? [{ code: 'in-summary', stage, people: bySummary, facts: {} } as const] : []),
    ...due.flatMap(({ at, ...line }) => (isToCome(at) ? [{ ...line, stage, at, facts: {} }] : [])),
  ]
}
