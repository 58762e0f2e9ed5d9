import { z } from 'zod'
import { resourceKind, type TemplateEdit, type TemplateReport } from '../../core/index.ts'
import { defineCard } from '../shared/define-card.ts'
import { fact, fitting } from '../shared/facts.ts'
import { look, looks, plain, toKnow } from '../shared/look.ts'
import { format, strings } from '../shared/messages.ts'
import { cut, listOf, longest, moment, type Viewer } from '../shared/words.ts'
import { signed, useOf } from './admin-templates.ts'
import {
  approvalFacts,
  limitFacts,
  nameFacts,
  propertyFacts,
  questionFacts,
  useFacts,
  webhookFacts,
} from './template-policies.ts'

const sections = ['use', 'questions', 'properties', 'names', 'limits', 'approvals', 'webhook'] as const

export const adminTemplateCard = defineCard({
  name: 'admin-template',
  data: z.strictObject({
    templateId: z.uuid(),
    version: z.int(),
    /** The same in words. */
    edition: z.string(),
    name: z.string(),
    kind: resourceKind,
    description: z.string(),
    look,
    state: z.enum(['on', 'off']),
    /** Asks before it is switched, or shows it: `''`. */
    asks: z.enum(['', 'enable', 'disable']),
    /** Whether it was changed since the card that was clicked. */
    isChanged: z.boolean(),
    use: z.string(),
    sections: z.array(z.strictObject({ section: z.enum(sections), facts: z.array(fact).min(1) })),
    /** Facts for which the card has no room. */
    hidden: z.string(),
    edits: z.array(z.strictObject({ text: z.string(), changed: z.string() })),
    hasEdits: z.boolean(),
  }),
})

/** Facts are many here, so each is one line of text: what one costs beside its words, and how much fits under 25 kB. */
const costOfLine = 140
const room = 8000

export interface TemplateQuestion {
  readonly asks?: 'enable' | 'disable'
  readonly isChanged?: boolean
}

/** All that a template decides, in words; or the question whether it is to be switched. */
export function adminTemplateView(
  report: TemplateReport,
  viewer: Viewer,
  { asks, isChanged = false }: TemplateQuestion = {},
): Parameters<typeof adminTemplateCard.render>[0] {
  const { template, edits } = report
  const facts = {
    use: useFacts(report),
    questions: questionFacts(report),
    properties: propertyFacts(report),
    names: nameFacts(report),
    limits: limitFacts(report),
    approvals: approvalFacts(report),
    webhook: webhookFacts(report),
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
    use: useOf(report),
    sections: sections.flatMap((section) =>
      shownIn(section).length === 0 ? [] : [{ section, facts: shownIn(section) }],
    ),
    hidden: asks === undefined && hidden > 0 ? format(strings.catalogue.hidden, { count: hidden }) : '',
    edits: asks === undefined ? edits.map((edit) => editInWords(edit, viewer)) : [],
    hasEdits: asks === undefined && edits.length > 0,
  }
}

/** "Version 3: Sam Roy, 20 Nov", and which parts were others before. */
function editInWords({ version, by, at, changed }: TemplateEdit, viewer: Viewer) {
  const words = strings.catalogue
  const name = by === null ? words.byFile : cut(by.displayName, longest.name)
  const values = { version: String(version), name, at: at === null ? '' : moment(at, viewer, 'day') }
  const parts = changed.map((part) => (part in words.part ? words.part[part as keyof typeof words.part] : part))
  return {
    text: format(at === null ? words.editLongAgo : words.edit, values),
    changed: parts.length === 0 ? '' : format(words.changedParts, { parts: listOf(parts, 'unit') }),
  }
}
