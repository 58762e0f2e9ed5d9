import { z } from 'zod'
import { loginCommand } from '../../client/command-line/settings.ts'
import { fill, type Terminal } from '../../client/command-line/terminal.ts'
import { isMicrosoftLogin } from '../../client/sign-in.ts'
import { clouds } from '../addresses.ts'
import { ConfigurationError, readConfig } from '../config.ts'
import { findRegistration, isManagedIdentity } from './registrations.ts'
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

/**
 * Returns the manual steps: the Azure Bot resource, or a bot in Teams' developer portal. A bot of GCC High needs Azure
 * Government (learn.microsoft.com/azure/bot-service/how-to-deploy-gov-cloud-high).
 */
export function botSteps({ settings, names, cloud }: Setup): string[] {
  const values = {
    name: names.title('bot'),
    handle: names.key('bot'),
    bot: settings.get('MICROSOFT_APP_ID') ?? '',
    tenant: settings.get('TENANT_ID') ?? '',
    endpoint: `${settings.get('BASE_URL')}/api/messages`,
    path: settings.path,
    portal: clouds[cloud].azurePortalUrl,
  }
  const numbered = (list: readonly string[]) => list.map((text, index) => `  ${index + 1}. ${fill(text, values)}`)
  const azureSteps = numbered(texts.bot.azureSteps)
  if (cloud === 'usgov') return [texts.bot.why, '', texts.bot.azureGovernment, ...azureSteps]
  const portalSteps = numbered(texts.bot.portalSteps)
  const ways = [texts.bot.azure, ...azureSteps, '', texts.bot.portal, ...portalSteps]
  return [`${texts.bot.why} ${texts.bot.ways}`, '', ...ways]
}

/** The result of a check of the bot. */
interface BotCheck {
  readonly state: 'good' | 'open' | 'unknown'
  readonly text: string
}

const timeoutMilliseconds = 15_000
const tokenAnswer = z.object({ access_token: z.string() })
const refusal = z.object({ error_description: z.string() })

/** Checks the secret, and the address over the network. */
async function checkBot(setup: Setup): Promise<BotCheck[]> {
  return [await checkSecret(setup), await checkAddress(setup), { state: 'unknown', text: texts.bot.unchecked }]
}

/** Checks the secret: requests a token for messages of the bot. */
async function checkSecret({ settings, tenantId, loginUrl, cloud, fetch, options, pause }: Setup): Promise<BotCheck> {
  const secret = settings.get('MICROSOFT_APP_PASSWORD')
  if (secret === undefined || isManagedIdentity(settings.values()))
    return { state: 'unknown', text: texts.bot.noSecret }
  const body = new URLSearchParams({
    grant_type: 'client_credentials',
    client_id: settings.get('MICROSOFT_APP_ID') ?? '',
    client_secret: secret,
    scope: `${clouds[cloud].connector.audience}/.default`,
  })
  for (let waited = 0; ; waited += 2000) {
    const signal = AbortSignal.timeout(timeoutMilliseconds)
    const answer: unknown = await fetch(`${loginUrl}/${tenantId}/oauth2/v2.0/token`, { method: 'POST', body, signal })
      .then((response) => response.json())
      .catch(() => undefined)
    if (tokenAnswer.safeParse(answer).success) return { state: 'good', text: texts.bot.signsIn }
    // Microsoft needs some seconds until it knows a new secret everywhere.
    if (waited < Math.min(options.patience, 60_000)) {
      await pause(2000)
      continue
    }
    const reason = /AADSTS\d+/.exec(refusal.safeParse(answer).data?.error_description ?? '')?.[0] ?? texts.bot.noAnswer
    return { state: 'open', text: fill(texts.bot.signInFails, { reason }) }
  }
}

async function checkAddress({ settings, fetch }: Setup): Promise<BotCheck> {
  const url = `${settings.get('BASE_URL')}/healthz`
  const signal = AbortSignal.timeout(timeoutMilliseconds)
  const response = await fetch(url, { redirect: 'manual', signal }).catch(() => undefined)
  await response?.body?.cancel()
  if (response?.ok) return { state: 'good', text: fill(texts.bot.answers, { url }) }
  return { state: 'open', text: fill(texts.bot.silent, { url }) }
}
