import { z } from 'zod'
import { defineCard } from './define-card.ts'
import { strings } from './messages.ts'

type Group = keyof typeof strings.adminHelp.group
const groups = Object.keys(strings.adminHelp.group) as [Group, ...Group[]]

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
export function adminHelpView(commands: readonly string[]): Parameters<typeof adminHelpCard.render>[0] {
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
