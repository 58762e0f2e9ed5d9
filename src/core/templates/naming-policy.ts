import { z } from 'zod'
import {
  because,
  isMailboxKind,
  issueOf,
  type PlacedReason,
  type ReasonFacts,
  type ReasonKey,
  type ResourceKind,
} from '../shared/index.ts'
import {
  addedWidth,
  isToken,
  kindWords,
  type NameForm,
  names,
  partsOfPattern,
  tokenFault,
  tokensOf,
} from './name-pattern.ts'
import { blockedWordsIn, reservedFor } from './refused-names.ts'

/**
 * Microsoft's maximum length of an address before its `@` (mailNickname, alias) and of a display name, in characters.
 */
export const longestName = { address: 64, displayName: 256 } as const
/** The minimum length that an address must leave for the typed text, in characters. */
const leastRoom = 16

/** Characters as a set of a regular expression, without the brackets: `a-z0-9-`. */
const characters = z
  .string()
  .max(100)
  .refine((set) => set === '' || isSet(set), {
    abort: true,
    ...issueOf('characterSetForm', { examples: 'a-z0-9- or \\p{L}\\p{N} -' }),
  })
  .describe('Characters that people may type, as a regular expression set without brackets; empty: all')
const rule = z.strictObject({
  pattern: z
    .string()
    .trim()
    .min(1)
    .max(120)
    .default('{input}')
    .describe('The pattern of the name, for example {department}-{input}-{counter:3}'),
  allowed: characters.default(''),
})
export type NameRule = z.output<typeof rule>

/**
 * The rules for names. An address starts and ends with a letter or digit, so a prefix starts and a suffix ends with
 * one.
 */
export const namingPolicy = z.strictObject({
  prefix: affix(/^([a-z0-9][a-z0-9-]*)?$/).describe('The start of addresses; short for a pattern'),
  suffix: affix(/^([a-z0-9-]*[a-z0-9])?$/).describe('The end of addresses; short for a pattern'),
  displayName: rule.optional().describe('The display name'),
  name: rule.optional().describe('The address of a mailbox, before its @'),
  alias: rule.optional().describe('The address of a site; for a mailbox, the additional address'),
  blockedWords: z
    .array(z.string().trim().min(1).max(64))
    .max(200)
    .optional()
    .describe('Words that no name may contain; case and accents do not matter'),
  allowReservedNames: z
    .array(z.string().trim().min(1).max(64))
    .max(50)
    .optional()
    .describe('Reserved names that this template allows, for example postmaster'),
  allowFormerAddresses: z
    .boolean()
    .optional()
    .describe('Whether this template allows former addresses of others before FORMER_ADDRESS_DAYS have passed'),
})
export type NamingPolicy = z.output<typeof namingPolicy>

/** Returns the name of the rule for the address of a kind. */
export const addressRuleOf = (kind: ResourceKind): 'name' | 'alias' => (isMailboxKind(kind) ? 'name' : 'alias')

/** Returns the rule of an address. Prefix and suffix are a short form of a rule. */
export const addressRule = (naming: NamingPolicy, kind: ResourceKind): NameRule =>
  naming[addressRuleOf(kind)] ?? { pattern: `${naming.prefix}{input}${naming.suffix}`, allowed: '' }
export const displayNameRule = (naming: NamingPolicy): NameRule =>
  naming.displayName ?? { pattern: '{input}', allowed: '' }

export const allows = ({ allowed }: Pick<NameRule, 'allowed'>, text: string): boolean =>
  allowed === '' || new RegExp(`^[${allowed}]*$`, 'u').test(text)

