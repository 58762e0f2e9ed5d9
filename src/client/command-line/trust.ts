import { UsageError } from './define-command.ts'
import { harmlessText, isScope } from './scopes.ts'
import type { Given, SettingName, Settings } from './settings.ts'
import { clean } from './terminal.ts'
import { fill, words } from './words.ts'

/** Refuses a login that only the service names. The message has the command that names it. */
export function refusedLogin(baseUrl: string, loginUrl: string, given: Given): UsageError {
  const command = loginCommand(baseUrl, given, { authority: loginUrl })
  return new UsageError(fill(words.trust.login, { service: baseUrl, login: clean(loginUrl), command }))
}

/** Refuses scopes that are not the service's own. The message has the command that accepts them. */
export function refusedScopes({ baseUrl, scopes, foreignScopes }: Settings, given: Given): UsageError {
  const offered = foreignScopes.map((api) => scopes[api])
  const values = { service: baseUrl, scopes: clean(offered.join(', ')) }
  if (!offered.every(isScope)) return new UsageError(fill(words.trust.noScope, values))
  const accepted = Object.fromEntries(foreignScopes.map((api) => [`${api}-scope`, scopes[api]]))
  const command = loginCommand(baseUrl, given, accepted)
  const sentence = offered.length === 1 ? words.trust.scope : words.trust.scopes
  return new UsageError(fill(sentence, { ...values, command }))
}

/** The `login` that somebody has typed, with more flags. Values that a shell would change are quoted. */
function loginCommand(baseUrl: string, given: Given, more: Given): string {
  const flags = Object.entries({ ...given, 'base-url': baseUrl, ...more }) as [SettingName, string | undefined][]
  const written = flags.flatMap(([name, value]) => (value === undefined ? [] : [`--${name} ${quoted(value)}`]))
  return ['quartermaster login', ...written].join(' ')
}
const quoted = (value: string): string => (harmlessText.test(value) ? value : `'${value.replaceAll("'", `'\\''`)}'`)
