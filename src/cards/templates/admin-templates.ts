import { z } from 'zod'
import {
  maxCounted,
  type ResourceKind,
  resourceKind,
  type TemplateEdit,
  type TemplateInUse,
  type TemplatePage,
  type TemplateReport,
} from '../../core/index.ts'
import { rowsOfPage } from '../requests/lists.ts'
import { fact, fitting, readBy } from '../shared/facts.ts'
import { look, looks, marks, plain, rowLook, toKnow } from '../shared/look.ts'
import { format, restText, strings } from '../shared/messages.ts'
import { paged, pagesAround, rangeOf } from '../shared/paging.ts'
import { defineCard, type ViewOf } from '../shared/render.ts'
import { capitalized, cut, listOf, longest, moment, quantity, shortName, unlike, type Viewer } from '../shared/texts.ts'
import {
  approvalFacts,
  limitFacts,
  nameFacts,
  propertyFacts,
  questionFacts,
  useFacts,
  webhookFacts,
} from './template-policies.ts'

/** The verb of a tap on a row: shows the template, or asks to confirm enabling or disabling it. */
const templateUses = ['show', 'enable', 'disable'] as const
export type TemplateUse = (typeof templateUses)[number]

export const adminTemplatesCard = defineCard({
  name: 'admin-templates',
  data: z.strictObject({
    /** Whether the card lists all templates, lists several matches of a name, or offers similar names. */
    asks: z.enum(['all', 'which', 'near']),
    /** The sentence about the typed name, if the card asks; else `''`. */
    lead: z.string(),
    does: z.enum(templateUses),
    ...paged,
    templates: z
      .array(
        z.strictObject({
          templateId: z.uuid(),
          /** The title of a tap on the row. */
          pick: z.string(),
          name: z.string(),
          kind: resourceKind,
          state: z.enum(['on', 'off']),
          look: rowLook,
          edition: z.string(),
          policy: z.string(),
          use: z.string(),
        }),
      )
      .min(1),
  }),
})

/** The templates of a list, and what the admin typed for it. */
export interface TemplateList extends TemplatePage {
  readonly asks?: { readonly typed: string; readonly found: boolean; readonly does: TemplateUse }
}

export function adminTemplatesView(list: TemplateList, viewer: Viewer): ViewOf<typeof adminTemplatesCard> {
  const { entries, from, total, asks } = list
  const to = from + entries.length
  const texts = strings.catalogue
  const does = asks?.does ?? 'show'
  const isWhole = asks !== undefined && total <= to
  return {
    asks: asks === undefined ? 'all' : asks.found ? 'which' : 'near',
    lead: asks ? format(asks.found ? texts.which : texts.near, { typed: cut(asks.typed, longest.name) }) : '',
    does,
    ...pagesAround(from, entries.length, total, rowsOfPage),
    range: isWhole ? '' : rangeOf(from + 1, to, total),
    hasNext: asks === undefined && to < total,
    templates: entries.map((entry) => rowOf(readBy(entry, viewer), does)),
  }
}

function rowOf(entry: TemplateInUse, does: TemplateUse) {
  const { template } = entry
  const name = signed(template, longest.name)
  return {
    templateId: template.id,
    pick: format(strings.catalogue.pick[does], { name }),
    name,
    kind: template.kind,
    state: template.active ? ('on' as const) : ('off' as const),
    look: template.active ? marks.good : marks.ended,
    edition: format(strings.catalogue.version, { version: template.version }),
    policy: capitalized(unlike([audienceOf(entry), approvalOf(entry)])),
    use: useOf(entry),
  }
}

/** The name of a template with its icon. */
export const signed = ({ icon, name }: { icon: string; name: string }, most: number): string =>
  icon === '' ? cut(name, most) : `${icon} ${cut(name, most)}`

function audienceOf({ template: { audience } }: TemplateInUse): string {
  const texts = strings.catalogue
  if (audience === null) return texts.everybody
  const { groups, people } = audience
  const parts = [
    groups.length === 0 ? '' : format(texts.groups, { count: groups.length }),
    people.length === 0 ? '' : format(texts.persons, { count: people.length }),
  ].filter((part) => part !== '')
  return parts.length === 0 ? texts.nobody : listOf(parts, 'and')
}

function approvalOf({ template: { approval } }: TemplateInUse): string {
  const texts = strings.catalogue
  return approval === null ? texts.noApproval : format(texts.stages, { count: approval.stages.length })
}

/** The number of open requests, and of resources created or being created, with the quota. */
function useOf({ template: { quota }, open, resources }: TemplateInUse): string {
  const texts = strings.catalogue
  const most = Math.max(maxCounted, quota.resources ?? 0)
  const upTo = (count: number, end: number) =>
    count >= end ? format(texts.orMore, { count: quantity(end) }) : quantity(count)
  const made =
    quota.resources === undefined
      ? format(texts.made, { count: upTo(resources, most) })
      : format(texts.madeOf, { count: quantity(Math.min(resources, most)), most: quantity(quota.resources) })
  return capitalized(unlike([format(texts.open, { count: upTo(open, maxCounted) }), made]))
}

