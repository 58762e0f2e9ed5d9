import { z } from 'zod'
import {
  inLocale,
  type MailboxDetails,
  type MailboxKind,
  type Person,
  type SiteDetails,
  type SiteKind,
  type TemplateSnapshot,
} from '../../core/index.ts'
import { cut, longest, type Viewer } from './texts.ts'

/**
 * A request, a plan or a report with its template's texts in the viewer's language. Each view begins with it. The stored
 * template has all languages, so that a requester and an approver each read their own.
 */
export const readBy = <T extends { readonly template: TemplateSnapshot }>(
  of: T,
  { locale }: Pick<Viewer, 'locale'>,
): T => ({
  ...of,
  template: inLocale(of.template, locale),
})

/** Label and value of one line. An admin can write labels, so both are shown as plain text and never as markdown. */
export const fact = z.strictObject({ label: z.string(), value: z.string() })
/** `whole`: the full text of a cut value, for cards with room. */
export type Fact = z.output<typeof fact> & { readonly whole?: string }

interface Common {
  readonly template: Pick<TemplateSnapshot, 'fields' | 'labels'>
  readonly reason: string
}
/** The site of a request or a plan. */
interface DescribedSite extends Common {
  readonly kind: SiteKind
  readonly details: SiteDetails
  readonly owners: readonly Person[]
  readonly people?: readonly Person[] | undefined
}
/** The mailbox of a request or a plan. */
export interface DescribedMailbox extends Common {
  readonly kind: MailboxKind
  readonly details: MailboxDetails
  readonly people: readonly Person[]
  readonly aliasAddress: string
}
export type Described = DescribedSite | DescribedMailbox

/** The name of the sensitivity label; its id when the template no longer knows it; `''` without one. */
export function labelName({ template, details }: Pick<DescribedSite, 'template' | 'details'>): string {
  return template.labels.allowed.find(({ id }) => id === details.labelId)?.name ?? details.labelId
}

/** A fact with its value cut; nothing if the value is empty. */
export const described = (label: string, value: string, most: number = longest.text): Fact[] =>
  value.trim() === ''
    ? []
    : [{ label, value: cut(value, most), ...(value.length > most && { whole: cut(value, longest.whole) }) }]

export const asCut = ({ label, value }: Fact): z.output<typeof fact> => ({ label, value })

/** The longest list of people on one line, in characters. */
export const maxOfPeople = 400

/** The room for facts on a card and the cost of one in addition to its text, in code units: the card must stay under 25 kB. */
export const room = 4800
const costOfFact = 330

/**
 * Returns as many facts as the card has room for, and the number of the others. Uncuts long facts from the index `whole`
 * on, in their order, while there is room.
 */
export function fitting(
  facts: readonly Fact[],
  whole = 0,
  most = room,
  cost = costOfFact,
): { shown: z.output<typeof fact>[]; hidden: number } {
  let left = most
  const kept: Fact[] = []
  for (const one of facts) {
    left -= cost + JSON.stringify([one.label, one.value]).length
    if (left < 0) break
    kept.push(one)
  }
  const shown = kept.map((one, index) => {
    const more = JSON.stringify(one.whole ?? '').length - JSON.stringify(one.value).length
    if (one.whole === undefined || index < whole || more > left) return asCut(one)
    left -= more
    return { label: one.label, value: one.whole }
  })
  return { shown, hidden: facts.length - kept.length }
}
