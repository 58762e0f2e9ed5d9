import { z } from 'zod'
import { format, keysOf, strings } from './messages.ts'
import { defineCard, type ViewOf } from './render.ts'
import { cut, longest } from './texts.ts'

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
export function helpView(me: HelpFor): ViewOf<typeof helpCard> {
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

const groups = keysOf(strings.adminHelp.group)

export const adminHelpCard = defineCard({
  name: 'admin-help',
  data: z.strictObject({
    groups: z.array(
      z.strictObject({
        name: z.enum(groups),
        /** What to type, and what it does. */
        commands: z.array(z.strictObject({ words: z.string(), says: z.string() })).min(1),
      }),
    ),
  }),
})

/** One line for each command, by group, in the order of the strings. */
const lines = new Map(
  groups.flatMap((group) =>
    Object.entries<string>(strings.adminHelp.group[group].commands).map(
      ([words, says]) => [words, { group, says }] as const,
    ),
  ),
)

/** Whether the strings have a line for a command of admins. */
export const hasAdminLine = (words: string): boolean => lines.has(words)

/** All commands of admins, by what they are for. One that has no line is shown all the same, among the last. */
export function adminHelpView(commands: readonly string[]): ViewOf<typeof adminHelpCard> {
  const placeOf = (words: string): number => [...lines.keys()].indexOf(words)
  const ordered = commands.toSorted((one, other) => placeOf(one) - placeOf(other))
  const byGroup = Map.groupBy(ordered, (words) => lines.get(words)?.group ?? 'other')
  return {
    groups: groups.flatMap((name) => {
      const own = byGroup.get(name) ?? []
      if (own.length === 0) return []
      return [{ name, commands: own.map((words) => ({ words, says: lines.get(words)?.says ?? '' })) }]
    }),
  }
}
