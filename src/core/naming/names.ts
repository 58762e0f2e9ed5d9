import { because, type Fault, fault, type Metadata, pointerOf } from '../shared/index.ts'
import {
  addressRule,
  addressRuleOf,
  allows,
  blockedWordsIn,
  displayNameRule,
  kindWords,
  type NameRule,
  names,
  type ReservedFor,
  reservedIn,
  type Template,
  type TokenValues,
  tokensOf,
} from '../templates/index.ts'
import { type FoundName, freeName, type StandingOf, unreservedName } from './free-name.ts'
import type { Inquiry, Named } from './inquiry.ts'
import { type Address, addressOf, asksForAddress, displayNameOf } from './naming.ts'

/** What a request says of itself, or else its requester, that a name can be made of. */
export interface NameFacts {
  readonly metadata?: Metadata
  readonly department?: string | undefined
  readonly city?: string | undefined
  readonly country?: string | undefined
  readonly companyName?: string | undefined
  readonly officeLocation?: string | undefined
}

const patternsOf = ({ kind, naming }: Pick<Template, 'kind' | 'naming'>): string[] =>
  [displayNameRule(naming), addressRule(naming, kind), naming.alias].map((rule) => rule?.pattern ?? '')

/** What a request says of where somebody works, by its tokens. */
const saidOfWork = ({ department, city, country, companyName, officeLocation }: NameFacts) => ({
  department,
  city,
  country,
  company: companyName,
  office: officeLocation,
})

/** What the tokens of a template's names stand for. The directory is asked only for what no one has said. */
export async function tokenValues(
  { ports, actor }: Pick<Inquiry, 'ports' | 'actor'>,
  template: Pick<Template, 'kind' | 'naming'>,
  telling: NameFacts,
): Promise<TokenValues> {
  const { kind, naming } = template
  const { metadata = {} } = telling
  const patterns = patternsOf(template)
  const said = saidOfWork(telling)
  const missing = Object.entries(said).filter(([token, value]) => !value && patterns.some((one) => names(one, token)))
  const isPerson = actor.clientId === undefined
  const profile = missing.length > 0 && isPerson ? await ports.directory.profile(actor.id) : {}
  // Nobody could choose other words for where they work, so a blocked one leaves nothing instead.
  const fit = Object.entries(profile).filter(([, value]) => !blockedWordsIn(value, naming.blockedWords ?? []).length)
  const answers = Object.entries(metadata).map(([key, value]) => [`metadata.${key}`, String(value)] as const)
  return {
    ...Object.fromEntries(answers),
    ...Object.fromEntries(fit),
    ...Object.fromEntries(Object.entries(said).flatMap(([token, value]) => (value ? [[token, value] as const] : []))),
    kind: kindWords[kind],
    year: String(ports.clock.now().getUTCFullYear()),
  }
}

/** Tokens of the template's names that come to nothing in this request. */
function emptyTokens({ kind, naming }: Pick<Template, 'kind' | 'naming'>, values: TokenValues): string[] {
  const patterns = [displayNameRule(naming), addressRule(naming, kind)].map(({ pattern }) => pattern)
  const used = new Set(patterns.flatMap(tokensOf))
  return [...used].filter((token) => !['input', 'counter'].includes(token) && !values[token])
}

/**
 * Makes the names of a request of what was typed. A number is taken for good only by a submission in which nothing was found
 * wrong before (`isSubmission` of the inquiry says so); what is found later, such as a name that gets too long, leaves a gap.
 * `shown`: the name as its fault shows it.
 */
export async function namesFor(
  inquiry: Inquiry,
  template: Pick<Template, 'id' | 'kind' | 'naming' | 'properties'>,
  typed: { readonly displayName: string; readonly address: string },
  telling: NameFacts,
  standingOf: StandingOf,
  shown: (name: string) => string = (name) => name,
): Promise<Named> {
  const pointer = `/${addressRuleOf(template.kind)}`
  const values = await tokenValues(inquiry, template, telling)
  const early = [...typedFaults(template, typed), ...toldFaults(template, telling)]
  const asked = { ...inquiry, isSubmission: inquiry.isSubmission && early.length === 0 }
  const wanted = { alias: typed.address, displayName: typed.displayName }
  const { address, found, values: numbered } = await addressFor(asked, template, wanted, values, standingOf)
  const { displayName, longest } = displayNameOf(template, typed.displayName, numbered)
  const faults = [...early, ...tooLong(pointer, address), ...tooLong('/displayName', { longest })]
  // A name that came of what people see is theirs to change where they may type an address.
  const field = typed.address === '' && !asksForAddress(template) ? '/displayName' : pointer
  const reserved = reservedIn(template.naming, address.alias)
  if (reserved) {
    const suggestion = await unreservedName(inquiry, address, kindWords[template.kind], standingOf)
    faults.push(reservedFault(field, address.alias, reserved, suggestion))
  } else if (found.taken) faults.push(heldFault(pointer, shown(address.alias), found.taken))
  // What was typed may be allowed, and yet become a blocked word beside a token.
  if (faults.length === 0)
    for (const [at, name] of [
      ['/displayName', displayName],
      [typed.address === '' ? '/displayName' : pointer, found.name],
    ] as const)
      faults.push(...blockedFaults(template.naming, at, name))
  return {
    displayName,
    ...(displayName !== typed.displayName && { typedName: typed.displayName }),
    name: found.name,
    wanted: address.alias,
    passedOver: found.passedOver ?? [],
    around: address.around,
    emptyTokens: emptyTokens(template, numbered),
    values: numbered,
    faults,
  }
}

