import { asksForAddress } from '../naming/index.ts'
import { isForMailbox, type Request } from '../requests/index.ts'
import { mailboxRequest, siteDetails } from '../resources/index.ts'
import { because, type Fault, fault, isMailboxKind, metadataText } from '../shared/index.ts'
import { addressRuleOf, type Template } from '../templates/index.ts'

export type FormValues = Readonly<Record<string, string>>
/** A request body of the API, and the faults of the form that a body cannot express. */
interface FormBody {
  readonly body: Record<string, unknown>
  readonly faults: readonly Fault[]
}

/**
 * Converts form values to a request body of the API. The inputs have the names of the API's fields. A people picker
 * contains ids joined by commas, a toggle `true` or `false`. Empty inputs are omitted, so that defaults and "required"
 * apply. The person cannot change a value that the template now hides, sets or refuses, so it is omitted too. Answers to removed
 * questions stay: a request can have them by REST too.
 */
export function bodyOfForm(template: Template, values: FormValues): FormBody {
  const { id, kind } = template
  const defaults = defaultsOf(template)
  const asked = Object.fromEntries(Object.entries(values).filter((input) => isAsked(template, input)))
  const typed = Object.entries(asked).flatMap(([input, text]) => {
    const value = text.trim()
    // A cleared input stays empty if the field has a default, so that the default does not return.
    return value === '' && !Object.hasOwn(defaults, input) ? [] : [[input, value] as const]
  })
  const body: Record<string, unknown> = { templateId: id }
  const fields = isMailboxKind(kind)
    ? typed.flatMap((input) => mailboxInput(input, defaults))
    : typed.flatMap(siteInput)
  for (const { path, value } of fields) put(body, path, value)
  // A form without an address input derives the address from the display name.
  if (!asksForAddress(template)) delete body[addressRuleOf(kind)]
  return { body, faults: isMailboxKind(kind) ? twiceChosen(asked) : [] }
}

/** Whether a template's form can show an input: the template neither hides nor sets it, and allows its level of access. */
export function asksFor({ limits, properties }: Pick<Template, 'limits' | 'properties'>, input: string): boolean {
  const rule = properties[input]
  if (rule && (!rule.shown || rule.fixed !== undefined)) return false
  if (!input.startsWith('permissions.')) return true
  const { accessLevels, permissionsMaximum } = limits
  return permissionsMaximum !== 0 && (accessLevels?.some((level) => input === `permissions.${level}`) ?? true)
}

/** Whether a template's form can request a value. A label must be one of the template's labels. */
export function isAsked(template: Template, [input, value]: Input): boolean {
  const { kind, labels } = template
  if (input !== 'labelId') return asksFor(template, input)
  return !isMailboxKind(kind) && labels.allowed.some(({ id }) => id === value.trim())
}

/** The picker with the people who can open a mailbox, and the one with the people who can send as it. */
const [opening, sending] = ['permissions.FullAccess', 'permissions.SendAs'] as const

/** Whether the form of a shared mailbox lets people choose who can open it. */
export const asksWhoOpens = (template: Pick<Template, 'kind' | 'limits' | 'properties'>): boolean =>
  template.kind === 'sharedMailbox' && asksFor(template, opening)

/** Whether the form of a shared mailbox leaves out its requester, who then cannot open the mailbox. */
export const leavesOut = (
  template: Pick<Template, 'kind' | 'limits' | 'properties'>,
  values: FormValues,
  personId: string,
): boolean => asksWhoOpens(template) && !listed((values[opening] ?? '').toLowerCase()).includes(personId)

/** Returns the values with this person among the people who can open the mailbox. The API allows one level for a person. */
export function withPerson(values: FormValues, personId: string): FormValues {
  const others = (input: string) => listed(values[input] ?? '').filter((id) => id.toLowerCase() !== personId)
  return { ...values, [opening]: [...others(opening), personId].join(','), [sending]: others(sending).join(',') }
}

/** Returns a template's default values, by input. */
export function defaultsOf({ properties, fields, labels }: Template): Record<string, string> {
  const ofProperties = Object.entries(properties).map(([input, rule]) => [input, rule.default] as const)
  const ofFields = fields.map((field) => [`metadata.${field.key}`, field.default] as const)
  const entries = [...ofProperties, ...ofFields, ['labelId', labels.default ?? undefined] as const]
  return Object.fromEntries(
    entries.flatMap(([input, value]) =>
      value === undefined ? [] : [[input, Array.isArray(value) ? joined(value) : String(value)]],
    ),
  )
}

