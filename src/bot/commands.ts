import { distance } from 'fastest-levenshtein'
import {
  adminApproveCommand,
  adminReassignCommand,
  adminRejectCommand,
  backCommand,
  delegateCommand,
} from './decisions/index.ts'
import { type Command, commandRegistry } from './define-command.ts'
import { myDraftsCommand, newCommands } from './drafts/index.ts'
import { whyCommand } from './explanations/index.ts'
import { digestCommand } from './notifications/index.ts'
import {
  adminAuditCommand,
  adminCancelCommand,
  adminDelegationsCommand,
  adminHealthCommand,
  adminJobsCommand,
  adminQueueCommand,
  adminRetryCommand,
  adminStatsCommand,
  adminStatusCommand,
  adminStuckCommand,
} from './operations/index.ts'
import { adminEraseCommand, adminExportCommand, adminExportPersonCommand } from './privacy/index.ts'
import {
  adminSimulateCommand,
  approvalsCommand,
  cancelCommand,
  myRequestsCommand,
  nudgeCommand,
  statusCommand,
} from './requests/index.ts'
import { adminHelpFor, helpCommand } from './shared/index.ts'
import { adminTemplateCommands, adminTemplatesCommand } from './templates/index.ts'
import { adminWebhooksCommand, webhookFailuresCommand } from './webhooks/index.ts'

/** Every command, in the order in which they are tried. The manifest's menu is generated from this list. */
export const commands: readonly Command[] = commandRegistry(
  ...newCommands,
  myRequestsCommand,
  myDraftsCommand,
  approvalsCommand,
  delegateCommand,
  backCommand,
  digestCommand,
  statusCommand,
  cancelCommand,
  nudgeCommand,
  whyCommand,
  helpCommand,
  adminHelpFor(() => commands),
  adminQueueCommand,
  adminStuckCommand,
  adminDelegationsCommand,
  adminRetryCommand,
  adminApproveCommand,
  adminRejectCommand,
  adminReassignCommand,
  adminStatusCommand,
  adminSimulateCommand,
  adminAuditCommand,
  adminCancelCommand,
  adminHealthCommand,
  adminJobsCommand,
  adminStatsCommand,
  adminExportCommand,
  adminExportPersonCommand,
  adminEraseCommand,
  adminTemplatesCommand,
  ...adminTemplateCommands,
  adminWebhooksCommand,
  webhookFailuresCommand,
)

/** All words of all commands, the longest first: `new request` is not `new` with an argument. */
const known = commands
  .flatMap((command) => [
    ...[command.words, ...command.also].map((words) => ({ words, command, alone: false })),
    ...command.alone.map((words) => ({ words, command, alone: true })),
  ])
  .sort((one, other) => other.words.length - one.words.length)

export interface Heard {
  readonly command: Command
  readonly argument: string
}

/** The command in a text, in upper or lower case, and its argument; undefined for a text that is not a command. */
export function hear(text: string): Heard | undefined {
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

/** Whether a text begins as all admin commands do. */
export const isAdminTalk = (text: string): boolean => /^admin/i.test(text.trim())

/**
 * The command with the most similar spelling, ignoring its argument; undefined if no command is similar. Suggests admin
 * commands to admins only.
 */
export function nearest(text: string, forAdmin: boolean): string | undefined {
  const typed = text.trim().toLowerCase().slice(0, 40).split(/\s+/)
  const offered = known.filter(({ command }) => forAdmin || !command.forAdmins)
  const ranked = offered.map(({ words, command, alone }) => {
    const meant = alone ? distanceOf(typed.join(' '), words) : unlike(typed, words)
    return { means: command.words, far: meant }
  })
  const [best] = ranked.sort((one, other) => one.far - other.far)
  return best && best.far <= unrecognisable ? best.means : undefined
}

/** The largest share of different letters at which a text still counts as a misspelt command. */
const unrecognisable = 0.6

/** The share of letters, 0 to 1, in which a command differs from the same number of typed words. */
function unlike(typed: readonly string[], words: string): number {
  const beginnings = [typed.slice(0, words.split(' ').length).join(' '), typed[0] ?? '']
  return Math.min(...beginnings.map((one) => distanceOf(one, words)))
}

const distanceOf = (one: string, other: string): number => distance(one, other) / Math.max(one.length, other.length)
