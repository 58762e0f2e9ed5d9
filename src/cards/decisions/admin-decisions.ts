import { z } from 'zod'
import {
  type Attention,
  checkSteps,
  type Fault,
  isApproved,
  isFault,
  nextStep,
  openStage,
  type Person,
  type QueueEntry,
  type Request,
  requestState,
  undecided,
} from '../../core/index.ts'
import { choice, faultLine, faultsOfForm, partsOf } from '../drafts/form-faults.ts'
import { about, aboutOf } from '../requests/about-request.ts'
import { lookOf, reasonOf, rowOf, waitingRow } from '../requests/admin-queue.ts'
import { stepText } from '../requests/steps.ts'
import { askedAddress } from '../shared/links.ts'
import { rowLook } from '../shared/look.ts'
import { format, restText, strings } from '../shared/messages.ts'
import { defineCard, type ViewOf } from '../shared/render.ts'
import { cut, duration, longest, shortName, type Viewer } from '../shared/texts.ts'

const does = z.enum(['approve', 'reject', 'reassign', 'retry', 'cancel'])
/** The action that an admin typed without a request. */
export type WhichFor = z.output<typeof does>

export const adminWhichCard = defineCard({
  name: 'admin-which',
  data: z.strictObject({
    does,
    isEmpty: z.boolean(),
    requests: z.array(waitingRow.extend({ open: z.string() })),
    older: z.string(),
  }),
})

const maxRows = 6

/** How to type the command, and the waiting requests: a tap on a row types the command. `total`: how many wait. */
export function adminWhichView(
  does: WhichFor,
  { entries, total }: { readonly entries: readonly QueueEntry[]; readonly total: number },
  viewer: Viewer,
): ViewOf<typeof adminWhichCard> {
  const shown = entries.slice(0, maxRows).map((entry) => rowOf(entry, viewer, 120))
  return {
    does,
    isEmpty: shown.length === 0,
    requests: shown.map((row) => ({
      ...row,
      open: format(strings.list.open, { reference: row.reference }),
      types: format(strings.which.types[does], { reference: row.reference }),
    })),
    older: restText(strings.which.older, total - shown.length),
  }
}

/** An action for an admin to confirm. `commentMissing`: the card comes back, because the required comment is missing. */
export interface Confirmation {
  readonly verb: 'admin.retry' | 'admin.cancel' | 'admin.approve' | 'admin.reject'
  readonly request: Request
  readonly comment?: string | undefined
  readonly commentMissing?: boolean | undefined
}

export const adminConfirmCard = defineCard({
  name: 'admin-confirm',
  data: z.strictObject({
    action: z.enum(['retry', 'cancel', 'approve', 'reject']),
    /** The purpose of the input: a comment, or the reason of an override. */
    says: z.enum(['comment', 'reason']),
    ...about,
    requestId: z.uuid(),
    address: z.string(),
    state: requestState,
    look: rowLook,
    age: z.string(),
    why: z.string(),
    /** The last error of a failed request. */
    stopped: z.string(),
    /** The requester's reason, for an admin who overrides. */
    wrote: z.string(),
    reason: z.string(),
    next: z.string(),
    fallback: z.string(),
    help: z.string(),
    error: z.string(),
    comment: z.string(),
    commentMissing: z.boolean(),
  }),
})

/** Shows the request, its status and problem, and what the click will do. */
export function adminConfirmView(
  { verb, request, comment = '', commentMissing = false }: Confirmation,
  viewer: Viewer,
): ViewOf<typeof adminConfirmCard> {
  const failed = request.status === 'failed'
  const { why, value } = reasonOf({ request, attention: undefined }, viewer)
  const count = nextStep(request)?.attempts ?? 0
  const texts = strings.confirm
  const name = shortName(request.requester)
  const action = actionOf[verb]
  const isOverride = action === 'approve' || action === 'reject'
  const since = isOverride ? (openStage(request.approvals)?.openedAt ?? request.submittedAt) : request.updatedAt
  const says = isOverride ? 'reason' : 'comment'
  const head = aboutOf(request, viewer)
  return {
    action,
    says,
    ...head,
    requestId: request.requestId,
    address: askedAddress(request, viewer),
    state: request.status,
    look: lookOf({ request, attention: undefined }),
    age: duration(viewer.now.getTime() - Date.parse(since)),
    why: failed ? '' : format(strings.queue.why[why], { value: cut(value, longest.text) }),
    // Never cut, because an admin needs all of it.
    stopped:
      failed && value ? format(count > 1 ? strings.note.problemAttempts : strings.note.problem, { value, count }) : '',
    wrote: format(texts.wrote, { name }),
    reason: isOverride ? cut(request.reason, longest.text) : '',
    next: nextOf(action, request, name),
    fallback: format(texts.fallback, { reference: head.reference }),
    help: format(texts[says].help, { name }),
    error: format(texts[says].error, { name }),
    comment: cut(comment, 500),
    commentMissing,
  }
}

