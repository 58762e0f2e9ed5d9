import { because, type Fault, fault, type Metadata, metadataText, pointerOf } from '../shared/index.ts'
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
import { type AvailabilityOf, type FoundName, freeName, unreservedName } from './free-name.ts'
import type { Inquiry, Named } from './inquiry.ts'
import { type Address, addressOf, asksForAddress, displayNameOf } from './naming.ts'

/** Facts of a request for its names. The requester's profile fills missing ones. */
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

/** Returns the facts about work by their tokens. */
const workFacts = ({ department, city, country, companyName, officeLocation }: NameFacts) => ({
  department,
  city,
  country,
  company: companyName,
  office: officeLocation,
})

/** Returns the values of the tokens in a template's names. Calls the directory only for missing facts. */
export async function tokenValues(
  { ports, actor }: Pick<Inquiry, 'ports' | 'actor'>,
  template: Pick<Template, 'kind' | 'naming'>,
  facts: NameFacts,
): Promise<TokenValues> {
  const { kind, naming } = template
  const { metadata = {} } = facts
  const patterns = patternsOf(template)
  const work = workFacts(facts)
  const missing = Object.entries(work).filter(([token, value]) => !value && patterns.some((one) => names(one, token)))
  const isPerson = actor.clientId === undefined
  const profile = missing.length > 0 && isPerson ? await ports.directory.profile(actor.id) : {}
  // People cannot change their profile, so a profile value with a blocked word is left out.
  const allowed = Object.entries(profile).filter(
    ([, value]) => !blockedWordsIn(value, naming.blockedWords ?? []).length,
  )
  const answers = Object.entries(metadata).map(([key, value]) => [`metadata.${key}`, metadataText(value)] as const)
  return {
    ...Object.fromEntries(answers),
    ...Object.fromEntries(allowed),
    ...Object.fromEntries(Object.entries(work).flatMap(([token, value]) => (value ? [[token, value] as const] : []))),
    kind: kindWords[kind],
    year: String(ports.clock.now().getUTCFullYear()),
  }
}

/** Returns the tokens in the template's names that have no value in this request. */
function emptyTokens({ kind, naming }: Pick<Template, 'kind' | 'naming'>, values: TokenValues): string[] {
  const patterns = [displayNameRule(naming), addressRule(naming, kind)].map(({ pattern }) => pattern)
  const used = new Set(patterns.flatMap(tokensOf))
  return [...used].filter((token) => !['input', 'counter'].includes(token) && !values[token])
}

/**
 * Derives the names of a request from the typed ones. Takes a number for good only for a submission without earlier faults
 * (`isSubmission` of the inquiry). A later fault, such as a name that gets too long, leaves a gap in the numbers. `shown`: formats
 * the name for its fault.
 */
