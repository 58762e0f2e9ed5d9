import { z } from 'zod'
import {
  type ApprovalStage,
  because,
  isApproved,
  isForMailbox,
  isRejected,
  lastDecision,
  lateStep,
  needed,
  nextStep,
  openStage,
  type Problem,
  publicCode,
  publicReasons,
  type Request,
  type RequestStep,
  withoutAccess,
} from '../../core/index.ts'
import { sinceWhat } from '../decisions/stage-texts.ts'
import { marks, rowLook, shownState } from '../shared/look.ts'
import { format, keysOf, strings } from '../shared/messages.ts'
import { problemSentence, reasonText } from '../shared/reasons.ts'
import { cut, decidedBy, longest, moment, shortName, type Viewer } from '../shared/texts.ts'

type StepName = keyof typeof strings.step
type Note = keyof typeof strings.note

/** The style of a row of progress: the row `now` is bold, the rows `later` are subtle. */
const stepLook = rowLook.extend({ now: z.boolean(), later: z.boolean() })
const stepLooks = {
  done: { ...marks.good, now: false, later: false },
  now: { ...marks.busy, now: true, later: false },
  later: { mark: '○', color: 'Default', now: false, later: true },
  failed: { ...marks.wrong, now: true, later: false },
  ended: { ...marks.ended, now: true, later: false },
  never: { ...marks.ended, now: false, later: true },
} as const satisfies Record<string, z.output<typeof stepLook>>

/** One row of progress: its text, the time of its completion, and a second line. */
export const stepRow = z.strictObject({
  text: z.string(),
  look: stepLook,
  at: z.string(),
  note: z.string(),
})
type StepRow = z.output<typeof stepRow>

/** The arguments of a row's text, and the texts next to it. */
interface RowFacts {
  readonly names?: string
  readonly number?: number
  readonly total?: number
  readonly at?: string
  readonly note?: string
}
function row(name: StepName, look: StepRow['look'], facts: RowFacts = {}): StepRow {
  const { names = '', number = 0, total = 0, at = '', note = '' } = facts
  return { text: format(strings.step[name], { names, number, total }), look, at, note }
}
const noteOf = (note: Note, value: string, count = 0): RowFacts => ({
  note: format(strings.note[note], { value, count }),
})

/** The progress of a request: at most seven rows, of which exactly one is current until the request ends. */
export function stepRows(request: Request, viewer: Viewer): StepRow[] {
  const at = (when: string | null | undefined): string => (when ? moment(when, viewer, 'day') : '')
  const sent = row('sent', stepLooks.done, { at: at(request.submittedAt) })
  const approved = approvedRows(request.approvals, at)
  const end = at(request.finishedAt)
  switch (shownState(request)) {
    case 'pendingApproval':
      return [sent, ...approved, ...openRows(request.approvals), toMake(request, stepLooks.later), ready('later')]
    case 'rejected': {
      const last = lastDecision(request.approvals)
      const rejected = row('rejected', stepLooks.failed, { names: last ? decidedBy([last]) : '', at: end })
      return [sent, ...approved, rejected, toMake(request, stepLooks.never)]
    }
    case 'expired':
      return [sent, ...approved, row('expired', stepLooks.ended, { at: end }), toMake(request, stepLooks.never)]
    case 'cancelled': {
      const names = cut(request.cancelledBy?.displayName ?? '', longest.name)
      return [sent, ...approved, row(names ? 'cancelledBy' : 'cancelled', stepLooks.ended, { names, at: end })]
    }
    case 'succeeded': {
      const [name, made] = isForMailbox(request)
        ? (['mailboxCreated', 'create-mailbox'] as const)
        : (['created', 'wait-for-site'] as const)
      const created = row(name, stepLooks.done, { at: at(finishOf(request, made)) })
      return [sent, ...approved, created, ready('done', at(request.followUp.at ?? request.finishedAt))]
    }
    case 'failed':
      return [sent, ...approved, ...workRows(request, viewer, at).filter(({ look }) => !look.later), ready('later')]
    case 'queued':
    case 'provisioning':
      return [sent, ...approved, ...workRows(request, viewer, at), ready('later')]
  }
}

