import { z } from 'zod'
import type { Person } from '../../core/index.ts'
import { commandName, format, keysOf, strings } from './messages.ts'
import { defineCard, type ViewOf } from './render.ts'
import { cut, helpersOf, longest } from './texts.ts'

/** The commands that open a form. */
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
    lead: z.string(),
    /** How the reader learns of requests to decide, or decides by text. */
    approvers: z.string(),
    commands: z.array(
      z.strictObject({ name: z.enum([...offers, 'myRequests', 'myDrafts', 'approvals', 'delegate', 'digest']) }),
    ),
    isAdmin: z.boolean(),
    adminCommands: z.array(z.strictObject({ name: z.enum(adminCommands.map(({ name }) => name)) })),
  }),
})

/** The reader of the help. `offers`: the commands for which the reader has a template. */
export interface HelpFor {
  readonly displayName: string
  /** Whether requests wait for the reader's decision, and whether the reader has drafts. */
  readonly has: { readonly approvals: boolean; readonly drafts: boolean }
  readonly isAdmin: boolean
  /** The card answers a text that is no command. */
  readonly isUnclear?: boolean
  readonly offers: readonly (typeof offers)[number][]
  /** Admins, for a reader who can request nothing. */
  readonly helpers?: readonly Person[]
}

/**
 * Shows the commands of a person: those about approvals and drafts only to people who have any, those of admins only to
 * admins. Approvals come first, because other people wait for them.
 */
export function helpView(me: HelpFor): ViewOf<typeof helpCard> {
  const hasOffers = me.offers.length > 0
  const commands = [
    ...(me.has.approvals ? (['approvals'] as const) : []),
    ...offers.filter((name) => me.offers.includes(name)),
    'myRequests' as const,
    ...(me.has.drafts ? (['myDrafts'] as const) : []),
    ...(me.has.approvals ? (['delegate', 'digest'] as const) : []),
  ]
  const name = cut(me.displayName, longest.title)
  const lead = me.isUnclear ? strings.help.example : strings.help.lead
  return {
    hello: me.isUnclear
      ? strings.help.unclear
      : format(hasOffers ? strings.help.hello : strings.help.greeting, { name }),
    lead: hasOffers ? lead : format(strings.help.nothing, { helpers: helpersOf(me.helpers) }),
    approvers: me.has.approvals ? strings.help.approver : strings.help.notApprover,
    commands: commands.map((name) => ({ name })),
    isAdmin: me.isAdmin,
    adminCommands: me.isAdmin ? [...adminCommands] : [],
  }
}

const groups = keysOf(strings.adminHelp.group)

export const adminHelpCard = defineCard({
  name: 'admin-help',
  data: z.strictObject({
    groups: z.array(
      z.strictObject({
        name: z.enum(groups),
        commands: z.array(z.strictObject({ command: z.string(), says: z.string() })).min(1),
      }),
    ),
  }),
})

/** One line for each command, by group, in the order of the strings. */
const linesOfAdmins = () =>
  new Map(
    groups.flatMap((group) =>
      Object.entries<string>(strings.adminHelp.group[group].commands).map(
        ([command, says]) => [command, { group, says }] as const,
      ),
    ),
  )

/** Whether the strings have a line for a command of admins. */
export const hasAdminLine = (command: string): boolean => linesOfAdmins().has(command)

/** All commands of admins by purpose. A command without a line is among the last. */
export function adminHelpView(commands: readonly string[]): ViewOf<typeof adminHelpCard> {
  const lines = linesOfAdmins()
  const placeOf = (command: string): number => [...lines.keys()].indexOf(command)
  const ordered = commands.toSorted((one, other) => placeOf(one) - placeOf(other))
  const byGroup = Map.groupBy(ordered, (command) => lines.get(command)?.group ?? 'other')
  return {
    groups: groups.flatMap((name) => {
      const own = byGroup.get(name) ?? []
      if (own.length === 0) return []
      return [
        {
          name,
          commands: own.map((command) => ({ command: commandName(command), says: lines.get(command)?.says ?? '' })),
        },
      ]
    }),
  }
}
