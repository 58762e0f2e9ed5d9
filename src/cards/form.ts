import { isMailboxKind, type Template } from '../core/index.ts'
import { mailboxFormCard, mailboxFormView, mailboxInputIds, plainerMailboxForms } from './mailbox-form.ts'
import { mailboxPeople } from './mailbox-inputs.ts'
import { type CardJson, fits } from './render.ts'
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
    return firstThatFits([view, ...plainerMailboxForms(view)].map((one) => () => mailboxFormCard.render(one)))
  }
  const view = siteFormView(form)
  return firstThatFits([view, plainSiteForm(view)].map((one) => () => siteFormCard.render(one)))
}

function firstThatFits([first, ...plainer]: readonly (() => CardJson)[]): CardJson {
  if (!first) throw new Error('a form has at least one form')
  const card = first()
  return plainer.length === 0 || fits(card) ? card : firstThatFits(plainer)
}
