import { z } from 'zod'
import { isMailboxKind, type Template } from '../core/index.ts'
import { type FormInput, isPicker } from './form-input.ts'
import { type FormView, inputIds, requestFormCard, requestFormView } from './form-view.ts'
import { mailboxPeople } from './mailbox-inputs.ts'
import { type CardJson, firstThatFits } from './render.ts'
import type { RequestForm } from './request-form.ts'
import { cut } from './words.ts'

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
 * The form of a template. One that is too large for a message is drawn plainer, step by step: what it asks and what was
 * answered stays.
 */
export function renderForm(form: RequestForm): CardJson {
  const view = requestFormView(form)
  const drawn = (one: FormView) => () => requestFormCard.render(one)
  return firstThatFits([drawn(view), ...plainerForms(view).map((one) => () => unwrapped(drawn(one)()))])
}

/** The form ever plainer: without help and examples; with short names of people; without their names. */
function plainerForms(view: FormView): FormView[] {
  const each = (of: FormView, change: (one: FormInput) => FormInput): FormView => ({
    ...of,
    sections: of.sections.map((section) => ({ ...section, inputs: section.inputs.map(change) })),
  })
  const withoutHelp = each(view, (one) => ({ ...one, help: one.checks ? one.help : [], placeholder: '' }))
  const shortNames = each(withoutHelp, (one) =>
    isPicker(one)
      ? { ...one, choices: one.choices.map(({ title, value }) => ({ title: cut(title, 12), value })) }
      : one,
  )
  return [withoutHelp, shortNames, each(shortNames, (one) => (isPicker(one) ? { ...one, choices: [] } : one))]
}

/** The same card without containers that hold one thing and do nothing for it but keep a distance: labels do, too. */
function unwrapped(card: CardJson): CardJson {
  return JSON.parse(JSON.stringify(card), (_, value: unknown) => {
    const box = wrapper.safeParse(value)
    if (!box.success) return value
    const { items, spacing } = box.data
    return spacing === 'Medium' ? items[0] : { ...items[0], spacing }
  })
}
const wrapper = z.strictObject({
  type: z.literal('Container'),
  spacing: z.string(),
  items: z.tuple([z.looseObject({ type: z.string().startsWith('Input.') })]),
})
