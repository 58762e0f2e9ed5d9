import type { Terminal } from '../../client/command-line/terminal.ts'
import { ConfigurationError, readConfig } from '../config.ts'
import { botSteps, checkBot } from './bot.ts'
import { findRegistration } from './registrations.ts'
import type { Setup } from './step.ts'
import { fill, texts } from './texts.ts'

const marks = { good: ['green', '✓'], open: ['yellow', '!'], unknown: ['dim', '–'] } as const

/** Shows what no program can do, what can be checked, and what comes next. */
export async function showEnd(
  setup: Setup,
  terminal: Terminal,
  how: { readonly isChanged: boolean; readonly botSteps: boolean },
): Promise<void> {
  const { settings } = setup
  terminal.line(`\n${terminal.style('bold', texts.bot.title)}`)
  for (const line of how.isChanged || how.botSteps ? botSteps(setup) : [texts.bot.again]) terminal.line(line)
  terminal.line(`\n${texts.bot.checks}`)
  for (const { state, text } of await checkBot(setup)) {
    const [style, mark] = marks[state]
    terminal.line(`  ${terminal.style(style, mark)} ${text}`)
  }
  const faults = faultsOf(settings.values())
  if (faults.length > 0) {
    terminal.line(`\n${texts.run.configTitle}`)
    for (const fault of faults) terminal.line(`  ${terminal.style('yellow', '!')} ${fault}`)
  } else if (how.isChanged) {
    terminal.line(`\n${terminal.style('green', '✓')} ${fill(texts.run.done, { path: settings.path })}`)
  }
  if (how.isChanged) for (const line of await nextSteps(setup)) terminal.line(line)
}

/** What `npm start` would refuse. */
function faultsOf(values: Readonly<Record<string, string>>): readonly string[] {
  try {
    readConfig(values)
    return []
  } catch (error) {
    if (error instanceof ConfigurationError) return error.faults
    throw error
  }
}

async function nextSteps(setup: Setup): Promise<string[]> {
  const { settings, tenantId } = setup
  const upload = fill(texts.run.nextUpload, { path: settings.beside('quartermaster.zip') })
  const client = (await findRegistration(setup, 'commandLine'))?.appId ?? ''
  const commandLine = { baseUrl: settings.get('BASE_URL') ?? '', tenant: tenantId, client }
  const list = [
    ...(settings.get('TEAMS_APP_ID') === undefined ? [upload] : []),
    ...texts.run.nextSteps,
    fill(texts.run.nextCommandLine, commandLine),
  ]
  return ['', texts.run.next, ...list.map((text, index) => `  ${index + 1}. ${text}`)]
}