const actionOf = {
  'admin.retry': 'retry',
  'admin.cancel': 'cancel',
  'admin.approve': 'approve',
  'admin.reject': 'reject',
} as const satisfies Record<Confirmation['verb'], string>

function nextOf(action: 'retry' | 'cancel' | 'approve' | 'reject', request: Request, name: string): string {
  const texts = strings.confirm
  switch (action) {
    case 'retry': {
      const step = stepText(request, firstStep(request))
      return format(request.status === 'failed' ? texts.goesOn : texts.startsAnew, { step })
    }
    case 'cancel': {
      const isCreated = request.steps.some((step) => step.status === 'done')
      return format(isCreated ? texts.keptMade : texts.nothingMade, { name })
    }
    case 'approve': {
      const count = request.approvals.filter((stage) => !isApproved(stage)).length
      return format(texts.overApproves, { count, name })
    }
    case 'reject':
      return format(texts.overRejects, { name })
  }
}

/** The step with which a retry continues. The step that sets a value also fixes it after a failed check. */
function firstStep({ steps, checks }: Request) {
  const wrong = new Set<string>(checks.filter(isFault).map(({ name }) => checkSteps[name]))
  return steps.find(({ name, status }) => status !== 'done' || wrong.has(name))?.name
}

/** A sentence above the inputs: who is replaced, who was found, or what was not understood. */
export interface ReassignRemark {
  readonly words: keyof typeof strings.reassign.remark
  readonly typed: string
}

/** The form that reassigns a request, with the values from the command or from the earlier form. */
export interface ReassignForm {
  readonly request: Request
  /** Why the request needs attention, if known. */
  readonly attention?: Attention | undefined
  /** The people whose names the picker shows, or the people to choose from. */
  readonly people: readonly Person[]
  readonly isChoice: boolean
  /** Ids, or `''`. */
  readonly values: { readonly from: string; readonly to: string }
  readonly comment: string
  readonly remarks: readonly ReassignRemark[]
  readonly faults: readonly Fault[]
}

const idOrNone = z.union([z.literal(''), z.uuid()])

export const adminReassignCard = defineCard({
  name: 'admin-reassign',
  data: z.strictObject({
    ...about,
    requestId: z.uuid(),
    address: z.string(),
    heading: z.enum(['ask', 'mistake', 'mistakes']),
    fallback: z.string(),
    why: z.string(),
    age: z.string(),
    remarks: z.array(z.strictObject({ text: z.string() })),
    /** Whether several approvers are undecided, so that the admin must choose which one to replace. */
    asksFrom: z.boolean(),
    approvers: z.array(choice),
    isChoice: z.boolean(),
    people: z.array(choice),
    values: z.strictObject({ from: idOrNone, to: idOrNone }),
    comment: z.string(),
    faults: z.strictObject({ from: faultLine, to: faultLine }),
    otherFaults: z.array(z.strictObject({ detail: z.string() })),
  }),
})

/** Shows the approvers of the request, with inputs for the new approver. */
export function adminReassignView(form: ReassignForm, viewer: Viewer): ViewOf<typeof adminReassignCard> {
  const { request, people, isChoice, values, comment } = form
  const stage = openStage(request.approvals)
  const approvers = stage ? undecided(stage) : []
  const faults = faultsOfForm(form.faults, {
    ids: ['from', 'to'],
    label: (id) => (id === 'from' ? strings.reassign.from.label : strings.reassign.to.label),
    inputOf: (fault) => partsOf(fault)[0] ?? '',
    resource: 'delegation',
  })
  const { faultCount, otherFaults } = faults
  const { why, value } = reasonOf({ request, attention: form.attention }, viewer)
  const [only, ...others] = approvers
  const isOnly = only !== undefined && others.length === 0
  const first = isOnly ? [{ words: 'inPlaceOf' as const, typed: only.displayName }] : []
  const head = aboutOf(request, viewer)
  const name = shortName(request.requester)
  return {
    ...head,
    requestId: request.requestId,
    address: askedAddress(request, viewer),
    heading: faultCount > 1 ? 'mistakes' : faultCount === 1 ? 'mistake' : 'ask',
    fallback: format(strings.reassign.fallback, { reference: head.reference }),
    why: format(strings.queue.why[why], { value: cut(value, longest.text) }),
    age: duration(viewer.now.getTime() - Date.parse(stage?.openedAt ?? request.submittedAt)),
    remarks: [...first, ...form.remarks].map(({ words, typed }) => ({
      text: format(strings.reassign.remark[words], { typed: cut(typed, longest.title), name }),
    })),
    asksFrom: !isOnly,
    approvers: approvers.map(titled),
    isChoice,
    people: people.map(titled),
    values,
    comment: cut(comment, 500),
    faults: { from: faults.lineOf('from'), to: faults.lineOf('to') },
    otherFaults,
  }
}

/** Two people can have one name, so the sign-in name follows. */
const titled = ({ id, displayName, userPrincipalName }: Person) => ({
  title: `${cut(displayName, longest.name)} (${cut(userPrincipalName, longest.title)})`,
  value: id,
})
