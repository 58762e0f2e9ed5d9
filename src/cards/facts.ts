import { z } from 'zod'
import type { Person, SiteDetails, TemplateSnapshot } from '../core/index.ts'
import { strings } from './strings.ts'
import { cut, longest, peopleList } from './words.ts'

/** Label and value of one line. Labels may be an admin's words, so both are shown as text and never as markdown. */
export const fact = z.strictObject({ label: z.string(), value: z.string() })
export type Fact = z.output<typeof fact>

/** What a request or a draft says of its site. */
export interface Described {
  readonly template: Pick<TemplateSnapshot, 'fields' | 'labels'>
  readonly details: SiteDetails
  readonly owners: readonly Person[]
  readonly reason: string
}

/** The name of the sensitivity label; its id when the template no longer knows it; `''` without one. */
export function labelName({ template, details }: Pick<Described, 'template' | 'details'>): string {
  return template.labels.allowed.find(({ id }) => id === details.labelId)?.name ?? details.labelId
}

const described = (label: string, value: string, most: number = longest.text): Fact[] =>
  value.trim() === '' ? [] : [{ label, value: cut(value, most) }]

export const description = ({ details }: Described, most?: number): Fact[] =>
  described(strings.field.description, details.description, most)
export const owners = ({ owners }: Described): Fact[] => described(strings.field.owners, peopleList(owners, 'and'), 400)
export const label = (of: Described): Fact[] => described(strings.field.labelId, labelName(of))
export const reason = ({ reason }: Described, most?: number): Fact[] => described(strings.field.reason, reason, most)

/** The template's own fields in their order, then what a REST client sent besides. */
export function extras({ template, details }: Described): Fact[] {
  const { fields } = template
  const asked = fields.flatMap(({ key, label, choices }) => {
    const value = Object.hasOwn(details.metadata, key) ? String(details.metadata[key]) : ''
    return described(label, choices.find((choice) => choice.value === value)?.title ?? value)
  })
  const others = Object.entries(details.metadata).filter(([key]) => !fields.some((field) => field.key === key))
  return [...asked, ...others.flatMap(([key, value]) => described(key, String(value)))]
}

/** Code units that facts may take on a card, and what one costs beside its words: the card must stay under 25 kB. */
const room = 4800
const costOfFact = 330

/** As many facts as the card has room for, and how many are left out. */
export function fitting(facts: readonly Fact[]): { shown: Fact[]; hidden: number } {
  let left = room
  const shown: Fact[] = []
  for (const one of facts) {
    left -= costOfFact + JSON.stringify([one.label, one.value]).length
    if (left < 0) break
    shown.push(one)
  }
  return { shown, hidden: facts.length - shown.length }
}