interface Field {
  readonly path: readonly string[]
  readonly value: unknown
}
type Input = readonly [input: string, value: string]

function put(body: Record<string, unknown>, [field = '', key]: readonly string[], value: unknown): void {
  if (key === undefined) body[field] = value
  else body[field] = { ...(body[field] as object | undefined), [key]: value }
}

/**
 * Splits a list at semicolons if the text contains one, else at commas: with semicolons an entry may contain a comma.
 */
const listed = (text: string): string[] =>
  text
    .split(text.includes(';') ? ';' : /[,\n]/)
    .map((one) => one.trim())
    .filter((one) => one !== '')
/** Converts a text to a number. Any other text stays unchanged, so that the schema reports the field. */
const asNumber = (text: string): unknown => (Number.isFinite(Number(text)) ? Number(text) : text)

function siteInput([input, value]: Input): Field[] {
  if (input.startsWith('metadata.')) return [{ path: split(input), value }]
  if (input === 'owners') return [{ path: [input], value: listed(value) }]
  return Object.hasOwn(siteDetails.shape, input) ? [{ path: [input], value }] : []
}

/** Converts the inputs of a mailbox that are not plain text. */
const mailboxInputs: Readonly<Record<string, (value: string) => unknown>> = {
  capacity: asNumber,
  businessPhones: listed,
  tags: listed,
  autoMapping: (value) => value === 'true',
  hideFromGAL: ticked,
  isWheelChairAccessible: ticked,
  isAllowAutomaticReplyOverride: ticked,
  roomMailboxMetadata: ticked,
}

/** Converts a toggle; undefined if it is off. */
function ticked(value: string): true | undefined {
  return value === 'true' ? true : undefined
}

function mailboxInput([input, value]: Input, defaults: FormValues): Field[] {
  const path = split(input)
  const [field = '', key] = path
  if (!Object.hasOwn(mailboxRequest.shape, field) || field === 'templateId') return []
  if (field === 'permissions') return listed(value).map((id) => ({ path: [field, id.toLowerCase()], value: key }))
  const read = Object.hasOwn(mailboxInputs, field) ? mailboxInputs[field] : undefined
  // If the field has a default, a cleared value is sent explicitly, so that the default does not return.
  const isExplicit = value === '' || (read === ticked && Object.hasOwn(defaults, input))
  const result = isExplicit ? (read === ticked ? value === 'true' : value) : read ? read(value) : value
  return result === undefined ? [] : [{ path, value: result }]
}

/** `metadata.costCentre` → `metadata`, `costCentre`; the key itself may contain dots. */
function split(input: string): string[] {
  const at = input.indexOf('.')
  return at < 0 ? [input] : [input.slice(0, at), input.slice(at + 1)]
}

/** Reports people with two levels of access. The API allows one level for a person ("Permissions object"). */
function twiceChosen(values: FormValues): Fault[] {
  const full = new Set(listed(values['permissions.FullAccess'] ?? ''))
  return listed(values['permissions.SendAs'] ?? '')
    .filter((id) => full.has(id))
    .map((id) => fault(`/permissions/${id}`, 'chosen-twice', because('accessTwice')))
}

const joined = (entries: readonly string[]): string =>
  entries.some((entry) => entry.includes(',')) ? entries.map((entry) => `${entry};`).join(' ') : entries.join(',')

/** Returns a request as the values of its form. */
export function formOfRequest(request: Request): Record<string, string> {
  const { metadata, ...fields } = { ...request.details, displayName: request.typedName ?? request.details.displayName }
  const values: Record<string, unknown> = { ...fields, reason: request.reason }
  for (const [key, value] of Object.entries(metadata)) values[`metadata.${key}`] = metadataText(value)
  if (isForMailbox(request)) {
    const { permissions, roomMailboxMetadata = {} } = request.details
    delete values['permissions']
    delete values['roomMailboxMetadata']
    for (const level of ['FullAccess', 'SendAs'])
      values[`permissions.${level}`] = Object.keys(permissions).filter((id) => permissions[id] === level)
    for (const [key, value] of Object.entries(roomMailboxMetadata)) values[`roomMailboxMetadata.${key}`] = value
  }
  return Object.fromEntries(
    Object.entries(values).map(([input, value]) => [input, Array.isArray(value) ? joined(value) : String(value ?? '')]),
  )
}
