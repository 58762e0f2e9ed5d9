import { z } from 'zod'
import { type Attention, type Fault, openStage, type Person, type Request, undecided } from '../../core/index.ts'
import { choice, faultLine, faultsOfForm, partsOf } from '../drafts/form-faults.ts'
import { aboutRequest, aboutRequestView } from '../requests/about-request.ts'
import { reasonOf } from '../requests/admin-queue.ts'
import { defineCard } from '../shared/define-card.ts'
import { format, strings } from '../shared/messages.ts'
import { cut, duration, longest, type Viewer } from '../shared/words.ts'

/** What is said above the inputs: whose place it is, who was found, or what was not understood. */
export interface ReassignRemark {
  readonly words: keyof typeof strings.reassign.remark
  readonly typed: string
}

/** The form by which an admin asks somebody else: what was typed with the command, or filled in before. */
export interface ReassignForm {
  readonly request: Request
  /** Why it needs somebody, where that is known. */
  readonly attention?: Attention | undefined
  /** Those whom the picker names, or among whom to choose. */
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
    ...aboutRequest,
    heading: z.enum(['ask', 'mistake', 'mistakes']),
    fallback: z.string(),
    why: z.string(),
    age: z.string(),
    remarks: z.array(z.strictObject({ text: z.string() })),
    /** Whether several have not decided, so that it has to be said in whose place. */
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

/** Who decides the request, and who is to do so instead. */
export function adminReassignView(form: ReassignForm, viewer: Viewer): Parameters<typeof adminReassignCard.render>[0] {
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
  const about = aboutRequestView(request, viewer)
  const name = cut(request.requester.displayName, longest.name)
  return {
    ...about,
    heading: faultCount > 1 ? 'mistakes' : faultCount === 1 ? 'mistake' : 'ask',
    fallback: format(strings.reassign.fallback, { reference: about.reference }),
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

/** Two people may have one name, so that their sign-in names are told too. */
const titled = ({ id, displayName, userPrincipalName }: Person) => ({
  title: `${cut(displayName, longest.name)} (${cut(userPrincipalName, longest.title)})`,
  value: id,
})
