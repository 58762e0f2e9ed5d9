import { z } from 'zod'
import { isMailboxKind, type Template } from '../../core/index.ts'
import { type CardJson, firstThatFits, maxCharacters } from '../shared/render.ts'
import { cut, longest } from '../shared/texts.ts'
import { type FormInput, isPicker, limited, type RequestForm, saysPart } from './form-input.ts'
import { type FormView, inputIds, requestFormCard, requestFormView } from './form-view.ts'
import { mailboxPeople } from './mailbox-form.ts'

/** Ids of the inputs that a template's form shows. All other inputs of a click are ignored. */
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
 * Renders the form of a template. The more questions it has, the shorter the answers. A form that is still too large is
 * simplified step by step, without losing a question or an answer.
 */
export function renderForm(form: RequestForm): CardJson {
  const empty = { ...form, draft: { ...form.draft, values: {} }, faults: [], people: [] }
  const view = shortened(requestFormView(form), roomForAnswers(requestFormView(empty)))
  return firstThatFits(ever(view, () => requestFormView(form, longest.address).lead))
}

/** Characters that a returned form needs in addition to questions and answers: a few mistakes, and the ids of twenty people. */
const reserve = 1650

/** The length of all typed answers together, in characters, with which the form still fits when it comes back. */
const roomForAnswers = (empty: FormView): number =>
  maxCharacters - reserve - JSON.stringify(bare(requestFormCard.render(plainest(empty)))).length

/** The least length of an answer, in characters. A name may be as long as an address. */
const least = (input: FormInput): number => {
  const isName = ['displayName', 'name', 'alias'].includes(input.id)
  return Math.min(input.maxLength, isName ? 64 : 40)
}

/** Limits the length of all answers to the room for them. */
export function shortened(view: FormView, room: number): FormView {
  const inputs = view.sections.flatMap((section) => section.inputs)
  const sum = (lengths: readonly number[]): number => lengths.reduce((all, length) => all + length, 0)
  const all = sum(inputs.map(({ maxLength }) => maxLength))
  const needed = sum(inputs.map(least))
  if (all <= room || all === needed) return view
  const share = Math.max(0, (room - needed) / (all - needed))
  return each(view, (input) => {
    const most = least(input) + Math.floor((input.maxLength - least(input)) * share)
    return limited(input, most)
  })
}

/**
 * The form in simpler and simpler versions: without help, then names of people, then most texts of mistakes, then fallbacks.
 * `shortLead`: the sentence above the inputs with fewer of their names.
 */
export function ever(view: FormView, shortLead: () => string): (() => CardJson)[] {
  const draw = (one: FormView) => requestFormCard.render(one)
  const helpless = withoutHelp(view, saysPart)
  const nameless = withPeople(helpless, () => '')
  return [
    () => draw(view),
    () => unwrapped(draw(helpless)),
    () => unwrapped(draw(withPeople(helpless, (name) => cut(name, 12)))),
    () => unwrapped(draw(nameless)),
    () => unwrapped(draw(withFaults({ ...nameless, lead: shortLead() }, 8))),
    () => bare(draw(withFaults({ ...plainest(view), lead: shortLead() }, 2))),
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

/** Removes help and examples, except the lines that `isKept` accepts. */
const withoutHelp = (view: FormView, isKept: typeof saysPart = () => false): FormView =>
  each(view, (one) => ({
    ...one,
    help: one.checks || one.joins ? one.help : one.help.filter(isKept),
    placeholder: '',
  }))

/** Replaces people's names by `named`; people without a name are left out. */
const withPeople = (view: FormView, named: (name: string) => string): FormView =>
  each(view, (one) => {
    if (!isPicker(one)) return one
    const choices = one.choices.map(({ title, value }) => ({ title: named(title), value }))
    const shown = choices.filter(({ title }) => title !== '')
    return { ...one, choices: shown, ...(shown.length === 0 && { chosen: '' }) }
  })

/** Explains only the first `most` mistakes; the band counts them all. */
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

/** Removes containers around one input that only add spacing: labels have it too. */
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

/** Removes fallbacks for old clients, and members that have their default value. */
function bare(card: CardJson): CardJson {
  return JSON.parse(JSON.stringify(unwrapped(card)), (name, value: unknown) => {
    const isUsual = name === 'isVisible' && value === true
    return name === 'fallback' || name === '$schema' || isUsual ? undefined : value
  })
}
