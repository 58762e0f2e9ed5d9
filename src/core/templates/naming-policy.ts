import { z } from 'zod'
import { isMailboxKind, type ResourceKind } from '../shared/index.ts'
import { blockedWordsIn } from './blocked-words.ts'
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
import { reservedFor } from './reserved-names.ts'

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
    error: 'Write a set of characters without its brackets, such as a-z0-9- or \\p{L}\\p{N} -',
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
): { path: string[]; message: string }[] {
  const address = addressRuleOf(kind)
  const rules: { path: string[]; message: string }[] = (['displayName', 'name', 'alias'] as const).flatMap((field) => {
    const given = naming[field]
    if (!given) return []
    if (field === 'name' && address === 'alias')
      return [{ path: [field], message: 'The address of a site is made by the rule alias.' }]
    if (field === 'alias' && address === 'name' && kind !== 'sharedMailbox')
      return [{ path: [field], message: 'Only shared mailboxes have an additional address.' }]
    const form = field === 'displayName' ? 'displayName' : 'address'
    return ruleFaults(given, form, kind, metadataKeys, naming.blockedWords ?? []).map(({ at, message }) => ({
      path: [field, at],
      message,
    }))
  })
  for (const affix of ['prefix', 'suffix'] as const)
    for (const blocked of blockedWordsIn(naming[affix], naming.blockedWords ?? []))
      rules.push({ path: [affix], message: `${blocked} is one of the blocked words.` })
  for (const [index, name] of (naming.allowReservedNames ?? []).entries())
    if (reservedFor(name) === undefined)
      rules.push({
        path: ['allowReservedNames', `${index}`],
        message: `${name} is not reserved: every template may give it. Leave it out.`,
      })
  if (naming[address] && (naming.prefix !== '' || naming.suffix !== ''))
    rules.push({ path: [address, 'pattern'], message: 'Put prefix and suffix into the pattern, and leave them out.' })
  const counts = (field: 'displayName' | 'name' | 'alias') => names(naming[field]?.pattern ?? '', 'counter')
  for (const field of ['displayName', 'alias'] as const)
    if (field !== address && counts(field) && !counts(address))
      rules.push({ path: [field, 'pattern'], message: `Use {counter} in ${address} too: that is where it counts.` })
  return rules
}

interface RuleFault {
  readonly at: 'pattern' | 'allowed'
  readonly message: string
}
function ruleFaults(
  { pattern, allowed }: NameRule,
  form: NameForm,
  kind: ResourceKind,
  metadataKeys: readonly string[],
  blockedWords: readonly string[],
): RuleFault[] {
  const token = tokenFault(pattern, metadataKeys)
  if (token !== undefined) return [{ at: 'pattern', message: token }]
  const faults: RuleFault[] = []
  const say = (at: RuleFault['at'], message: string) => faults.push({ at, message })
  const [input] = partsOfPattern(pattern).filter((part) => isToken(part) && part.token === 'input')
  if (input && isToken(input) && (input.width !== undefined || (form === 'address' && input.transforms.length > 0)))
    say('pattern', form === 'address' ? 'In an address {input} stands as it is.' : '{input} is never cut.')
  const literals = partsOfPattern(pattern).flatMap((part) => ('literal' in part ? [part.literal] : []))
  const most = longestName[form]
  const room = names(pattern, 'input') ? leastRoom : 0
  if (widthBeside(pattern, form) + room > most)
    say('pattern', `This can get longer than ${most} characters. Shorten it: {city:3} is at most three characters.`)
  const always = names(pattern, 'kind') ? [...literals, kindWords[kind]] : literals
  const [blocked] = blockedWordsIn(always.join(' '), blockedWords)
  if (blocked !== undefined) say('pattern', `${blocked} is one of the blocked words.`)
  if (form === 'displayName') {
    if (!names(pattern, 'input')) say('pattern', 'A display name needs {input}: people could not tell two apart.')
    return faults
  }
  const own = isMailboxKind(kind) ? /^[a-z0-9_.-]*$/ : /^[a-z0-9_-]*$/
  const signs = isMailboxKind(kind) ? 'hyphens, underscores and dots' : 'hyphens and underscores'
  if (!literals.every((literal) => own.test(literal))) say('pattern', `An address has a to z, 0 to 9, ${signs} only.`)
  if (/^[-_.]|[-_.]$|\.\./.test(pattern)) say('pattern', 'An address begins and ends with a letter or a digit.')
  if (tokensOf(pattern).length === 0) say('pattern', 'Every address would be the same. Use {input} or {counter}.')
  if (!allows({ allowed }, 'abcdefghijklmnopqrstuvwxyz0123456789'))
    say('allowed', 'An address needs a-z0-9: words lose other signs, and a number is added when one is taken.')
  if (!literals.every((literal) => allows({ allowed }, literal)))
    say('allowed', 'The pattern itself has characters that are not allowed here.')
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
