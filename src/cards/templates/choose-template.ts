import { z } from 'zod'
import { isMailboxKind, type ResourceKind, resourceKind, type Template } from '../../core/index.ts'
import { format, restText, strings } from '../shared/messages.ts'
import { defineCard, type ViewOf } from '../shared/render.ts'
import { cut, longest } from '../shared/texts.ts'

/** The part of a template that the card shows. A core `Template` with `approvalRequired` fits. */
export type TemplateChoice = Pick<Template, 'id' | 'icon' | 'name' | 'description' | 'kind'> & {
  readonly approvalRequired: boolean
}

/** More do not fit on a phone; people find the others by name. */
const maxTemplates = 8

export const chooseTemplateCard = defineCard({
  name: 'choose-template',
  data: z.strictObject({
    of: z.enum(['site', 'sharedMailbox', 'equipmentMailbox', 'roomMailbox', 'mixed']),
    step: z.string(),
    /** The sentence about a typed name that no template has; `''` without one. */
    unmatched: z.string(),
    /** The name in the form, which the person has typed, and the sentence about it; `''` without one. */
    newName: z.string(),
    named: z.string(),
    templates: z.array(
      z.strictObject({
        templateId: z.uuid(),
        icon: z.string(),
        name: z.string(),
        /** The title of a tap on the row. */
        pick: z.string(),
        description: z.string(),
        kind: resourceKind,
        approval: z.enum(['approval', 'noApproval']),
      }),
    ),
    /** How many more there are, or `''`. */
    hidden: z.string(),
  }),
})

/**
 * Offers templates. `unmatched`: the part of a name that the person typed, if no template has it. `newName`: the name for
 * the form.
 */
export function chooseTemplateView(
  templates: readonly TemplateChoice[],
  unmatched = '',
  newName = '',
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
    newName,
    named: newName === '' ? '' : format(strings.choose.named, { name: cut(newName, longest.title) }),
    templates: offered.slice(0, maxTemplates),
    hidden: restText(strings.choose.more, offered.length - maxTemplates),
  }
}

const groupOf = (kind: ResourceKind) => (isMailboxKind(kind) ? kind : ('site' as const))
