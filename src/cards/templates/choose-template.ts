import { z } from 'zod'
import { isMailboxKind, type ResourceKind, resourceKind, type Template } from '../../core/index.ts'
import { format, restText, strings } from '../shared/messages.ts'
import { defineCard, type ViewOf } from '../shared/render.ts'
import { cut, longest } from '../shared/texts.ts'

/** What the card needs of a template to offer it. A core `Template` with `approvalRequired` fits. */
export type TemplateChoice = Pick<Template, 'id' | 'icon' | 'name' | 'description' | 'kind'> & {
  readonly approvalRequired: boolean
}

/** More would not fit into a card that phones can show; the rest is found by name. */
const mostTemplates = 8

export const chooseTemplateCard = defineCard({
  name: 'choose-template',
  data: z.strictObject({
    of: z.enum(['site', 'sharedMailbox', 'equipmentMailbox', 'roomMailbox', 'mixed']),
    step: z.string(),
    /** What is said of the part of a name that was asked for and that no template has; `''` for none. */
    unmatched: z.string(),
    templates: z.array(
      z.strictObject({
        templateId: z.uuid(),
        icon: z.string(),
        name: z.string(),
        /** What a tap does. */
        pick: z.string(),
        description: z.string(),
        kind: resourceKind,
        approval: z.enum(['approval', 'noApproval']),
      }),
    ),
    /** How many there is no room for, or `''`. */
    hidden: z.string(),
  }),
})

/** Offers templates. `unmatched`: the part of a name that the person typed, if no template has it. */
export function chooseTemplateView(
  templates: readonly TemplateChoice[],
  unmatched = '',
): ViewOf<typeof chooseTemplateCard> {
  const offered = templates.map(({ id, icon, name, description, kind, approvalRequired }) => {
    const approval = approvalRequired ? ('approval' as const) : ('noApproval' as const)
    const pick = format(strings.choose.pick, { name })
    return { templateId: id, icon, name, pick, description: cut(description, 120), kind, approval }
  })
  const groups = new Set(templates.map(({ kind }) => groupOf(kind)))
  const [of = 'mixed', ...others] = groups
  return {
    of: others.length > 0 ? 'mixed' : of,
    step: format(strings.form.step, { step: 1 }),
    unmatched: unmatched === '' ? '' : format(strings.choose.unmatched, { part: cut(unmatched, longest.name) }),
    templates: offered.slice(0, mostTemplates),
    hidden: restText(strings.choose.more, offered.length - mostTemplates),
  }
}

const groupOf = (kind: ResourceKind) => (isMailboxKind(kind) ? kind : ('site' as const))