/** Returns the faults of a naming policy, each with its path. */
export function namingFaults(
  naming: NamingPolicy,
  kind: ResourceKind,
  metadataKeys: readonly string[],
): PlacedReason[] {
  const address = addressRuleOf(kind)
  const rules: PlacedReason[] = (['displayName', 'name', 'alias'] as const).flatMap((field) => {
    const fieldRule = naming[field]
    if (!fieldRule) return []
    if (field === 'name' && address === 'alias') return [{ path: [field], reason: because('nameRuleOfSite') }]
    if (field === 'alias' && address === 'name' && kind !== 'sharedMailbox')
      return [{ path: [field], reason: because('aliasRuleOfOtherKind') }]
    const form = field === 'displayName' ? 'displayName' : 'address'
    return ruleFaults(fieldRule, form, kind, metadataKeys, naming.blockedWords ?? []).map(({ path, reason }) => ({
      path: [field, ...path],
      reason,
    }))
  })
  for (const affix of ['prefix', 'suffix'] as const)
    for (const blocked of blockedWordsIn(naming[affix], naming.blockedWords ?? []))
      rules.push({ path: [affix], reason: because('blockedByItself', { word: blocked }) })
  for (const [index, name] of (naming.allowReservedNames ?? []).entries())
    if (reservedFor(name) === undefined)
      rules.push({
        path: ['allowReservedNames', `${index}`],
        reason: because('nameNotReserved', { name }),
      })
  if (naming[address] && (naming.prefix !== '' || naming.suffix !== ''))
    rules.push({ path: [address, 'pattern'], reason: because('affixBesidePattern') })
  const counts = (field: 'displayName' | 'name' | 'alias') => names(naming[field]?.pattern ?? '', 'counter')
  for (const field of ['displayName', 'alias'] as const)
    if (field !== address && counts(field) && !counts(address))
      rules.push({
        path: [field, 'pattern'],
        reason: because('counterNotInAddress', { token: '{counter}', field: address }),
      })
  return rules
}

function ruleFaults(
  { pattern, allowed }: NameRule,
  form: NameForm,
  kind: ResourceKind,
  metadataKeys: readonly string[],
  blockedWords: readonly string[],
): PlacedReason[] {
  const token = tokenFault(pattern, metadataKeys)
  if (token !== undefined) return [{ path: ['pattern'], reason: token }]
  const faults: PlacedReason[] = []
  const report = (at: 'pattern' | 'allowed', key: ReasonKey, facts?: ReasonFacts) =>
    faults.push({ path: [at], reason: because(key, facts) })
  const [input] = partsOfPattern(pattern).filter((part) => isToken(part) && part.token === 'input')
  if (input && isToken(input) && (input.width !== undefined || (form === 'address' && input.transforms.length > 0)))
    report('pattern', form === 'address' ? 'inputChanged' : 'inputCut', { token: '{input}' })
  const literals = partsOfPattern(pattern).flatMap((part) => ('literal' in part ? [part.literal] : []))
  const most = longestName[form]
  const room = names(pattern, 'input') ? leastRoom : 0
  if (addedWidth(pattern, form) + room > most) report('pattern', 'patternTooLong', { most, example: '{city:3}' })
  const always = names(pattern, 'kind') ? [...literals, kindWords[kind]] : literals
  const [blocked] = blockedWordsIn(always.join(' '), blockedWords)
  if (blocked !== undefined) report('pattern', 'blockedByItself', { word: blocked })
  if (form === 'displayName') {
    if (!names(pattern, 'input')) report('pattern', 'inputMissing', { token: '{input}' })
    return faults
  }
  const own = isMailboxKind(kind) ? /^[a-z0-9_.-]*$/ : /^[a-z0-9_-]*$/
  if (!literals.every((literal) => own.test(literal)))
    report('pattern', isMailboxKind(kind) ? 'mailboxPatternCharacters' : 'sitePatternCharacters')
  if (/^[-_.]|[-_.]$|\.\./.test(pattern)) report('pattern', 'addressEnds')
  if (tokensOf(pattern).length === 0) report('pattern', 'addressFixed', { input: '{input}', counter: '{counter}' })
  if (!allows({ allowed }, 'abcdefghijklmnopqrstuvwxyz0123456789')) report('allowed', 'addressNeedsLetters')
  if (!literals.every((literal) => allows({ allowed }, literal))) report('allowed', 'patternNotAllowed')
  return faults
}

function isSet(set: string): boolean {
  if (!/^(?:\\[pP]\{[A-Za-z_=]+\}|\\[dDwWsS]|\\[-\\^\][.]|[^\\\][])+$/u.test(set)) return false
  try {
    return new RegExp(`^[${set}]*$`, 'u').test('')
  } catch {
    return false
  }
}

function affix(form: RegExp) {
  return z.string().max(20).regex(form).default('')
}
