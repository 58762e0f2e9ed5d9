/** The registries of card actions and commands, and the parser of typed commands. */
import { distance } from 'fastest-levenshtein'
import { auditActions, auditCommands } from './audit/index.ts'
import { batchActions } from './batches/index.ts'
import { isNear } from './channel/sentences/index.ts'
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
const largestShare = 0.3

/**
 * Returns the command of a misspelt text, ignoring its argument; undefined if the text is another text. Suggests admin
 * commands to admins only.
 */
export function nearestCommand(text: string, forAdmin: boolean): Command | undefined {
  const parts = text
    .toLowerCase()
    .slice(0, 40)
    .split(/[^\p{L}\p{N}-]+/u)
    .filter((part) => part !== '')
  const ranked = names
    .filter(({ command }) => forAdmin || !command.forAdmins)
    .map(({ name, command, alone }) => ({
      command,
      share: alone ? shareOfDifference(parts.join(' '), name) : shareToName(parts, name),
    }))
    .sort((one, other) => one.share - other.share)
  const [best] = ranked
  return best && best.share <= largestShare ? best.command : undefined
}

/** Returns the share of letters, 0 to 1, in which a name differs from as many parts of the text, or from the first part. */
function shareToName(parts: readonly string[], name: string): number {
  const beginnings = [parts.slice(0, name.split(' ').length).join(' '), parts[0] ?? '']
  return Math.min(...beginnings.map((beginning) => shareOfDifference(beginning, name)))
}

/** Letters in another order count as one difference. */
const shareOfDifference = (one: string, other: string): number =>
  (isNear(one, other) ? 1 : distance(one, other)) / Math.max(one.length, other.length)
