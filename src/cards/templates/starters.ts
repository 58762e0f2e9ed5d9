import { z } from 'zod'
import {
  type Fault,
  isMailboxKind,
  type Person,
  resourceKind,
  type StarterAnswers,
  type StarterKind,
  starterApprovals,
  starterKinds,
  starterOf,
  starters,
  type TemplateReport,
} from '../../core/index.ts'
import { choice, faultLine, faultsOfForm, formFaults, partsOf } from '../drafts/form-faults.ts'
import { chosenAmong } from '../drafts/form-input.ts'
import { inputLabels } from '../drafts/form-view.ts'
import { fact } from '../shared/facts.ts'
import { plain, toFix } from '../shared/look.ts'
import { format, strings } from '../shared/messages.ts'
import { defineCard, type ViewOf } from '../shared/render.ts'
import { cut, listOf, longest } from '../shared/texts.ts'
import { approvalFacts, limitFacts, nameFacts } from './template-policies.ts'

export const startersCard = defineCard({
  name: 'starters',
  data: z.strictObject({
    step: z.string(),
    starters: z.array(
      z.strictObject({
        starter: z.enum(starterKinds),
        name: z.string(),
        /** The title of a tap on the row. */
        pick: z.string(),
        description: z.string(),
      }),
    ),
  }),
})

/** The starters to choose from. */
export function startersView(): ViewOf<typeof startersCard> {
  return {
    step: format(strings.form.step, { step: 1 }),
    starters: starters.map(({ kind, icon }) => ({
      starter: kind,
      name: `${icon} ${strings.starter.of[kind].name}`,
      pick: format(strings.starter.pick, { name: strings.starter.of[kind].name }),
      description: strings.starter.of[kind].description,
    })),
  }
}

/** The inputs that show their own faults, in their order. The others are choices that every client sends unchanged. */
const inputIds = ['name', 'description', 'prefix', 'approvedBy', 'people', 'group'] as const
type InputId = (typeof inputIds)[number]
const lines = z.strictObject(Object.fromEntries(inputIds.map((id) => [id, faultLine])) as Record<InputId, z.ZodString>)

export const starterFormCard = defineCard({
  name: 'starter-form',
  data: z.strictObject({
    starter: z.enum(starterKinds),
    templateId: z.uuid(),
    ...formFaults,
    heading: z.string(),
    step: z.string(),
    kind: resourceKind,
    title: z.string(),
    lead: z.string(),
    ofMailbox: z.boolean(),
    /** Whether the form has an input for the size of the mailbox. */
    isSized: z.boolean(),
    values: z.strictObject({
      name: z.string(),
      description: z.string(),
      prefix: z.string(),
      approvedBy: z.enum(starterApprovals),
      people: z.string(),
      group: z.string(),
      owners: z.string(),
      capacity: z.string(),
    }),
    people: z.array(choice),
    faults: lines,
    /** The template as text; empty until the answers are valid. */
    preview: z.array(fact),
    isPreview: z.boolean(),
    notes: z.array(z.strictObject({ text: z.string() })),
    warning: z.string(),
  }),
})

/** The form of a starter: the answers so far, and the resulting template if they are valid. */
export interface StarterForm {
  readonly kind: StarterKind
  /** The id of the new template. */
  readonly id: string
  readonly answers: StarterAnswers
  readonly faults: readonly Fault[]
  /** The chosen people whose names the picker shows. */
  readonly people: readonly Person[]
  readonly report?: TemplateReport | undefined
}

export function starterFormView({
  kind: starter,
  id: templateId,
  answers,
  faults,
  people,
  report,
}: StarterForm): ViewOf<typeof starterFormCard> {
  const { creates, icon } = starterOf(starter)
  const { faultCount, fields, otherFaults, lineOf } = faultsOfForm(faults, {
    ids: inputIds,
    label: labelOf,
    inputOf: (fault) => partsOf(fault)[0] ?? '',
    resource: 'template',
  })
  const isWrong = faultCount > 0
  const chosen = answers.people.join(',')
  return {
    starter,
    templateId,
    look: isWrong ? toFix : plain,
    heading: isWrong ? format(strings.form.mistakes, { count: faultCount }) : strings.starter.band,
    step: format(strings.form.step, { step: report ? 3 : 2 }),
    otherFaults,
    kind: creates,
    title: `${icon} ${strings.starter.of[starter].name}`,
    lead: isWrong ? wrongLead(fields) : report ? strings.starter.previewLead : strings.starter.formLead,
    ofMailbox: isMailboxKind(creates),
    isSized: creates === 'sharedMailbox',
    values: { ...answers, people: chosen, owners: String(answers.owners), capacity: String(answers.capacity) },
    people: chosenAmong(people, chosen),
    faults: Object.fromEntries(inputIds.map((id) => [id, lineOf(id)])) as Record<InputId, string>,
    preview: report ? previewFacts(report) : [],
    isPreview: report !== undefined,
    notes: report && answers.approvedBy === 'manager' ? [{ text: strings.starter.noManager }] : [],
    warning: report && isUnprotected(report) ? strings.starter.unprotected : '',
  }
}

const wrongLead = (fields: string): string =>
  fields === '' ? strings.form.lead.kept : format(strings.form.lead.look, { fields })

function labelOf(id: string): string {
  const known = inputIds.find((input) => input === id)
  return known === undefined ? id : strings.starter.field[known].label
}

function previewFacts(report: TemplateReport) {
  const { template } = report
  const questions = {
    label: strings.catalogue.label.asked,
    value: cut(listOf(inputLabels(template), 'unit'), longest.text),
  }
  return [...nameFacts(report), ...approvalFacts(report), ...limitFacts({ template }), questions].map(
    ({ label, value }) => ({ label, value }),
  )
}

/** Whether requesters can get any free address without an approval. */
const isUnprotected = ({ template: { approval, naming } }: TemplateReport): boolean =>
  approval === null && naming.prefix === ''
