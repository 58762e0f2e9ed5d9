import { type ResourceKind, resourceKinds } from '../../src/core/index.ts'
import { templateField } from '../../src/core/templates/field.ts'
import { formSize, largestForm } from '../../src/core/templates/template-faults.ts'
import { people } from '../support/teams-user.ts'

const languages = ['de', 'fr', 'es'] as const
/** The maximum number of questions of a template. */
const questions = 20
const sentence = 'Read the policy of your department before you answer this question, or ask your manager. '
const choicesOf = (count: number, tag: string) =>
  Array.from({ length: count }, (_, place) => ({ title: `Choice ${place + 1} ${tag}`.trim(), value: `c${place + 1}` }))

/** A question of each type in turn; every second one is a choice. */
function question(place: number, choices: number) {
  const texts = { key: `question${place}`, label: `Question ${place}`, help: sentence, placeholder: 'For example 4711' }
  const others = ['text', 'number', 'date', 'person', 'toggle'] as const
  const type = place % 2 === 0 ? 'choice' : (others[Math.floor(place / 2) % others.length] ?? 'text')
  return {
    ...{ ...texts, type, error: sentence, choices: type === 'choice' ? choicesOf(choices, '') : [] },
    ...(type === 'text' && { pattern: '[0-9]{4}' }),
  }
}

function translation(tag: string, fields: readonly ReturnType<typeof question>[]) {
  const textsOf = ({ key, label, help, placeholder, error, choices }: (typeof fields)[number]) => {
    const titles = Object.fromEntries(choicesOf(choices.length, tag).map(({ title, value }) => [value, title]))
    return [key, { label: `${label} ${tag}`, help, placeholder, error, choices: titles }] as const
  }
  return { name: `Full size ${tag}`, description: sentence, fields: Object.fromEntries(fields.map(textsOf)) }
}

/** Returns the id of the template with this place, from 0. */
export const idOfFull = (place: number): string => `77777777-7777-4777-8777-${String(place).padStart(12, '0')}`

const questionsWith = (choices: number) => Array.from({ length: questions }, (_, place) => question(place + 1, choices))

/** Returns the maximum number of choices with which the form fits into a card in each language. */
function mostChoices(kind: ResourceKind): number {
  const translated = (choices: number) =>
    questionsWith(choices).map((one) => ({
      ...{ ...one, label: `${one.label} de` },
      choices: choicesOf(one.choices.length, 'de'),
    }))
  const sizeWith = (choices: number): number => {
    const fields = templateField.array().parse(translated(choices))
    return formSize({ kind, fields, properties: {}, labels: { allowed: [], default: null } })
  }
  let most = 1
  while (sizeWith(most + 1) <= largestForm) most += 1
  return most
}

/**
 * Returns templates of all kinds in turn, in four languages, with the maximum number of questions and as many choices as
 * the form has room for.
 */
export function fullTemplates(count: number): object[] {
  const fieldsOf = new Map(resourceKinds.map((kind) => [kind, questionsWith(mostChoices(kind))]))
  return Array.from({ length: count }, (_, place) => {
    const kind = resourceKinds[place % resourceKinds.length] ?? 'teamSite'
    const fields = fieldsOf.get(kind) ?? []
    return {
      ...{ id: idOfFull(place), version: 1, kind, name: `Full size ${place}`, description: sentence, order: place },
      fields,
      localised: Object.fromEntries(languages.map((tag) => [tag, translation(tag, fields)])),
      approval: { stages: [people.dana, people.omar, people.sam].map(({ id }) => ({ approvers: [{ user: id }] })) },
    }
  })
}
