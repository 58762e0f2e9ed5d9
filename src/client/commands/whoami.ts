import { defineCommand } from '../command-line/define-command.ts'
import { exitCodes } from '../command-line/exit-codes.ts'
import { clean } from '../command-line/terminal.ts'
import { fill, words } from '../command-line/words.ts'
import { SignInError } from '../sign-in.ts'

export const whoami = defineCommand({
  words: 'whoami',
  options: {},
  async run({ settings, sessions, terminal }) {
    const people = settings.account === undefined ? [] : await sessions.of(settings).people()
    const person = people.find(({ account }) => account === settings.account)
    if (!person) throw new SignInError('not-signed-in')
    // Whether it still holds: a token is had without asking, or this says that there is none.
    await sessions.token(settings, 'collab')
    const { id, tenantId, userPrincipalName, displayName } = person
    const { baseUrl, directoryUrl, loginUrl, clientId } = settings
    terminal.result({ id, tenantId, userPrincipalName, displayName, baseUrl, directoryUrl, loginUrl, clientId }, [
      `${clean(displayName)} (${clean(userPrincipalName)})`,
      fill(words.whoami.where, { service: baseUrl, tenant: clean(tenantId) }),
    ])
    return exitCodes.done
  },
})
