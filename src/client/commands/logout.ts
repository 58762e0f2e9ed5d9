import { defineCommand } from '../command-line/define-command.ts'
import { exitCodes } from '../command-line/exit-codes.ts'
import { saveSettings } from '../command-line/settings.ts'
import { fill, words } from '../command-line/words.ts'

/** Forgets everybody who has signed in at this service; doing so twice is no fault. */
export const logout = defineCommand({
  words: 'logout',
  options: {},
  async run({ settings, sessions, terminal, known }) {
    const isSet = settings.tenantId !== '' && settings.clientId !== ''
    const session = isSet ? sessions.of(settings) : undefined
    const people = (await session?.people()) ?? []
    for (const { account } of people) await session?.signOut(account)
    const { account, ...rest } = known
    if (account !== undefined) await saveSettings(settings.folder, settings.baseUrl, rest)
    const line = people.length > 0 ? words.logout.done : words.logout.nobody
    terminal.result({ signedOut: people.length }, [fill(line, { service: settings.baseUrl })])
    return exitCodes.done
  },
})
