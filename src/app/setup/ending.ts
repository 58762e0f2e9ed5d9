import { loginCommand } from '../../client/command-line/settings.ts'
import { fill, type Terminal } from '../../client/command-line/terminal.ts'
import { isMicrosoftLogin } from '../../client/sign-in.ts'
import { ConfigurationError, readConfig } from '../config.ts'
import { botSteps, checkBot } from './bot.ts'
import { findRegistration } from './registrations.ts'
import type { Setup } from './step.ts'
import texts from './strings.json' with { type: 'json' }

const marks = { good: ['green', '✓'], open: ['yellow', '!'], unknown: ['dim', '–'] } as const

/** Shows the manual steps, the results of checks, and the next steps. */
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
  if (how.isChanged) for (const line of nextSteps(setup)) terminal.line(line)
  terminal.line(`\n${texts.run.commandLine}\n  npx ${await loginOf(setup)}`)
}

/** Returns the faults of the settings that `npm start` would report. */
function faultsOf(values: Readonly<Record<string, string>>): readonly string[] {
  try {
    readConfig(values)
    return []
  } catch (error) {
    if (error instanceof ConfigurationError) return error.faults
    throw error
  }
}

function nextSteps({ settings }: Setup): string[] {
  const upload = fill(texts.run.nextUpload, { path: settings.beside('quartermaster.zip') })
  const list = [...(settings.get('TEAMS_APP_ID') === undefined ? [upload] : []), ...texts.run.nextSteps]
  return ['', texts.run.next, ...list.map((text, index) => `  ${index + 1}. ${text}`)]
}

/** Returns the command with which people sign in. It names the scopes, which do not begin with the service's address. */
async function loginOf(setup: Setup): Promise<string> {
  const { settings, loginUrl, tenantId } = setup
  return loginCommand(
    settings.get('BASE_URL') ?? '',
    {},
    {
      'client-id': (await findRegistration(setup, 'commandLine'))?.appId,
      'collab-scope': settings.get('COLLAB_SCOPE'),
      'mail-scope': settings.get('MAIL_SCOPE'),
      // Only Microsoft's logins are trusted without a flag.
      ...(!isMicrosoftLogin(loginUrl) && { authority: `${loginUrl}/${tenantId}` }),
    },
  )
}