export async function namesFor(
  inquiry: Inquiry,
  template: Pick<Template, 'id' | 'kind' | 'naming' | 'properties'>,
  typed: { readonly displayName: string; readonly address: string },
  facts: NameFacts,
  availabilityOf: AvailabilityOf,
  shown: (name: string) => string = (name) => name,
): Promise<Named> {
  const pointer = `/${addressRuleOf(template.kind)}`
  const values = await tokenValues(inquiry, template, facts)
  const early = [...typedFaults(template, typed), ...blockedFacts(template, facts)]
  const checked = { ...inquiry, isSubmission: inquiry.isSubmission && early.length === 0 }
  const wanted = { alias: typed.address, displayName: typed.displayName }
  const { address, found, values: numbered } = await addressFor(checked, template, wanted, values, availabilityOf)
  const { displayName, longest } = displayNameOf(template, typed.displayName, numbered)
  const faults = [...early, ...tooLong(pointer, address), ...tooLong('/displayName', { longest })]
  // The fault of a derived address is at the display name if the form has no address field.
  const field = typed.address === '' && !asksForAddress(template) ? '/displayName' : pointer
  const reserved = reservedIn(template.naming, address.alias)
  if (reserved) {
    const suggestion = await unreservedName(inquiry, address, kindWords[template.kind], availabilityOf)
    faults.push(reservedFault(field, address.alias, reserved, suggestion))
  } else if (found.taken) faults.push(takenFault(pointer, shown(address.alias), found.taken))
  // An allowed text may become a blocked word together with a token.
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

/** Returns the fault of a reserved name. */
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

/** Returns the fault of a name that is taken or belonged to somebody else. `shown`: the name for people. */
export function takenFault(
  pointer: string,
  shown: string,
  { why, suggestion }: NonNullable<FoundName['taken']>,
): Fault {
  const remedy = suggestion === '' ? because('tryAnotherName') : because('tryName', { name: suggestion })
  if (typeof why === 'string')
    return fault(pointer, 'name-taken', because('nameTaken', { name: shown, remedy }), suggestion)
  if ('ownNumber' in why) {
    const reason = because('nameTakenByOwn', { name: shown, reference: `REQ-${why.ownNumber}`, remedy })
    return fault(pointer, 'name-taken', reason, suggestion)
  }
  const reason = because('formerAddress', { name: shown, day: why.freeFrom, remedy })
  return fault(pointer, 'former-address', reason, suggestion)
}

/** Returns the faults of the typed names against the policy. */
const typedFaults = (
  { kind, naming }: Pick<Template, 'kind' | 'naming'>,
  typed: { readonly displayName: string; readonly address: string },
): Fault[] => [
  ...faultsOfTyped(naming, '/displayName', typed.displayName, displayNameRule(naming)),
  // Addresses are always written in lower case.
  ...faultsOfTyped(naming, `/${addressRuleOf(kind)}`, typed.address.toLowerCase(), addressRule(naming, kind)),
]

/** Returns the faults of one typed name: characters that its rule does not allow, and blocked words. */
export function faultsOfTyped(
  naming: Template['naming'],
  pointer: string,
  text: string,
  rule: Pick<NameRule, 'allowed'>,
): Fault[] {
  const odd = [...new Set(text)].filter((one) => !allows(rule, one))
  const shown = odd.map((one) => (one === ' ' ? '“ ”' : one)).join(' ')
  const reason = because('charactersNotAllowed', { field: pointer.slice(1), characters: shown })
  const faults = odd.length > 0 ? [fault(pointer, 'characters', reason, shown)] : []
  return [...faults, ...blockedFaults(naming, pointer, text)]
}

/** The fields of tokens that have another name. */
const fieldsOfWork: Readonly<Record<string, string>> = { company: 'companyName', office: 'officeLocation' }

/** Returns the faults of blocked words in the facts that the names contain. */
function blockedFacts(template: Pick<Template, 'kind' | 'naming'>, facts: NameFacts): Fault[] {
  const work: Readonly<Record<string, string | undefined>> = workFacts(facts)
  const { metadata = {} } = facts
  return [...new Set(patternsOf(template).flatMap(tokensOf))].flatMap((token) => {
    const key = token.startsWith('metadata.') ? token.slice('metadata.'.length) : undefined
    if (key === undefined)
      return blockedFaults(template.naming, pointerOf([fieldsOfWork[token] ?? token]), work[token] ?? '')
    return blockedFaults(template.naming, pointerOf(['metadata', key]), metadataText(metadata[key]))
  })
}

/** Returns the fault of blocked words in a typed or derived name. */
export function blockedFaults({ blockedWords = [] }: Template['naming'], pointer: string, text: string): Fault[] {
  const found = blockedWordsIn(text, blockedWords).join(', ')
  if (found === '') return []
  const field = pointer.slice(1).replaceAll('/', '.')
  return [fault(pointer, 'blocked-word', because('wordsBlocked', { field, words: found }), found)]
}

/** The maximum number of counter values that are tried. */
const maxNumbers = 20

/**
 * Finds the address of a request by its template's policy. A counter gets the next free number: a submission takes it for good,
 * other checks only show the likely one. Numbers of taken addresses are skipped and never used again.
 */
async function addressFor(
  inquiry: Inquiry,
  template: Pick<Template, 'id' | 'kind' | 'naming'>,
  typed: { readonly alias: string; readonly displayName: string },
  values: TokenValues,
  availabilityOf: AvailabilityOf,
): Promise<{ address: Address; found: FoundName; values: TokenValues }> {
  const withCounter = (counter?: number) =>
    addressOf(template, typed, inquiry.requestId, counter === undefined ? values : { ...values, counter: `${counter}` })
  if (!names(addressRule(template.naming, template.kind).pattern, 'counter')) {
    const address = withCounter()
    return { address, found: await freeName(inquiry, address, availabilityOf), values }
  }
  const { nameCounters } = inquiry.ports
  const { tenantId } = inquiry.actor
  // Each name without its number has a series of its own.
  const scope = `${template.id} ${addressOf(template, typed, inquiry.requestId, { ...values, counter: '#' }).alias}`
  const first = inquiry.isSubmission ? 0 : (await nameCounters.last(tenantId, scope)) + 1
  for (let attempt = 1; ; attempt += 1) {
    const number = inquiry.isSubmission ? await nameCounters.next(tenantId, scope) : first + attempt - 1
    const address = withCounter(number)
    const found = { address, found: { name: address.alias }, values: { ...values, counter: `${number}` } }
    const why = await availabilityOf(address.alias)
    if (why === 'free' || why === 'reserved') return found
    if (attempt === maxNumbers) return { ...found, found: { name: address.alias, taken: { suggestion: '', why } } }
  }
}

/** Returns the fault of a typed name that is too long. Such a name is never cut, because that would change it. */
export const tooLong = (pointer: string, { longest }: { readonly longest?: number | undefined }): Fault[] =>
  longest === undefined
    ? []
    : [fault(pointer, 'too-long', because('nameTooLong', { field: pointer.slice(1), longest }), String(longest))]
