import { z } from 'zod'
import { mostCounted, resourceKind, type TemplateInUse, type TemplatePage } from '../../core/index.ts'
import { rowsOfPage } from '../requests/lists.ts'
import { defineCard } from '../shared/define-card.ts'
import { rowLook, rowLooks } from '../shared/look.ts'
import { format, strings } from '../shared/messages.ts'
import { cut, listOf, longest, quantity } from '../shared/words.ts'

/** What a tapped row does: show it, or ask before it is switched. */
const templateUses = ['show', 'enable', 'disable'] as const
export type TemplateUse = (typeof templateUses)[number]

export const adminTemplatesCard = defineCard({
  name: 'admin-templates',
  data: z.strictObject({
    /** Whether it lists all there are, asks which of several was meant, or offers what is spelt most like it. */
    asks: z.enum(['all', 'which', 'near']),
    /** What is said of what was typed, where it asks; else `''`. */
    lead: z.string(),
    does: z.enum(templateUses),
    /** Which of how many it shows; `''` where it asks and shows all. */
    range: z.string(),
    /** Where the pages beside this one begin, and whether there are any. */
    previous: z.int(),
    hasPrevious: z.boolean(),
    next: z.int(),
    hasNext: z.boolean(),
    templates: z
      .array(
        z.strictObject({
          templateId: z.uuid(),
          /** What a tap does. */
          pick: z.string(),
          /** With its sign, if it has one. */
          name: z.string(),
          kind: resourceKind,
          state: z.enum(['on', 'off']),
          look: rowLook,
          edition: z.string(),
          /** Who may use it and how it is approved. */
          policy: z.string(),
          /** How much it is used. */
          use: z.string(),
        }),
      )
      .min(1),
  }),
})

/** Which templates a list is of, and why. */
export interface TemplateList extends TemplatePage {
  readonly asks?: { readonly typed: string; readonly found: boolean; readonly does: TemplateUse }
}

export function adminTemplatesView(list: TemplateList): Parameters<typeof adminTemplatesCard.render>[0] {
  const { entries, from, total, asks } = list
  const to = from + entries.length
  const words = strings.catalogue
  const does = asks?.does ?? 'show'
  const isWhole = asks !== undefined && total <= to
  return {
    asks: asks === undefined ? 'all' : asks.found ? 'which' : 'near',
    lead: asks ? format(asks.found ? words.which : words.near, { typed: cut(asks.typed, longest.name) }) : '',
    does,
    range: isWhole ? '' : format(strings.list.shows.range, { from: from + 1, to, total }),
    previous: Math.max(0, from - rowsOfPage),
    hasPrevious: from > 0,
    next: to,
    hasNext: asks === undefined && to < total,
    templates: entries.map((entry) => rowOf(entry, does)),
  }
}

function rowOf(entry: TemplateInUse, does: TemplateUse) {
  const { template } = entry
  const name = signed(template, longest.name)
  const look = template.active ? rowLooks.done : rowLooks.ended
  return {
    templateId: template.id,
    pick: format(strings.catalogue.pick[does], { name }),
    name,
    kind: template.kind,
    state: template.active ? ('on' as const) : ('off' as const),
    look: rowLook.parse({ mark: look.mark, color: look.color, now: false, later: false }),
    edition: format(strings.catalogue.version, { version: template.version }),
    policy: listOf([audienceOf(entry), approvalOf(entry)], 'unit'),
    use: useOf(entry),
  }
}

/** Its name behind its sign. */
export const signed = ({ icon, name }: { icon: string; name: string }, most: number): string =>
  icon === '' ? cut(name, most) : `${icon} ${cut(name, most)}`

function audienceOf({ template: { audience } }: TemplateInUse): string {
  const words = strings.catalogue
  if (audience === null) return words.everybody
  const { groups, people } = audience
  const parts = [
    groups.length === 0 ? '' : format(words.groups, { count: groups.length }),
    people.length === 0 ? '' : format(words.persons, { count: people.length }),
  ].filter((part) => part !== '')
  return parts.length === 0 ? words.nobody : listOf(parts, 'and')
}

function approvalOf({ template: { approval } }: TemplateInUse): string {
  const words = strings.catalogue
  return approval === null ? words.noApproval : format(words.stages, { count: approval.stages.length })
}

/** Open requests, and what was made, of as much as may be: "2 open, 12 of 50 made". */
export function useOf({ template: { quota }, open, resources }: TemplateInUse): string {
  const words = strings.catalogue
  const most = Math.max(mostCounted, quota.resources ?? 0)
  const upTo = (count: number, end: number) =>
    count >= end ? format(words.orMore, { count: quantity(end) }) : quantity(count)
  const made =
    quota.resources === undefined
      ? format(words.made, { count: upTo(resources, most) })
      : format(words.madeOf, { count: quantity(Math.min(resources, most)), most: quantity(quota.resources) })
  return listOf([format(words.open, { count: upTo(open, mostCounted) }), made], 'unit')
}
