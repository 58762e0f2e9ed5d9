import { z } from 'zod'
import { isMailboxKind, type Template } from '../../core/index.ts'
import { strings } from '../shared/messages.ts'
import { type CardJson, firstThatFits, mostCharacters } from '../shared/render.ts'
import { cut, longest } from '../shared/texts.ts'
import { type FormInput, isPicker, type RequestForm } from './form-input.ts'
import { type FormView, inputIds, requestFormCard, requestFormView } from './form-view.ts'
import { mailboxPeople } from './mailbox-form.ts'

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

/** What a returned form needs beside questions and answers, in characters: a few mistakes, and twenty people's ids. */
const reserve = 1650

/** How long all answers that are typed may be together, in characters, so that the form can come back with them. */
const roomForAnswers = (empty: FormView): number =>
  mostCharacters - reserve - JSON.stringify(bare(requestFormCard.render(plainest(empty)))).length

/** No answer is made shorter than this many characters, nor a name shorter than an address may be. */
const least = (input: FormInput): number => {
  const isName = ['displayName', 'name', 'alias'].includes(input.id)
  return Math.min(input.maxLength, isName ? 64 : 40)
}

/** The form with its answers as long as there is room for all of them. */
export function shortened(view: FormView, room: number): FormView {
  const inputs = view.sections.flatMap((section) => section.inputs)
  const sum = (lengths: readonly number[]): number => lengths.reduce((all, length) => all + length, 0)
  const all = sum(inputs.map(({ maxLength }) => maxLength))
  const needed = sum(inputs.map(least))
  if (all <= room || all === needed) return view
  const share = Math.max(0, (room - needed) / (all - needed))
  return each(view, (input) => {
    const { maxLength, value } = input
    const most = least(input) + Math.floor((maxLength - least(input)) * share)
    return { ...input, maxLength: most, value: typeof value === 'string' && maxLength > 0 ? cut(value, most) : value }
  })
}

/**
 * The form ever plainer: what helps goes first, then names of people, words for mistakes after the first ones, fallbacks.
 * `shortLead`: the sentence above the inputs with fewer of their names.
 */
export function ever(view: FormView, shortLead: () => string): (() => CardJson)[] {
  const draw = (one: FormView) => requestFormCard.render(one)
  const helpless = withoutHelp(view)
  const nameless = withPeople(helpless, () => '')
  return [
    () => draw(view),
    () => unwrapped(draw(helpless)),
    () => unwrapped(draw(withPeople(helpless, (name) => cut(name, 12)))),
    () => unwrapped(draw(nameless)),
    () => unwrapped(draw(withFaults({ ...nameless, lead: shortLead() }, 8))),
    () => bare(draw(withFaults({ ...nameless, lead: shortLead() }, 2))),
  ]
}

const plainest = (view: FormView): FormView =>
  withFaults(
    withPeople(withoutHelp(view), () => ''),
    2,
  )

const each = (view: FormView, change: (one: FormInput) => FormInput): FormView => ({
  ...view,
  sections: view.sections.map((section) => ({ ...section, inputs: section.inputs.map(change) })),
})

/** Without help, examples and a template's own words for mistakes, which are told when there is one. */
const withoutHelp = (view: FormView): FormView =>
  each(view, (one) => ({
    ...one,
    help: one.checks ? one.help : [],
    placeholder: '',
    error: one.error === '' || one.error.length <= 40 ? one.error : strings.form.fillIn,
  }))

/** With people's names as `named` has them; those without a name are left out. */
const withPeople = (view: FormView, named: (name: string) => string): FormView =>
  each(view, (one) => {
    if (!isPicker(one)) return one
    const choices = one.choices.map(({ title, value }) => ({ title: named(title), value }))
    return { ...one, choices: choices.filter(({ title }) => title !== '') }
  })

/** With words for the first mistakes only; the band counts them all. */
function withFaults(view: FormView, most: number): FormView {
  let count = 0
  const short = {
    ...view,
    otherFaults: view.otherFaults.slice(0, most),
  }
  return each(short, (one) => {
    if (one.fault === '') return one
    count += 1
    return count <= most ? one : { ...one, fault: '' }
  })
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

/** The same without what only clients need that know no newer buttons, and without what is so in any case. */
function bare(card: CardJson): CardJson {
  return JSON.parse(JSON.stringify(unwrapped(card)), (name, value: unknown) => {
    const isUsual = name === 'isVisible' && value === true
    return name === 'fallback' || name === '$schema' || isUsual ? undefined : value
  })
}