const ready = (look: 'later' | 'done', at = ''): StepRow => row('ready', stepLooks[look], { at })

const toMake = (request: Request, look: StepRow['look']): StepRow =>
  row(isForMailbox(request) ? 'createMailbox' : 'create', look)

const finishOf = (request: Request, name: RequestStep['name']): string | undefined =>
  request.steps.find((step) => step.name === name)?.finishedAt

/** Finished stages are one row, to leave room for the others. */
function approvedRows(stages: readonly ApprovalStage[], at: (when: string | undefined) => string): StepRow[] {
  const approvals = stages.filter((stage) => isApproved(stage) && !isRejected(stage))
  const decisions = approvals.flatMap(({ decisions }) => decisions)
  if (decisions.length === 0) return []
  const names = decidedBy(decisions)
  return [row('approved', stepLooks.done, { names, at: at(lastDecision(approvals)?.at) })]
}

/** The current stage and the later ones. */
function openRows(stages: readonly ApprovalStage[]): StepRow[] {
  const open = openStage(stages)
  if (!open) return []
  const after = stages.filter(({ stage }) => stage > open.stage)
  const total = stages.length
  const numbered = (stage: ApprovalStage, look: StepRow['look'], facts: RowFacts = {}) =>
    row(stages.length === 1 ? 'approval' : 'approvalOf', look, { number: stage.stage, total, ...facts })
  const later =
    after.length > 2
      ? [row('moreApprovals', stepLooks.later, { number: after.length })]
      : after.map((stage) => numbered(stage, stepLooks.later))
  return [numbered(open, stepLooks.now, ruleNote(open)), ...later]
}

function ruleNote(stage: ApprovalStage): RowFacts {
  if (stage.decisions.length > 0) return noteOf('soFar', decidedBy(stage.decisions))
  if (stage.resolvedTo) return noteOf(stage.resolvedTo === 'admins' ? 'admins' : 'adminsToo', sinceWhat(stage))
  return stage.approvers.length < 2 ? {} : noteOf(stage.rule, '', needed(stage))
}

interface Group {
  readonly steps: readonly RequestStep['name'][]
  readonly doing: StepName
  readonly done: StepName
}
/** People need fewer steps than provisioning has: creating and waiting are one row, and so are checking and finding. */
const ofSites: readonly Group[] = [
  { steps: ['create-site', 'wait-for-site'], doing: 'create', done: 'created' },
  { steps: ['add-owners'], doing: 'addOwners', done: 'ownersAdded' },
  { steps: ['apply-label'], doing: 'applyLabel', done: 'labelApplied' },
  { steps: ['ready-check', 'link-group'], doing: 'findGroup', done: 'groupFound' },
]
const settings = ['apply-settings', 'apply-contact', 'apply-place', 'apply-booking', 'apply-automatic-reply'] as const
const ofMailboxes: readonly Group[] = [
  { steps: ['create-mailbox', 'block-sign-in'], doing: 'createMailbox', done: 'mailboxCreated' },
  { steps: settings, doing: 'applySettings', done: 'settingsApplied' },
  { steps: ['grant-access'], doing: 'giveAccess', done: 'accessGiven' },
  { steps: ['ready-check'], doing: 'check', done: 'check' },
]
const groupsOf = (request: Request): readonly Group[] => (isForMailbox(request) ? ofMailboxes : ofSites)

/** The text of the row of a step; without a step the last row, which waits for the announcement. */
export function stepText(request: Request, name: RequestStep['name'] | undefined): string {
  if (name === 'ready-check') return strings.step.check
  const groups = groupsOf(request)
  const group = groups.find(({ steps }) => steps.some((step) => step === name)) ?? groups.at(-1)
  return strings.step[group?.doing ?? 'check']
}

