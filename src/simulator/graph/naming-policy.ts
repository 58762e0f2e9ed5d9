import type { Call, Modes } from '../tenant/index.ts'
import type { GroupChange } from './group-body.ts'
import { refuse } from './wire.ts'

/** Applies the tenant's group naming policy to a new Microsoft 365 group: adds the prefix, or refuses names without it. */
export function underNamingPolicy(
  { groupPrefix: prefix, groupPrefixConduct: conduct }: Modes,
  call: Call,
  change: GroupChange,
): GroupChange {
  if (prefix === '') return change
  // The alias gets the prefix without the characters that an alias cannot have.
  const forAlias = prefix.replace(/[^\w.-]/g, '')
  const displayName = withPrefix(prefix, String(change.doc['displayName'] ?? ''))
  const mailNickname = withPrefix(forAlias, change.mailNickname ?? '')
  if (conduct === 'refuses') {
    if (displayName !== change.doc['displayName']) missing(call, 'displayName', displayName)
    if (mailNickname !== change.mailNickname) missing(call, 'mailNickname', mailNickname)
  }
  return { ...change, mailNickname, doc: { ...change.doc, displayName } }
}

const withPrefix = (prefix: string, name: string): string => (name.startsWith(prefix) ? name : `${prefix}${name}`)

function missing(call: Call, target: string, suggestedPropertyValue: string): never {
  const message = "The property is missing a required prefix/suffix per your organization's Group naming requirements."
  const detail = { code: 'MissingPrefixSuffix', target, message, suggestedPropertyValue }
  return refuse(call, 400, 'Request_BadRequest', message, [detail])
}
