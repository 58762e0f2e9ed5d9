import {
  type AvailabilityOf,
  asksForAddress,
  mailboxNameFree,
  type Named,
  type NameFacts,
  namesFor,
  siteNameFree,
  slug,
  tokenValues,
} from '../naming/index.ts'
import { domainFault, type RequestInquiry, withName } from '../requests/index.ts'
import { mailboxRequest, siteRequest } from '../resources/index.ts'
import {
  asking,
  because,
  type Fault,
  fault,
  faultsOf,
  isMailboxKind,
  metadataText,
  ProvisioningError,
} from '../shared/index.ts'
import {
  addressRule,
  answersOf,
  displayNameRule,
  names,
  sketch,
  type Template,
  type TokenValues,
  tokensOf,
  withProperties,
} from '../templates/index.ts'
import { bodyOfForm, type FormValues } from './form-values.ts'

/** The names that a form's values would give. */
export interface NamePreview {
  /** The display name; `''` if nothing is typed yet or if it equals the typed name. */
  readonly displayName: string
  /** A site's URL or a mailbox's address, with {@link unknownPart} or `{token}` for unknown parts. */
  readonly address: string
  /**
   * `sketch`: there is no typed text for the address. `likely`: not checked whether it is free. `silent`: the directory
   * did not answer. A taken address is a fault instead.
   */
  readonly status: 'sketch' | 'likely' | 'free' | 'silent'
  /** The address without a suffix, if it is taken. */
  readonly taken?: string | undefined
  /** Whether the address contains a number, which is assigned when the request is submitted. */
  readonly isNumbered: boolean
}

/** The placeholder in a sketch for the text that the person will type. */
const unknownPart = '…'

/** Previews the names of a form. `isChecked`: whether to check in the tenant that they are free. Writes nothing. */
export async function previewNames(
  inquiry: RequestInquiry,
  template: Template,
  values: FormValues,
  { isChecked }: { readonly isChecked: boolean },
): Promise<{ preview: NamePreview; faults: readonly Fault[] }> {
  const texts = textsIn(inquiry, template, values)
  try {
    return await asking(() => previewed(inquiry, template, texts, isChecked))
  } catch (error) {
    if (!(error instanceof ProvisioningError) || error.code !== 'unavailable') throw error
    // The form works without a preview.
    if (!isChecked) return { preview: sketched(template, addressIn(inquiry, template, ''), {}), faults: texts.faults }
    const unchecked = await previewNames(inquiry, template, values, { isChecked: false })
    return { ...unchecked, preview: { ...unchecked.preview, status: 'silent' } }
  }
}

/** The texts of a form that its names can contain. */
interface FormTexts {
  readonly typed: { readonly displayName: string; readonly address: string }
  readonly facts: NameFacts
  readonly domain: string | undefined
  readonly faults: readonly Fault[]
}

function textsIn({ ports }: RequestInquiry, template: Template, values: FormValues): FormTexts {
  const { body } = withProperties(template.properties, bodyOfForm(template, values).body)
  const isMailbox = isMailboxKind(template.kind)
  const text = (field: string): string | undefined =>
    typeof body[field] === 'string' && body[field] !== '' ? body[field].trim() : undefined
  const typed = { displayName: text('displayName') ?? '', address: text(isMailbox ? 'name' : 'alias') ?? '' }
  const shape = isMailbox
    ? mailboxRequest.pick({ displayName: true, name: true, domain: true }).strip()
    : siteRequest.pick({ displayName: true, alias: true }).strip()
  const parsed = shape.safeParse(body)
  const faults = parsed.success ? [] : faultsOf(parsed.error, body).map((one) => withName(one, body['name']))
  const metadata = Object.fromEntries(
    Object.entries(typeof body['metadata'] === 'object' ? { ...body['metadata'] } : {}).map(([key, value]) => [
      key,
      metadataText(value),
    ]),
  )
  return {
    typed,
    facts: {
      metadata: answersOf(template.fields, metadata, ports.clock.now()).metadata,
      department: text('department'),
      city: text('city'),
      country: text('country'),
      companyName: text('companyName'),
      officeLocation: text('officeLocation'),
    },
    domain: text('domain')?.toLowerCase(),
    // Inputs that are still empty are no faults yet.
    faults: faults.filter(({ code }) => code !== 'required'),
  }
}