function workRows(request: Request, viewer: Viewer, at: (when: string | undefined) => string): StepRow[] {
  const groups = groupsOf(request).flatMap((group) => {
    const own = request.steps.filter(({ name }) => group.steps.includes(name))
    return own.length === 0 ? [] : [{ ...group, own, open: own.find(({ status }) => status !== 'done') }]
  })
  // The failed row; else the first unfinished one, though its last step may come after others.
  const failed = request.status === 'failed' ? nextStep(request)?.name : undefined
  const isNow = ({ steps, open }: (typeof groups)[number]) => (failed ? steps.includes(failed) : open !== undefined)
  // The last row is done only when the resource is announced.
  const now = groups.find(isNow) ?? groups.at(-1)
  const rows = groups.map((group) => {
    const { own, open, doing, done } = group
    if (group === now) return currentRow(request, viewer, open, doing)
    return open ? row(doing, stepLooks.later) : row(done, stepLooks.done, { at: at(own.at(-1)?.finishedAt) })
  })
  const rank = ({ look }: StepRow): number => (look.now ? 1 : look.later ? 2 : 0)
  return rows.toSorted((one, other) => rank(one) - rank(other))
}

function currentRow(request: Request, viewer: Viewer, step: RequestStep | undefined, doing: StepName): StepRow {
  const name = step?.name === 'ready-check' && step.status !== 'pending' ? 'check' : doing
  if (request.status === 'failed') return row(name, stepLooks.failed, problemNote(request, viewer, step))
  if (lateStep(request)?.problem) return row(name, stepLooks.now, problemNote(request, viewer, step))
  return row(name, stepLooks.now, step?.name === 'wait-for-site' ? noteOf('settingUp', '') : {})
}

/** The reason is never cut, because an admin needs all of it. */
function problemNote(request: Request, viewer: Viewer, step: RequestStep | undefined): RowFacts {
  const problem = request.problem ?? step?.problem
  if (!problem) return {}
  const attempts = step?.attempts ?? 0
  return noteOf(attempts > 1 ? 'problemAttempts' : 'problem', problemFor(problem, viewer), attempts)
}

/** A problem as the viewer reads it: only admins read the answer of Microsoft 365. */
export const problemFor = (problem: Problem, { isAdmin = false }: Pick<Viewer, 'isAdmin'>): string =>
  peopleText(problem) ?? (isAdmin ? problemSentence(problem) : problemText(problem.code))

/** A problem as everybody but admins reads it. */
export const problemText = (code: string): string => strings.problem[problemKey(code)]

/** The number of people that a card names. */
const maxPeople = 5

/** The people of a problem and why they get no access; undefined for a problem without people. */
export function peopleText({ people = [] }: Pick<Problem, 'people'>): string | undefined {
  if (people.length === 0) return undefined
  const named = people
    .slice(0, maxPeople)
    .map((one) => reasonText(withoutAccess({ ...one, displayName: shortName(one) })))
  const count = people.length - named.length
  return [...named, ...(count > 0 ? [reasonText(because('morePeopleWithoutAccess', { count }))] : [])].join(' ')
}

type ProblemKey = keyof typeof strings.problem

/** The message of a problem's code, ours or Microsoft's. An unknown code means that Microsoft 365 refused. */
function problemKey(code: string): ProblemKey {
  const meaning = publicCode(code)
  const own = keysOf<ProblemKey>(strings.problem).find((known) => known === meaning)
  return own ?? otherKeys[meaning] ?? (publicReasons[meaning] === publicReasons['no-answer'] ? 'no-answer' : 'refused')
}
const otherKeys: Readonly<Partial<Record<ReturnType<typeof publicCode>, ProblemKey>>> = {
  'not-there-yet': 'not-ready',
  'half-made': 'not-ready',
  'accounts-hidden': 'permission-missing',
  'missing-progress': 'unexpected',
  'foreign-page': 'unexpected',
}
