/** Every card action and every command of the bot, and how a typed text finds its command. */
import { distance } from 'fastest-levenshtein'
import { auditActions, auditCommands } from './audit/index.ts'
import { decisionActions, decisionCommands } from './decisions/index.ts'
import { type Command, cardActionRegistry, commandRegistry } from './define.ts'
import { draftActions, draftCommands } from './drafts/index.ts'
import { explanationCommands } from './explanations/index.ts'
import { digestActions, digestCommands } from './notifications/index.ts'
import { operationActions, operationCommands } from './operations/index.ts'
import { privacyActions, privacyCommands } from './privacy/index.ts'
import { requestActions, requestCommands, statusCommand } from './requests/index.ts'
import { adminHelpFor, helpCommand } from './shared/index.ts'
import { templateActions, templateCommands } from './templates/index.ts'
import { webhookActions, webhookCommands } from './webhooks/index.ts'

/** Every verb that a card of ours can carry. */
export const cardActions = cardActionRegistry(
  ...draftActions,
  ...requestActions,
  ...decisionActions,
  ...digestActions,
  ...operationActions,
  ...templateActions,
  ...webhookActions,
  ...auditActions,
  ...privacyActions,
)

/** Every command, in the order in which they are tried. The manifest's menu is generated from this list. */
export const commands: readonly Command[] = commandRegistry(
  ...draftCommands,
  ...requestCommands,
  ...decisionCommands,
  ...digestCommands,
  ...explanationCommands,
  helpCommand,
  adminHelpFor(() => commands),
  ...operationCommands,
  ...auditCommands,
  ...privacyCommands,
  ...templateCommands,
  ...webhookCommands,
)

/** All words of all commands, the longest first: `new request` is not `new` with an argument. */
const known = commands
  .flatMap((command) => [
    ...[command.words, ...command.also].map((words) => ({ words, command, alone: false })),
    ...command.alone.map((words) => ({ words, command, alone: true })),
  ])
  .sort((one, other) => other.words.length - one.words.length)

/** The command in a text, in upper or lower case, and its argument; undefined for a text that is not a command. */
export function parseCommand(text: string): { readonly command: Command; readonly argument: string } | undefined {
  const typed = text.trim().replace(/\s+/g, ' ')
  for (const { words, command, alone } of known) {
    if (typed.toLowerCase() === words) return { command, argument: '' }
    if (!alone && typed.toLowerCase().startsWith(`${words} `))
      return { command, argument: typed.slice(words.length + 1) }
  }
  // A reference alone means the status of the request.
  if (/^REQ-?\d+$/i.test(typed)) return { command: statusCommand, argument: typed }
  return undefined
}

/** The largest share of different letters at which a text still counts as a misspelt command. */
const largestDistance = 0.6

/**
 * The command with the most similar spelling, ignoring its argument; undefined if no command is similar. Suggests admin
 * commands to admins only.
 */
export function nearestCommand(text: string, forAdmin: boolean): string | undefined {
  const typed = text.trim().toLowerCase().slice(0, 40).split(/\s+/)
  const ranked = known
    .filter(({ command }) => forAdmin || !command.forAdmins)
    .map(({ words, command, alone }) => ({
      command,
      distance: alone ? shareOfDistance(typed.join(' '), words) : distanceToWords(typed, words),
    }))
    .sort((one, other) => one.distance - other.distance)
  const [best] = ranked
  return best && best.distance <= largestDistance ? best.command.words : undefined
}

/** The share of letters, 0 to 1, in which a command differs from the same number of typed words, or from the first. */
function distanceToWords(typed: readonly string[], words: string): number {
  const beginnings = [typed.slice(0, words.split(' ').length).join(' '), typed[0] ?? '']
  return Math.min(...beginnings.map((one) => shareOfDistance(one, words)))
}

const shareOfDistance = (one: string, other: string): number =>
  distance(one, other) / Math.max(one.length, other.length)