const sections = ['use', 'questions', 'properties', 'names', 'limits', 'approvals', 'webhook'] as const

export const adminTemplateCard = defineCard({
  name: 'admin-template',
  data: z.strictObject({
    templateId: z.uuid(),
    version: z.int(),
    edition: z.string(),
    name: z.string(),
    kind: resourceKind,
    description: z.string(),
    look,
    state: z.enum(['on', 'off']),
    /** The action to confirm; `''` if the card shows the template. */
    asks: z.enum(['', 'enable', 'disable']),
    /** Whether the template has changed since the clicked card. */
    isChanged: z.boolean(),
    /** The result of the click, or `''`. */
    news: z.string(),
    /** The command that opens a form of a template that was just added; else `''`. */
    tries: z.string(),
    use: z.string(),
    sections: z.array(z.strictObject({ section: z.enum(sections), facts: z.array(fact).min(1) })),
    /** How many more facts there are, or `''`. */
    hidden: z.string(),
    edits: z.array(z.strictObject({ text: z.string(), changed: z.string() })),
    hasEdits: z.boolean(),
  }),
})

/**
 * The cost of a fact in addition to its text, and the room for facts, in code units. Each fact is one line, because there
 * are many.
 */
const costOfLine = 140
const room = 8000

interface TemplateQuestion {
  readonly asks?: 'enable' | 'disable'
  readonly isChanged?: boolean
  /** Whether the template was added now or earlier. */
  readonly news?: keyof typeof strings.catalogue.news
}

/** The command that requests a kind of resource. */
const requestedBy = {
  teamSite: 'newSite',
  communicationSite: 'newSite',
  sharedMailbox: 'newSharedMailbox',
  roomMailbox: 'newRoom',
  equipmentMailbox: 'newEquipment',
} as const satisfies Record<ResourceKind, keyof typeof strings.help.command>

/** The settings of a template as text; or the question whether to enable or disable it. */
export function adminTemplateView(
  report: TemplateReport,
  viewer: Viewer,
  { asks, isChanged = false, news }: TemplateQuestion = {},
): ViewOf<typeof adminTemplateCard> {
  const read = readBy(report, viewer)
  const { template, edits } = read
  const facts = {
    use: useFacts(read),
    questions: questionFacts(read),
    properties: propertyFacts(read),
    names: nameFacts(read),
    limits: limitFacts(read),
    approvals: approvalFacts(read),
    webhook: webhookFacts(read),
  }
  const all = sections.flatMap((section) => facts[section].map((one) => ({ section, one })))
  const { shown, hidden } = fitting(
    all.map(({ one }) => one),
    all.length,
    asks === undefined ? room : 0,
    costOfLine,
  )
  const shownIn = (section: (typeof sections)[number]) => shown.filter((_, index) => all[index]?.section === section)
  return {
    templateId: template.id,
    version: template.version,
    edition: format(strings.catalogue.version, { version: template.version }),
    name: signed(template, longest.title),
    kind: template.kind,
    description: cut(template.description, longest.text),
    look: asks === undefined ? (template.active ? looks.succeeded : plain) : toKnow,
    state: template.active ? 'on' : 'off',
    asks: asks ?? '',
    isChanged,
    news: news === undefined ? '' : strings.catalogue.news[news],
    tries: news === undefined || !template.active ? '' : strings.help.command[requestedBy[template.kind]].types,
    use: useOf(read),
    sections: sections.flatMap((section) =>
      shownIn(section).length === 0 ? [] : [{ section, facts: shownIn(section) }],
    ),
    hidden: asks === undefined ? restText(strings.catalogue.hidden, hidden) : '',
    edits: asks === undefined ? edits.map((edit) => editText(edit, viewer)) : [],
    hasEdits: asks === undefined && edits.length > 0,
  }
}

/** "Version 3: Sam Roy, 20 Nov", and the changed parts. */
function editText({ version, by, at, changed }: TemplateEdit, viewer: Viewer) {
  const texts = strings.catalogue
  const name = by === null ? texts.byFile : shortName(by)
  const values = { version: String(version), name, at: at === null ? '' : moment(at, viewer, 'day') }
  const parts = changed.map((part) => (part in texts.part ? texts.part[part as keyof typeof texts.part] : part))
  return {
    text: format(at === null ? texts.editLongAgo : texts.edit, values),
    changed: parts.length === 0 ? '' : format(texts.changedParts, { parts: listOf(parts, 'unit') }),
  }
}
