import { z } from 'zod'
import { isMailboxKind, type Template } from '../core/index.ts'
import { mailboxFormCard, mailboxFormView, mailboxInputIds, plainerMailboxForms } from './mailbox-form.ts'
import { mailboxPeople } from './mailbox-inputs.ts'
import { type CardJson, firstThatFits } from './render.ts'
import type { RequestForm } from './request-form.ts'
import { plainSiteForm, siteFormCard, siteFormView, siteInputIds } from './site-form.ts'

/** Ids of the inputs that a template's form shows; whatever else comes back with it was not asked for. */
export const formInputIds = (template: Pick<Template, 'kind' | 'fields' | 'labels'>): string[] =>
  isMailboxKind(template.kind) ? mailboxInputIds(template.kind, template.fields) : siteInputIds(template)

/** Ids of the inputs that hold people: object ids joined by commas. */
export const peopleInputIds = ({ kind }: Pick<Template, 'kind'>): string[] =>
  isMailboxKind(kind) ? [...mailboxPeople] : ['owners']

/**
 * The form of a template. One that is too large for a message is drawn plainer, step by step: what it asks and what was
 * answered stays.
 */
export function renderForm(form: RequestForm): CardJson {
  if (isMailboxKind(form.template.kind)) {
    const view = mailboxFormView(form)
    const drawn = (one: typeof view) => () => mailboxFormCard.render(one)
    const plainer = plainerMailboxForms(view).map((one) => () => unwrapped(drawn(one)()))
    return firstThatFits([drawn(view), ...plainer])
  }
  const view = siteFormView(form)
  return firstThatFits([view, plainSiteForm(view)].map((one) => () => siteFormCard.render(one)))
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
