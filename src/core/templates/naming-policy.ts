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
  isToken,
  kindWords,
  type NameForm,
  names,
  partsOfPattern,
  tokenFault,
  tokensOf,
  widthBeside,
} from './name-pattern.ts'
import { blockedWordsIn, reservedFor } from './refused-names.ts'

/** The longest address before its `@` (mailNickname, alias) and display name of Microsoft's, in characters. */
export const longestName = { address: 64, displayName: 256 } as const
/** What must be left of an address for what people type, in characters. */
const leastRoom = 16

/** Characters as a set of a regular expression, without its brackets: `a-z0-9-`. */
const characters = z
  .string()
  .max(100)
  .refine((set) => set === '' || isSet(set), {
    abort: true,
    ...issueOf('characterSetForm', { examples: 'a-z0-9- or \\p{L}\\p{N} -' }),
  })
  .describe('Characters that may be typed, as the inside of a set of a regular expression; empty: any')
const rule = z.strictObject({
  pattern: z
    .string()
    .trim()
    .min(1)
    .max(120)
    .default('{input}')
    .describe('How the name is made, such as {department}-{input}-{counter:3}'),
  allowed: characters.default(''),
})
export type NameRule = z.output<typeof rule>

/** How names come out of what is typed. An address begins and ends with a letter or digit, so its prefix begins and its suffix ends with one. */
export const namingPolicy = z.strictObject({
  prefix: affix(/^([a-z0-9][a-z0-9-]*)?$/).describe('What addresses begin with; short for a pattern'),
  suffix: affix(/^([a-z0-9-]*[a-z0-9])?$/).describe('What addresses end with; short for a pattern'),
  displayName: rule.optional().describe('What people see'),
  name: rule.optional().describe('The address of a mailbox, before its @'),
  alias: rule.optional().describe('The address of a site; of a mailbox its additional address'),
  blockedWords: z
    .array(z.string().trim().min(1).max(64))
    .max(200)
    .optional()
    .describe('Words that no name may have, whatever their case and accents'),
  allowReservedNames: z
    .array(z.string().trim().min(1).max(64))
    .max(50)
    .optional()
    .describe('Reserved names that this template may give, such as postmaster'),
  allowFormerAddresses: z
    .boolean()
    .optional()
    .describe('Whether this template gives addresses that belonged to others before FORMER_ADDRESS_DAYS have passed'),
})
export type NamingPolicy = z.output<typeof namingPolicy>

/** Which rule makes the address of a kind. */
export const addressRuleOf = (kind: ResourceKind): 'name' | 'alias' => (isMailboxKind(kind) ? 'name' : 'alias')

/** The rule of an address. Prefix and suffix are another way to write one. */
export const addressRule = (naming: NamingPolicy, kind: ResourceKind): NameRule =>
  naming[addressRuleOf(kind)] ?? { pattern: `${naming.prefix}{input}${naming.suffix}`, allowed: '' }
export const displayNameRule = (naming: NamingPolicy): NameRule =>
  naming.displayName ?? { pattern: '{input}', allowed: '' }

export const allows = ({ allowed }: Pick<NameRule, 'allowed'>, text: string): boolean =>
  allowed === '' || new RegExp(`^[${allowed}]*$`, 'u').test(text)

/** What is wrong with a naming policy, each at its place in it. */
export function namingFaults(
  naming: NamingPolicy,
  kind: ResourceKind,
  metadataKeys: readonly string[],
): PlacedReason[] {
  const address = addressRuleOf(kind)
  const rules: PlacedReason[] = (['displayName', 'name', 'alias'] as const).flatMap((field) => {
    const written = naming[field]
    if (!written) return []
    if (field === 'name' && address === 'alias') return [{ path: [field], reason: because('nameRuleOfSite') }]
    if (field === 'alias' && address === 'name' && kind !== 'sharedMailbox')
      return [{ path: [field], reason: because('aliasRuleOfOtherKind') }]
    const form = field === 'displayName' ? 'displayName' : 'address'
    return ruleFaults(written, form, kind, metadataKeys, naming.blockedWords ?? []).map(({ path, reason }) => ({
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
  const say = (at: 'pattern' | 'allowed', key: ReasonKey, facts?: ReasonFacts) =>
    faults.push({ path: [at], reason: because(key, facts) })
  const [input] = partsOfPattern(pattern).filter((part) => isToken(part) && part.token === 'input')
  if (input && isToken(input) && (input.width !== undefined || (form === 'address' && input.transforms.length > 0)))
    say('pattern', form === 'address' ? 'inputChanged' : 'inputCut', { token: '{input}' })
  const literals = partsOfPattern(pattern).flatMap((part) => ('literal' in part ? [part.literal] : []))
  const most = longestName[form]
  const room = names(pattern, 'input') ? leastRoom : 0
  if (widthBeside(pattern, form) + room > most) say('pattern', 'patternTooLong', { most, example: '{city:3}' })
  const always = names(pattern, 'kind') ? [...literals, kindWords[kind]] : literals
  const [blocked] = blockedWordsIn(always.join(' '), blockedWords)
  if (blocked !== undefined) say('pattern', 'blockedByItself', { word: blocked })
  if (form === 'displayName') {
    if (!names(pattern, 'input')) say('pattern', 'inputMissing', { token: '{input}' })
    return faults
  }
  const own = isMailboxKind(kind) ? /^[a-z0-9_.-]*$/ : /^[a-z0-9_-]*$/
  if (!literals.every((literal) => own.test(literal)))
    say('pattern', isMailboxKind(kind) ? 'mailboxPatternCharacters' : 'sitePatternCharacters')
  if (/^[-_.]|[-_.]$|\.\./.test(pattern)) say('pattern', 'addressEnds')
  if (tokensOf(pattern).length === 0) say('pattern', 'addressFixed', { input: '{input}', counter: '{counter}' })
  if (!allows({ allowed }, 'abcdefghijklmnopqrstuvwxyz0123456789')) say('allowed', 'addressNeedsLetters')
  if (!literals.every((literal) => allows({ allowed }, literal))) say('allowed', 'patternNotAllowed')
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
