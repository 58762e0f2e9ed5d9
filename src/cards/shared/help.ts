import { z } from 'zod'
import { isMailboxKind, type ResourceKind, resourceKind, type Template } from '../../core/index.ts'
import { defineCard } from './define-card.ts'
import { format, strings } from './messages.ts'
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
    hello: z.string(),
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
    hello: format(strings.help.hello, { name: cut(me.displayName, longest.title) }),
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

export function chooseTemplateView(
  templates: readonly TemplateChoice[],
  unmatched = '',
): Parameters<typeof chooseTemplateCard.render>[0] {
  const offered = templates.map(({ id, icon, name, description, kind, approvalRequired }) => {
    const approval = approvalRequired ? ('approval' as const) : ('noApproval' as const)
    const pick = format(strings.choose.pick, { name })
    return { templateId: id, icon, name, pick, description: cut(description, 120), kind, approval }
  })
  const groups = new Set(templates.map(({ kind }) => groupOf(kind)))
  const [of = 'mixed', ...others] = groups
  const count = offered.length - mostTemplates
  return {
    of: others.length > 0 ? 'mixed' : of,
    step: format(strings.form.step, { step: 1 }),
    unmatched: unmatched === '' ? '' : format(strings.choose.unmatched, { part: cut(unmatched, longest.name) }),
    templates: offered.slice(0, mostTemplates),
    hidden: count > 0 ? format(strings.choose.more, { count }) : '',
  }
}

const groupOf = (kind: ResourceKind) => (isMailboxKind(kind) ? kind : ('site' as const))