/** A name that certificate authorities, registrars or mail systems trust. */
export const reservedFault = (pointer: string, name: string, reserved: ReservedFor, suggestion: string): Fault =>
  fault(
    pointer,
    'reserved-name',
    because('nameReserved', {
      name,
      purpose: reserved,
      remedy: suggestion === '' ? because('chooseAnotherName') : because('chooseNameSuchAs', { name: suggestion }),
    }),
    suggestion,
  )

/** A name that a request cannot have: somebody has it, or it belonged to somebody else. `shown`: as people read it. */
export function heldFault(pointer: string, shown: string, { why, suggestion }: NonNullable<FoundName['taken']>): Fault {
  const remedy = suggestion === '' ? because('tryAnotherName') : because('tryName', { name: suggestion })
  if (typeof why === 'string')
    return fault(pointer, 'name-taken', because('nameTaken', { name: shown, remedy }), suggestion)
  const reason = because('formerAddress', { name: shown, day: why.freeFrom, remedy })
  return fault(pointer, 'former-address', reason, suggestion)
}

/** What the policy finds wrong with names as they were typed. */
const typedFaults = (
  { kind, naming }: Pick<Template, 'kind' | 'naming'>,
  typed: { readonly displayName: string; readonly address: string },
): Fault[] => [
  ...faultsOfTyped(naming, '/displayName', typed.displayName, displayNameRule(naming)),
  // Written in lower case in any case.
  ...faultsOfTyped(naming, `/${addressRuleOf(kind)}`, typed.address.toLowerCase(), addressRule(naming, kind)),
]

/** What the policy finds wrong with one name as it was typed: characters that its rule does not allow, and blocked words. */
export function faultsOfTyped(
  naming: Template['naming'],
  pointer: string,
  text: string,
  rule: Pick<NameRule, 'allowed'>,
): Fault[] {
  const odd = [...new Set(text)].filter((one) => !allows(rule, one))
  const shown = odd.map((one) => (one === ' ' ? 'spaces' : one)).join(' ')
  const reason = because('charactersNotAllowed', { field: pointer.slice(1), characters: shown })
  const faults = odd.length > 0 ? [fault(pointer, 'characters', reason, shown)] : []
  return [...faults, ...blockedFaults(naming, pointer, text)]
}

/** Where the tokens of work are said. */
const fieldsOfWork: Readonly<Record<string, string>> = { company: 'companyName', office: 'officeLocation' }

/** Blocked words in what a request says beside its names, and names are made of. */
function toldFaults(template: Pick<Template, 'kind' | 'naming'>, telling: NameFacts): Fault[] {
  const said: Readonly<Record<string, string | undefined>> = saidOfWork(telling)
  const { metadata = {} } = telling
  return [...new Set(patternsOf(template).flatMap(tokensOf))].flatMap((token) => {
    const key = token.startsWith('metadata.') ? token.slice('metadata.'.length) : undefined
    if (key === undefined)
      return blockedFaults(template.naming, pointerOf([fieldsOfWork[token] ?? token]), said[token] ?? '')
    return blockedFaults(template.naming, pointerOf(['metadata', key]), String(metadata[key] ?? ''))
  })
}

/** A blocked word in a name: in what was typed, or in what came of it. */
export function blockedFaults({ blockedWords = [] }: Template['naming'], pointer: string, text: string): Fault[] {
  const found = blockedWordsIn(text, blockedWords).join(', ')
  if (found === '') return []
  const field = pointer.slice(1).replaceAll('/', '.')
  return [fault(pointer, 'blocked-word', because('wordsBlocked', { field, words: found }), found)]
}

/** How many numbers are looked at for one that is free. */
const mostNumbers = 20

/**
 * The address that a request can have, by its template's policy. With a counter the next number is taken that is free: for good
 * when this is a submission, else only to show what is likely. Numbers that were taken for nothing are not used again.
 */
async function addressFor(
  inquiry: Inquiry,
  template: Pick<Template, 'id' | 'kind' | 'naming'>,
  asked: { readonly alias: string; readonly displayName: string },
  values: TokenValues,
  standingOf: StandingOf,
): Promise<{ address: Address; found: FoundName; values: TokenValues }> {
  const made = (counter?: number) =>
    addressOf(template, asked, inquiry.requestId, counter === undefined ? values : { ...values, counter: `${counter}` })
  if (!names(addressRule(template.naming, template.kind).pattern, 'counter')) {
    const address = made()
    return { address, found: await freeName(inquiry, address, standingOf), values }
  }
  const { nameCounters } = inquiry.ports
  const { tenantId } = inquiry.actor
  // Counted apart for each name that differs in something else than its number.
  const scope = `${template.id} ${addressOf(template, asked, inquiry.requestId, { ...values, counter: '#' }).alias}`
  const first = inquiry.isSubmission ? 0 : (await nameCounters.last(tenantId, scope)) + 1
  for (let looked = 1; ; looked += 1) {
    const number = inquiry.isSubmission ? await nameCounters.next(tenantId, scope) : first + looked - 1
    const address = made(number)
    const found = { address, found: { name: address.alias }, values: { ...values, counter: `${number}` } }
    const why = await standingOf(address.alias)
    if (why === 'free' || why === 'reserved') return found
    if (looked === mostNumbers) return { ...found, found: { name: address.alias, taken: { suggestion: '', why } } }
  }
}

/** A name that was asked for is never cut: another one would come of it. */
export const tooLong = (pointer: string, { longest }: { readonly longest?: number | undefined }): Fault[] =>
  longest === undefined
    ? []
    : [fault(pointer, 'too-long', because('nameTooLong', { field: pointer.slice(1), longest }), String(longest))]
