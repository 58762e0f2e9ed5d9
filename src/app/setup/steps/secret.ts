import { z } from 'zod'
import { fill } from '../../../client/command-line/terminal.ts'
import { GraphError, TooEarly } from '../graph.ts'
import { findRegistration, isManagedIdentity, type Registration } from '../registrations.ts'
import { applicationRoles } from '../roles.ts'
import { type Change, defineStep, type Setup, type Wanted } from '../step.ts'
import texts from '../strings.json' with { type: 'json' }

interface SecretChange extends Change {
  readonly kind: 'create' | 'expiry'
  readonly expires?: string
}

const created = z.object({ secretText: z.string().min(1), endDateTime: z.string() })

/** A secret or certificate is replaced this long before it expires. Days. */
const renewedBeforeDays = 30
const day = 24 * 3600 * 1000

type Moment = string | Date | null | undefined

/** Whether a credential is valid for some more time: 30 days, or a third of its lifetime if that is shorter. */
export function isLasting(start: Moment, end: Moment, now: Date): boolean {
  if (!end) return true
  const lifetime = start ? new Date(end).getTime() - new Date(start).getTime() : Number.POSITIVE_INFINITY
  const left = new Date(end).getTime() - now.getTime()
  return left > Math.min(renewedBeforeDays * day, lifetime / 3)
}

/** The bot's secret. It is written to the settings file and never shown. */
export const secretStep = defineStep<Registration | undefined, SecretChange>({
  id: 'secret',
  group: 'credentials',
  roles: applicationRoles,
  scope: 'Application.ReadWrite.All',
  find: (setup) => findRegistration(setup, 'bot'),
  changes(bot, { settings, options, now }: Wanted) {
    if (isManagedIdentity(settings)) return []
    const mine = credentialOf(bot, settings['MICROSOFT_APP_PASSWORD'])
    if (mine && isLasting(mine.startDateTime, mine.endDateTime, now)) {
      const expires = mine.endDateTime?.slice(0, 10)
      if (expires === undefined || settings['MICROSOFT_APP_PASSWORD_EXPIRES'] !== undefined) return []
      return [{ kind: 'expiry', expires, text: fill(texts.settings.set, { names: 'MICROSOFT_APP_PASSWORD_EXPIRES' }) }]
    }
    const text = mine ? texts.secret.renew : texts.secret.create
    return [{ kind: 'create', renews: true, text: fill(text, { days: options.secretDays }) }]
  },
  async apply(setup, { kind, expires }, bot) {
    if (kind === 'expiry') return setup.settings.set({ MICROSOFT_APP_PASSWORD_EXPIRES: expires ?? '' })
    if (!bot) throw new TooEarly()
    const others = bot.passwordCredentials.filter(({ startDateTime, endDateTime }) =>
      isLasting(startDateTime, endDateTime, setup.options.now()),
    )
    const { secretText, endDateTime } = await addSecret(setup, bot)
    await setup.settings.set({
      MICROSOFT_APP_PASSWORD: secretText,
      MICROSOFT_APP_PASSWORD_EXPIRES: endDateTime.slice(0, 10),
    })
    if (others.length > 0) setup.remark(fill(texts.secret.others, { count: others.length }))
  },
})

/** Finds the credential of a secret. Entra ID shows only the first three characters of each secret. */
function credentialOf(bot: Registration | undefined, secret: string | undefined) {
  if (bot === undefined || secret === undefined) return undefined
  return bot.passwordCredentials
    .filter(({ hint }) => hint === null || hint === undefined || secret.startsWith(hint))
    .toSorted((one, other) => String(other.endDateTime ?? '').localeCompare(String(one.endDateTime ?? '')))[0]
}

/** Shorter lifetimes, for organisations whose policy forbids longer lifetimes. Days. */
const shorterLifetimes = [180, 90, 30]

async function addSecret(setup: Setup, bot: Registration): Promise<z.output<typeof created>> {
  const { secretDays, now } = setup.options
  const lifetimes = [secretDays, ...shorterLifetimes.filter((days) => days < secretDays)]
  for (const [index, days] of lifetimes.entries()) {
    const endDateTime = new Date(now().getTime() + days * day).toISOString()
    const body = { passwordCredential: { displayName: setup.names.title('bot'), endDateTime } }
    try {
      return created.parse(await setup.graph.send('POST', `/applications/${bot.id}/addPassword`, { body }))
    } catch (error) {
      const isTooLong = error instanceof GraphError && error.code === 'CredentialInvalidLifetimeAsPerAppPolicy'
      if (!isTooLong || index === lifetimes.length - 1) throw error
      setup.note(fill(texts.secret.shorter, { days: lifetimes[index + 1] ?? 0 }))
    }
  }
  throw new Error('no lifetime was tried')
}
