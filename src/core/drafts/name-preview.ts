import {
  asksForAddress,
  mailboxNameFree,
  type Named,
  type NameFacts,
  namesFor,
  type StandingOf,
  siteNameFree,
  slug,
  tokenValues,
} from '../naming/index.ts'
import { domainFault, type RequestInquiry, withName } from '../requests/index.ts'
import { mailboxRequest, siteRequest } from '../resources/index.ts'
import { asking, type Fault, faultsOf, isMailboxKind, ProvisioningError } from '../shared/index.ts'
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

/** What a form tells of the names that will come out of it. */
export interface NamePreview {
  /** What people will see; `''` where nothing is typed yet, or where it is what is typed. */
  readonly displayName: string
  /** A site's URL or a mailbox's address. What nobody knows yet stands in it as {@link unknownPart}, or as `{token}`. */
  readonly address: string
  /**
   * `sketch`: nothing is typed to make an address of. `likely`: nobody has looked whether it is free. `silent`: the
   * directory did not answer. Of one that is taken a fault tells, since it has to be changed.
   */
  readonly stands: 'sketch' | 'likely' | 'free' | 'silent'
  /** Its number is counted, and given only when the request is sent. */
  readonly isNumbered: boolean
}

/** Stands in a sketch for what the person will type. */
const unknownPart = '…'

/** Previews the names of a form. `isChecked`: whether the tenant is asked if they are free. Writes nothing. */
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
    return { ...unchecked, preview: { ...unchecked.preview, stands: 'silent' } }
  }
}

/** What a form says of its names, and what a name can be made of. */
interface FormTexts {
  readonly typed: { readonly displayName: string; readonly address: string }
  readonly telling: NameFacts
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
  const today = ports.clock.now().toISOString().slice(0, 10)
  const metadata = Object.fromEntries(
    Object.entries(typeof body['metadata'] === 'object' ? { ...body['metadata'] } : {}).map(([key, value]) => [
      key,
      String(value),
    ]),
  )
  return {
    typed,
    telling: {
      metadata: answersOf(template.fields, metadata, today).metadata,
      department: text('department'),
      city: text('city'),
      country: text('country'),
      companyName: text('companyName'),
      officeLocation: text('officeLocation'),
    },
    domain: text('domain')?.toLowerCase(),
    // What is still to be filled in is no mistake yet.
    faults: faults.filter(({ code }) => code !== 'required'),
  }
}

async function previewed(
  inquiry: RequestInquiry,
  template: Template,
  { typed, telling, domain: typedDomain, faults: wrong }: FormTexts,
  isChecked: boolean,
): Promise<{ preview: NamePreview; faults: readonly Fault[] }> {
  const isMailbox = isMailboxKind(template.kind)
  const domains = isMailbox ? await inquiry.ports.directory.mailDomains() : undefined
  const domain = typedDomain ?? domains?.default ?? ''
  const faults = [...wrong]
  if (domains && !domains.accepted.includes(domain)) faults.push(domainFault('/domain', domains))
  const shown = addressIn(inquiry, template, domain)
  const isDerived = !isMailbox || !asksForAddress(template)
  const isTyped = typed.address !== '' || (typed.displayName !== '' && isDerived)
  const isMade = isTyped || !names(addressRule(template.naming, template.kind).pattern, 'input')
  if (!isMade || faults.length > 0)
    return {
      preview: sketched(template, shown, await tokenValues(inquiry, template, telling)),
      faults,
    }
  const anything: StandingOf = async () => 'free'
  const { naming } = template
  const standingOf = isMailbox ? mailboxNameFree(inquiry, domain, naming) : siteNameFree(inquiry, naming)
  const made = await namesFor(inquiry, template, typed, telling, isChecked ? standingOf : anything, shown)
  return { preview: previewOf(template, made, typed.displayName, shown(made.name), isChecked), faults: made.faults }
}

function previewOf(template: Template, made: Named, typed: string, address: string, isChecked: boolean): NamePreview {
  return {
    displayName: typed === '' || made.displayName === typed ? '' : made.displayName,
    address,
    stands: isChecked ? 'free' : 'likely',
    isNumbered: isNumbered(template),
  }
}

const isNumbered = ({ naming, kind }: Template): boolean => names(addressRule(naming, kind).pattern, 'counter')

/** The address with a name: the URL of a site, or the mail address of a mailbox. */
const addressIn =
  ({ ports }: RequestInquiry, { kind }: Template, domain: string) =>
  (name: string): string => {
    if (!isMailboxKind(kind)) return `${ports.tenant.siteRoot}${name}`
    return domain === '' ? name : `${name}@${domain}`
  }

function sketched(template: Template, shown: (name: string) => string, values: TokenValues): NamePreview {
  const { naming, kind } = template
  const unknown = (token: string) => (token === 'input' ? unknownPart : `{${token}}`)
  const address = sketch(addressRule(naming, kind).pattern, values, 'address', slug, unknown)
  const { pattern } = displayNameRule(naming)
  const isPlain = tokensOf(pattern).length === 1 && pattern === '{input}'
  const displayName = isPlain ? '' : sketch(pattern, values, 'displayName', (text) => text, unknown)
  return { displayName, address: shown(address), stands: 'sketch', isNumbered: isNumbered(template) }
}
