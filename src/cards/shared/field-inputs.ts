import type { Template, TemplateField } from '../../core/index.ts'
import type { RequestForm } from '../drafts/request-form.ts'
import { chosenAmong, type FormInput, inputOf } from './form-input.ts'
import { strings } from './messages.ts'

/** The inputs of a template's own questions, in their order. */
export function fieldInputs(form: RequestForm, most: number, faultOf: (id: string) => string): FormInput[] {
  const { draft, template, people, today } = form
  return template.fields.map((field) => {
    const { key, type, label, help, placeholder, required, choices, minimum, maximum, error } = field
    const id = `metadata.${key}`
    const value = draft.values[id] ?? ''
    const bound = (limit: TemplateField['minimum']) => (limit === 'today' ? today : (limit ?? ''))
    const isChecked = required || regexOf(field) !== '' || minimum !== undefined || maximum !== undefined
    return inputOf({
      id,
      type,
      label,
      placeholder: placeholderOf(type, placeholder),
      required,
      error: isChecked ? error || errorOf(type) : '',
      regex: regexOf(field),
      minimum: bound(minimum),
      maximum: bound(maximum),
      maxLength: most,
      value: type === 'toggle' ? String(value === 'true') : value,
      choices: type === 'person' ? chosenAmong(people, value) : choices,
      fault: faultOf(id),
      help: [help],
    })
  })
}

/** The more questions for text a template has, the shorter their answers may be in chat: a card holds only so much. */
export const answerLength = (
  { fields }: Pick<Template, 'fields'>,
  least: number,
  most: number,
  all: number,
): number => {
  const texts = fields.filter(({ type }) => type === 'text').length
  return Math.min(most, Math.max(least, Math.floor(all / Math.max(1, texts))))
}

function placeholderOf(type: TemplateField['type'], own: string): string {
  if (type === 'choice') return strings.form.choosePlaceholder
  return type === 'person' ? own || strings.site.owners.placeholder : own
}

const errorOf = (type: TemplateField['type']): string =>
  ({
    text: strings.form.fillIn,
    number: strings.form.giveNumber,
    date: strings.form.chooseDay,
    toggle: strings.form.tick,
    choice: strings.form.choose,
    person: strings.form.choosePerson,
  })[type]

/**
 * A pattern for clients, which know no flag `u` and differ from each other in the rarer signs: only what all of them read
 * as the server does. Blanks around an answer are taken away before it is checked.
 */
function regexOf({ type, pattern }: TemplateField): string {
  if (type !== 'text' || pattern === undefined || pattern === '') return ''
  const isPlain = /^(?:\\[dws.\\/()[\]{}*+?^$|-]|\[(?:\\[dws.\\/()[\]{}*+?^$|-]|[^\\[\]&])+\]|[^\\[\]])*$/.test(pattern)
  const isKnown = !/\(\?(?!:)|[^ -~\u00a0-\ud7ff]/.test(pattern)
  return isPlain && isKnown ? `^\\s*(?:${pattern})\\s*$` : ''
}
