import { defineCommand, type Scope } from '../command-line/define-command.ts'
import { discover } from '../command-line/discover.ts'
import { exitCodes } from '../command-line/exit-codes.ts'
import { type Settings, saveSettings, settingsOf } from '../command-line/settings.ts'
import { clean } from '../command-line/terminal.ts'
import { fill, words } from '../command-line/words.ts'
import { type DeviceCode, type SignIn, SignInError } from '../sign-in.ts'

/** Asks the service how its people sign in, shows a code, waits, and keeps what was learnt for the next commands. */
export const login = defineCommand({
  words: 'login',
  options: {
    'collab-scope': { type: 'text', value: '<scope>' },
    'mail-scope': { type: 'text', value: '<scope>' },
  },
  async run(scope) {
    const { terminal, signal, given, fetch } = scope
    const { baseUrl, folder } = scope.settings
    const told = await discover(baseUrl, fetch, signal).catch(() => {
      signal.throwIfAborted()
      // Signing in needs the login alone; whether the service answers is seen by the first command that needs it.
      terminal.note(fill(words.login.noAnswer, { address: baseUrl }))
      return {}
    })
    const settings = settingsOf(baseUrl, given, { ...scope.known, ...told }, folder)
    const session = scope.sessions.of(settings)
    const show = (code: DeviceCode) => showCode(scope, code)
    const person = await session.signIn(settings.scopes.collab, { show, signal })
    await alsoForMailboxes(scope, session, settings, person.account)
    await saveSettings(folder, baseUrl, {
      directoryUrl: settings.directoryUrl,
      loginUrl: settings.loginUrl,
      tenantId: settings.tenantId,
      clientId: settings.clientId,
      collabScope: settings.scopes.collab,
      mailScope: settings.scopes.mail,
      account: person.account,
    })
    const { id, tenantId, userPrincipalName, displayName } = person
    terminal.result({ id, tenantId, userPrincipalName, displayName, baseUrl }, [
      fill(words.login.done, { who: clean(displayName), name: clean(userPrincipalName), service: baseUrl }),
    ])
    return exitCodes.done
  },
})

function showCode({ terminal }: Scope, { verificationUri, userCode, expiresInSeconds }: DeviceCode): void {
  const minutes = Math.max(1, Math.round(expiresInSeconds / 60))
  if (terminal.json) terminal.result({ verificationUri, userCode, expiresInSeconds }, [])
  else terminal.note(fill(words.login.code, { page: clean(verificationUri), code: clean(userCode), minutes }))
}

/** Sites and mailboxes are two audiences: one sign-in serves both where consent was given; else a second code asks. */
async function alsoForMailboxes(scope: Scope, session: SignIn, settings: Settings, account: string): Promise<void> {
  try {
    await session.token(settings.scopes.mail, account)
  } catch (error) {
    if (!(error instanceof SignInError) || error.problem !== 'not-signed-in') throw error
    if (!scope.terminal.json) scope.terminal.note(words.login.mailboxes)
    await session.signIn(settings.scopes.mail, { show: (code) => showCode(scope, code), signal: scope.signal })
  }
}
