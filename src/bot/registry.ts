/** The registries of card actions and commands, and the parser of typed commands. */
import { distance } from 'fastest-levenshtein'
import { catalogues, languageOf } from '../cards/index.ts'
import { auditActions, auditCommands } from './audit/index.ts'
import { batchActions } from './batches/index.ts'
import { fold, isNear } from './channel/sentences/index.ts'
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

/** A name of a command, and its parts in lower case without accents. */
interface CommandName {
  readonly name: string
  readonly parts: readonly string[]
  readonly command: Command
  readonly alone: boolean
}

/**
 * Returns all names of all commands, longest first: `new request` is not `new` with an argument. People may type the
 * commands of any language. If two languages use a name for different commands, the reader's language decides, then English.
 */
function namesFor(language: string): readonly CommandName[] {
  const known = namesByLanguage.get(language)
  if (known) return known
  const languages = [...new Set([language, 'en', ...catalogues.keys()])]
  const names = new Map<string, CommandName>()
  for (const { name, command, alone } of languages.flatMap(namesIn)) {
    const folded = fold(name)
    if (!names.has(folded)) names.set(folded, { name, parts: folded.split(' '), command, alone })
  }
  const sorted = [...names.values()].toSorted((one, other) => other.name.length - one.name.length)
  namesByLanguage.set(language, sorted)
  return sorted
}
const namesByLanguage = new Map<string, readonly CommandName[]>()

/** Returns the names of the commands in one language, and the names without an argument. */
function namesIn(language: string) {
  const names: Readonly<Record<string, readonly string[]>> = catalogues.get(language)?.commands ?? {}
  return commands.flatMap((command) => [
    ...(names[command.name] ?? []).map((name) => ({ name, command, alone: false })),
    ...command.alone.map((name) => ({ name, command, alone: true })),
  ])
}

/**
 * Returns the command in a text and its argument; undefined if the text is no command. Case and accents do not matter.
 * `locale`: of the person who typed the text.
 */
export function parseCommand(
  text: string,
  locale: string,
): { readonly command: Command; readonly argument: string } | undefined {
  const words = text.trim().split(/\s+/)
  const folded = words.map(fold)
  for (const { parts: name, command, alone } of namesFor(languageOf(locale).language)) {
    if (name.length > words.length || (alone && name.length < words.length)) continue
    if (name.every((word, index) => word === folded[index]))
      return { command, argument: words.slice(name.length).join(' ') }
  }
  // A reference alone shows the status of the request.
  if (/^REQ-?\d+$/i.test(words.join(' '))) return { command: statusCommand, argument: words.join(' ') }
  return undefined
}

/** A text with a larger share of different letters is not a misspelt command. */
const largestShare = 0.3

/**
 * Returns the command of a misspelt text, ignoring its argument; undefined if the text is another text. Suggests admin
 * commands to admins only, and commands of the reader's language and English.
 */
export function nearestCommand(text: string, forAdmin: boolean, locale: string): Command | undefined {
  const parts = text
    .toLowerCase()
    .slice(0, 40)
    .split(/[^\p{L}\p{N}-]+/u)
    .filter((part) => part !== '')
  const { language } = languageOf(locale)
  const ranked = [...new Set([language, 'en'])]
    .flatMap(namesIn)
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
