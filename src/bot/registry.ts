/** The registries of card actions and commands, and the parser of typed commands. */
import { distance } from 'fastest-levenshtein'
import { auditActions, auditCommands } from './audit/index.ts'
import { batchActions } from './batches/index.ts'
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

/** All card actions by verb. */
export const cardActions = cardActionRegistry(
  ...draftActions,
  ...requestActions,
  ...decisionActions,
  ...batchActions,
  ...digestActions,
  ...operationActions,
  ...templateActions,
  ...webhookActions,
  ...auditActions,
  ...privacyActions,
)

/** All commands, longest name first. The manifest's menu is generated from this list. */
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

/** All names of all commands, longest first: `new request` is not `new` with an argument. */
const names = commands
  .flatMap((command) => [
    ...[command.name, ...command.aliases].map((name) => ({ name, command, alone: false })),
    ...command.alone.map((name) => ({ name, command, alone: true })),
  ])
  .sort((one, other) => other.name.length - one.name.length)

/** Returns the command in a text, in upper or lower case, and its argument; undefined if the text is no command. */
export function parseCommand(text: string): { readonly command: Command; readonly argument: string } | undefined {
  const message = text.trim().replace(/\s+/g, ' ')
  for (const { name, command, alone } of names) {
    if (message.toLowerCase() === name) return { command, argument: '' }
    if (!alone && message.toLowerCase().startsWith(`${name} `))
      return { command, argument: message.slice(name.length + 1) }
  }
  // A reference alone shows the status of the request.
  if (/^REQ-?\d+$/i.test(message)) return { command: statusCommand, argument: message }
  return undefined
}

/** A text with a larger share of different letters is not a misspelt command. */
const largestDistance = 0.6

/**
 * Returns the command with the most similar spelling, ignoring its argument; undefined if no command is similar.
 * Suggests admin commands to admins only.
 */
export function nearestCommand(text: string, forAdmin: boolean): string | undefined {
  const parts = text.trim().toLowerCase().slice(0, 40).split(/\s+/)
  const ranked = names
    .filter(({ command }) => forAdmin || !command.forAdmins)
    .map(({ name, command, alone }) => ({
      command,
      distance: alone ? shareOfDistance(parts.join(' '), name) : distanceToName(parts, name),
    }))
    .sort((one, other) => one.distance - other.distance)
  const [best] = ranked
  return best && best.distance <= largestDistance ? best.command.name : undefined
}

/**
 * Returns the share of letters, 0 to 1, in which a name differs from as many parts of the text, or from the first part.
 */
function distanceToName(parts: readonly string[], name: string): number {
  const beginnings = [parts.slice(0, name.split(' ').length).join(' '), parts[0] ?? '']
  return Math.min(...beginnings.map((beginning) => shareOfDistance(beginning, name)))
}

const shareOfDistance = (one: string, other: string): number =>
  distance(one, other) / Math.max(one.length, other.length)
