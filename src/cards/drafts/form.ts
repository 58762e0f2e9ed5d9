import { isMailboxKind, type Template } from '../../core/index.ts'
import type { CardJson } from '../shared/literal.ts'
import { firstThatFits } from '../shared/render.ts'
import { longest } from '../shared/words.ts'
import { inputIds, requestFormView } from './form-view.ts'
import { mailboxPeople } from './mailbox-inputs.ts'
import type { RequestForm } from './request-form.ts'
import { ever, roomForAnswers, shortened } from './simplify-form.ts'

/** Ids of the inputs that a template's form shows; whatever else comes back with it was not asked for. */
export function formInputIds(template: Template): string[] {
  const { front, more } = inputIds(template)
  return [...front, ...more]
}

/** Ids of the inputs that hold people: object ids joined by commas. */
export const peopleInputIds = ({ kind, fields }: Pick<Template, 'kind' | 'fields'>): string[] => [
  ...(isMailboxKind(kind) ? mailboxPeople : ['owners']),
  ...fields.flatMap(({ type, key }) => (type === 'person' ? [`metadata.${key}`] : [])),
]

/**
 * The form of a template. The more it asks, the shorter answers may be; one that is too large for a message all the same
 * is drawn plainer, step by step: what it asks and what was answered stays.
 */
export function renderForm(form: RequestForm): CardJson {
  const empty = { ...form, draft: { ...form.draft, values: {} }, faults: [], people: [] }
  const view = shortened(requestFormView(form), roomForAnswers(requestFormView(empty)))
  return firstThatFits(ever(view, () => requestFormView(form, longest.address).lead))
}
