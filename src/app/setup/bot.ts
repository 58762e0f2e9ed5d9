import { z } from 'zod'
import { fill } from '../../client/command-line/terminal.ts'
import { clouds } from '../addresses.ts'
import { isManagedIdentity } from './registrations.ts'
import type { Setup } from './step.ts'
import texts from './strings.json' with { type: 'json' }

/** Returns the manual steps: the Azure Bot resource, or a bot in Teams' developer portal. */
export function botSteps({ settings, names }: Setup): string[] {
  const values = {
    name: names.title('bot'),
    handle: names.key('bot'),
    bot: settings.get('MICROSOFT_APP_ID') ?? '',
    tenant: settings.get('TENANT_ID') ?? '',
    endpoint: `${settings.get('BASE_URL')}/api/messages`,
    path: settings.path,
  }
  const numbered = (list: readonly string[]) => list.map((text, index) => `  ${index + 1}. ${fill(text, values)}`)
  return [
    texts.bot.why,
    '',
    texts.bot.azure,
    ...numbered(texts.bot.azureSteps),
    '',
    texts.bot.portal,
    ...numbered(texts.bot.portalSteps),
  ]
}

/** The result of a check of the bot. */
export interface BotCheck {
  readonly state: 'good' | 'open' | 'unknown'
  readonly text: string
}

const timeoutMilliseconds = 15_000
const tokenAnswer = z.object({ access_token: z.string() })
const refusal = z.object({ error_description: z.string() })

/** Checks the secret, and the address over the network. */
export async function checkBot(setup: Setup): Promise<BotCheck[]> {
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
