import { type ApprovalStage, isApproved, isRejected, openStage } from '../approvals/index.ts'
import type { AuditEntry } from '../audit/index.ts'
import { isForMailbox, nextStep, type Request, type RequestStep } from '../requests/index.ts'
import { isTerminal } from '../shared/index.ts'
import type { ExplanationCode, ExplanationLine } from './codes.ts'
import { openedAtOf } from './explanation-approval.ts'

/** Explains the duration: approval, queue, each step, and what the request waits for now. */
export function whyThisLong(request: Request, timeline: readonly AuditEntry[], now: Date): ExplanationLine[] {
  return [
    inAll(request, now),
    ...request.approvals.flatMap((stage) => ofStage(request, stage, now)),
    ...queued(request, timeline, now),
    ...request.steps.flatMap(stepTook),
    ...whatNow(request, now),
    ...noticed(timeline),
    ...ofEnd(request),
  ]
}

/** Whole seconds between two moments. */
const between = (from: string, to: string): number =>
  Math.max(0, Math.round((Date.parse(to) - Date.parse(from)) / 1000))

function inAll({ status, submittedAt, finishedAt, followUp }: Request, now: Date): ExplanationLine {
  const isOver = isTerminal(status) && (status !== 'succeeded' || followUp.state === 'announced')
  const end = isOver ? (followUp.at ?? finishedAt) : undefined
  return end
    ? { code: 'took', facts: { seconds: between(submittedAt, end) } }
    : { code: 'took-so-far', facts: { seconds: between(submittedAt, now.toISOString()) } }
}

/** The line about the present wait of the request, or the reason why it stopped. */
function whatNow(request: Request, now: Date): ExplanationLine[] {
  const { status, finishedAt, followUp } = request
  const step = nextStep(request)
  switch (status) {
    case 'pendingApproval':
      return [{ code: 'starts-after-approval', facts: {} }]
    case 'queued':
      return step ? [{ code: 'step-next', facts: { step: step.name } }] : []
    case 'provisioning':
      return step ? underWay(step, now) : []
    case 'failed':
      return [stoppedAt(request)]
    case 'succeeded': {
      if (followUp.state === 'announced' || finishedAt === null) return []
      return [{ code: isForMailbox(request) ? 'not-told-yet' : 'not-found-yet', at: finishedAt, facts: {} }]
    }
    default:
      return []
  }
}

function underWay(
  { name: step, status, attempts, startedAt, problem, lateAt }: RequestStep,
  now: Date,
): ExplanationLine[] {
  const late: ExplanationLine[] = lateAt && startedAt ? [{ code: 'step-late', facts: { step, since: startedAt } }] : []
  if (problem) {
    const tried = { step, attempts, problem: problem.detail, problemCode: problem.code }
    return [{ code: 'step-tried', facts: tried }, ...late]
  }
  if (late.length > 0) return late
  if (status === 'pending' || startedAt === undefined) return [{ code: 'step-next', facts: { step } }]
  const seconds = between(startedAt, now.toISOString())
  return attempts > 1
    ? [{ code: 'step-runs-again', facts: { step, seconds, attempts } }]
    : [{ code: 'step-runs', facts: { step, seconds } }]
}

function stoppedAt(request: Request): ExplanationLine {
  const step = request.problem?.step ?? request.steps.find(({ status }) => status === 'failed')?.name
  const { code = '', detail = '' } = request.problem ?? {}
  const facts = { problem: detail, problemCode: code }
  return step ? { code: 'stopped', facts: { step, ...facts } } : { code: 'stopped-between', facts }
}

/** How long a stage took; nothing if it has not opened, or the opening was not recorded. */
function ofStage(request: Request, stage: ApprovalStage, now: Date): ExplanationLine[] {
  const opened = openedAtOf(request, stage)
  const last = stage.decisions.at(-1)
  if (opened === undefined) return []
  if (last && (isApproved(stage) || isRejected(stage))) {
    const people = stage.decisions.map(({ by }) => by)
    return [{ code: 'approval-took', stage: stage.stage, people, facts: { seconds: between(opened, last.at) } }]
  }
  if (openStage(request.approvals)?.stage !== stage.stage) return []
  const end = request.finishedAt ?? now.toISOString()
  return [{ code: 'approval-waits', stage: stage.stage, facts: { seconds: between(opened, end) } }]
}

/** Each wait between queueing and start: a retry queues again. */
function queued({ status, queuedAt }: Request, timeline: readonly AuditEntry[], now: Date): ExplanationLine[] {
  const moves = timeline.filter(({ action }) => action === 'queued' || action === 'provisioning')
  const ended = moves.flatMap((move, index): ExplanationLine[] => {
    const before = moves[index - 1]
    if (move.action !== 'provisioning' || before?.action !== 'queued') return []
    return [{ code: 'queue-took', at: move.at, facts: { seconds: between(before.at, move.at) } }]
  })
  if (status !== 'queued' || queuedAt === null) return ended
  return [...ended, { code: 'queue-waits', facts: { since: queuedAt, seconds: between(queuedAt, now.toISOString()) } }]
}

function stepTook({ name: step, status, attempts, startedAt, finishedAt }: RequestStep): ExplanationLine[] {
  if (status !== 'done' || startedAt === undefined || finishedAt === undefined) return []
  const facts = { step, seconds: between(startedAt, finishedAt) }
  return attempts > 1 ? [{ code: 'step-took-again', facts: { ...facts, attempts } }] : [{ code: 'step-took', facts }]
}

const notices: Readonly<Record<string, ExplanationCode>> = {
  late: 'late',
  overdue: 'overdue',
  delayed: 'delayed',
  restarted: 'went-on',
}

/** The delays in the timeline: that the request was late, and who retried it. */
function noticed(timeline: readonly AuditEntry[]): ExplanationLine[] {
  return timeline.flatMap(({ at, actor, action }, index): ExplanationLine[] => {
    const isRetry = action === 'queued' && 'id' in actor && index > 0
    const code = isRetry ? 'went-on' : Object.hasOwn(notices, action) ? notices[action] : undefined
    if (code === undefined) return []
    return [{ code, at, ...('id' in actor && { people: [actor] }), facts: {} }]
  })
}

function ofEnd({ status, finishedAt, cancelledBy, cancelComment, followUp }: Request): ExplanationLine[] {
  if (status === 'expired' && finishedAt) return [{ code: 'expired', at: finishedAt, facts: {} }]
  if (status === 'cancelled' && finishedAt && cancelledBy) {
    const facts: Record<string, string> = cancelComment ? { comment: cancelComment } : {}
    return [{ code: 'cancelled', at: finishedAt, people: [cancelledBy], facts }]
  }
  if (followUp.state !== 'announced' || !followUp.at || !followUp.by) return []
  return [{ code: 'announced', at: followUp.at, facts: { why: followUp.by } }]
}