async function previewed(
  inquiry: RequestInquiry,
  template: Template,
  { typed, facts, domain: typedDomain, faults: textFaults }: FormTexts,
  isChecked: boolean,
): Promise<{ preview: NamePreview; faults: readonly Fault[] }> {
  const isMailbox = isMailboxKind(template.kind)
  const domains = isMailbox ? await inquiry.ports.directory.mailDomains() : undefined
  const domain = typedDomain ?? domains?.default ?? ''
  const faults = [...textFaults]
  if (domains && !domains.accepted.includes(domain)) faults.push(domainFault('/domain', domains))
  const withDomain = addressIn(inquiry, template, domain)
  const isDerived = !isMailbox || !asksForAddress(template)
  const isTyped = typed.address !== '' || (typed.displayName !== '' && isDerived)
  const needed = neededAddress(template, typed.displayName, typed.address)
  const hasAddress = isTyped || !names(addressRule(template.naming, template.kind).pattern, 'input')
  // The form shows the missing address when the person checks the name.
  if (isChecked) faults.push(...needed, ...emptyName(template, typed))
  if (!hasAddress || needed.length > 0 || faults.length > 0)
    return {
      preview: sketched(template, withDomain, await tokenValues(inquiry, template, facts)),
      faults,
    }
  const unchecked: AvailabilityOf = async () => 'free'
  const { naming } = template
  const availabilityOf = isMailbox ? mailboxNameFree(inquiry, domain, naming) : siteNameFree(inquiry, naming)
  const named = await namesFor(inquiry, template, typed, facts, isChecked ? availabilityOf : unchecked, withDomain)
  const preview = previewOf(template, named, typed.displayName, withDomain, isChecked)
  return { preview, faults: named.faults }
}

/** Returns the fault of a form without the text from which the address is derived, if the pattern needs one. */
function emptyName(template: Template, { displayName, address }: FormTexts['typed']): Fault[] {
  if (address !== '' || !names(addressRule(template.naming, template.kind).pattern, 'input')) return []
  if (isMailboxKind(template.kind) && asksForAddress(template)) return [missing('name')]
  return displayName === '' ? [missing('displayName')] : []
}

const missing = (field: string): Fault => fault(`/${field}`, 'required', because('fieldRequired', { field }))

/** Returns the fault of a form without an address if the name has no letter for one. The API derives one from the id. */
export function neededAddress(template: Template, displayName: string, address: string): Fault[] {
  const isDerivable = displayName.trim() === '' || slug(displayName) !== ''
  if (isMailboxKind(template.kind) || isDerivable || address.trim() !== '' || !asksForAddress(template)) return []
  return [fault('/alias', 'required', because('addressNeeded'))]
}

function previewOf(
  template: Template,
  named: Named,
  typed: string,
  addressOf: (name: string) => string,
  isChecked: boolean,
): NamePreview {
  const [taken] = named.passedOver
  return {
    displayName: typed === '' || named.displayName === typed ? '' : named.displayName,
    address: addressOf(named.name),
    taken: taken && addressOf(taken),
    status: isChecked ? 'free' : 'likely',
    isNumbered: isNumbered(template),
  }
}

const isNumbered = ({ naming, kind }: Template): boolean => names(addressRule(naming, kind).pattern, 'counter')

/** Returns the address for a name: the URL of a site, or the mail address of a mailbox. */
const addressIn =
  ({ ports }: RequestInquiry, { kind }: Template, domain: string) =>
  (name: string): string => {
    if (!isMailboxKind(kind)) return `${ports.tenant.siteRoot}${name}`
    return domain === '' ? name : `${name}@${domain}`
  }

function sketched(template: Template, addressOf: (name: string) => string, values: TokenValues): NamePreview {
  const { naming, kind } = template
  const unknown = (token: string) => (token === 'input' ? unknownPart : `{${token}}`)
  const address = sketch(addressRule(naming, kind).pattern, values, 'address', slug, unknown)
  const { pattern } = displayNameRule(naming)
  const isPlain = tokensOf(pattern).length === 1 && pattern === '{input}'
  const displayName = isPlain ? '' : sketch(pattern, values, 'displayName', (text) => text, unknown)
  return { displayName, address: addressOf(address), status: 'sketch', isNumbered: isNumbered(template) }
}
