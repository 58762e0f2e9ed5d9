import { z } from 'zod'
import { isMailboxKind, type ResourceKind, resourceKind, type Template } from '../core/index.ts'
import { defineCard } from './define-card.ts'
import { cut, longest } from './words.ts'

/** What may be asked for here: the commands that open a form. */
const offers = ['newSite', 'newSharedMailbox', 'newRoom', 'newEquipment'] as const
const adminCommands = [
  { name: 'adminQueue' },
  { name: 'adminStuck' },
  { name: 'adminJobs' },
  { name: 'adminHealth' },
  { name: 'adminStats' },
  { name: 'adminTemplates' },
  { name: 'adminWebhooks' },
  { name: 'adminHelp' },
] as const

export const helpCard = defineCard({
  name: 'help',
  data: z.strictObject({
    displayName: z.string(),
    commands: z.array(z.strictObject({ name: z.enum([...offers, 'myRequests', 'approvals', 'delegate', 'digest']) })),
    isAdmin: z.boolean(),
    adminCommands: z.array(z.strictObject({ name: z.enum(adminCommands.map(({ name }) => name)) })),
  }),
})

/** Who asks for help. `offers`: what the templates that they may use make. */
export interface HelpFor {
  readonly displayName: string
  readonly isApprover: boolean
  readonly isAdmin: boolean
  readonly offers: readonly (typeof offers)[number][]
}

/** What a person can do here; approvals only for those who approve, and the admins' commands only for admins. */
export function helpView(me: HelpFor): Parameters<typeof helpCard.render>[0] {
  const commands = [...offers.filter((name) => me.offers.includes(name)), 'myRequests' as const]
  return {
    displayName: cut(me.displayName, longest.title),
    commands: [...commands, ...(me.isApprover ? (['approvals', 'delegate', 'digest'] as const) : [])].map((name) => ({
      name,
    })),
    isAdmin: me.isAdmin,
    adminCommands: me.isAdmin ? [...adminCommands] : [],
  }
}

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
    /** The part of a name that was asked for and that no template has; `''` for none. */
    unmatched: z.string(),
    templates: z.array(
      z.strictObject({
        templateId: z.uuid(),
        icon: z.string(),
        name: z.string(),
        description: z.string(),
        kind: resourceKind,
        approval: z.enum(['approval', 'noApproval']),
      }),
    ),
    hidden: z.int(),
  }),
})

export function chooseTemplateView(
  templates: readonly TemplateChoice[],
  unmatched = '',
): Parameters<typeof chooseTemplateCard.render>[0] {
  const offered = templates.map(({ id, icon, name, description, kind, approvalRequired }) => {
    const approval = approvalRequired ? ('approval' as const) : ('noApproval' as const)
    return { templateId: id, icon, name, description: cut(description, 120), kind, approval }
  })
  const groups = new Set(templates.map(({ kind }) => groupOf(kind)))
  const [of = 'mixed', ...others] = groups
  return {
    of: others.length > 0 ? 'mixed' : of,
    unmatched: cut(unmatched, longest.name),
    templates: offered.slice(0, mostTemplates),
    hidden: Math.max(0, offered.length - mostTemplates),
  }
}

const groupOf = (kind: ResourceKind) => (isMailboxKind(kind) ? kind : ('site' as const))
