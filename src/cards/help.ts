import { z } from 'zod'
import { isRequestKind, type Template } from '../core/index.ts'
import { defineCard } from './define-card.ts'
import { cut, longest } from './words.ts'

export const helpCard = defineCard({
  name: 'help',
  data: z.strictObject({
    displayName: z.string(),
    commands: z.array(z.strictObject({ name: z.enum(['newSite', 'myRequests', 'approvals']) })),
  }),
})

/** What a person can do here; approvals only for those who approve. */
export function helpView(me: { displayName: string; isApprover: boolean }): Parameters<typeof helpCard.render>[0] {
  const commands = [{ name: 'newSite' as const }, { name: 'myRequests' as const }]
  return {
    displayName: cut(me.displayName, longest.title),
    commands: me.isApprover ? [...commands, { name: 'approvals' as const }] : commands,
  }
}

/** What the card needs of a template to offer it. A core `Template` with `approvalRequired` fits. */
export type TemplateChoice = Pick<Template, 'id' | 'name' | 'description' | 'kind'> & {
  readonly approvalRequired: boolean
}

/** More would not fit into a card that phones can show; the rest is found by name. */
const mostTemplates = 8

export const chooseTemplateCard = defineCard({
  name: 'choose-template',
  data: z.strictObject({
    templates: z.array(
      z.strictObject({
        templateId: z.uuid(),
        name: z.string(),
        description: z.string(),
        kind: z.enum(['teamSite', 'communicationSite']),
        approval: z.enum(['approval', 'noApproval']),
      }),
    ),
    hidden: z.int(),
  }),
})

export function chooseTemplateView(
  templates: readonly TemplateChoice[],
): Parameters<typeof chooseTemplateCard.render>[0] {
  const offered = templates.flatMap(({ id, name, description, kind, approvalRequired }) => {
    if (!isRequestKind(kind)) return []
    const approval = approvalRequired ? ('approval' as const) : ('noApproval' as const)
    return [{ templateId: id, name, description: cut(description, 120), kind, approval }]
  })
  return { templates: offered.slice(0, mostTemplates), hidden: Math.max(0, offered.length - mostTemplates) }
}
