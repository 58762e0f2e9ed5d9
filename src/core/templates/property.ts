import { z } from 'zod'
import { applies, isSeatCount, isStatusValue, mailboxRequest, siteRequest } from '../resources/index.ts'
import {
  because,
  countryCode,
  type Fault,
  fault,
  isMailboxKind,
  isRecord,
  metadata,
  type PlacedReason,
  pointerOf,
  type ResourceKind,
} from '../shared/index.ts'

const value = z.union([z.string().max(2000), z.number(), z.boolean(), z.array(z.string().max(100)).max(20)])
export type PropertyValue = z.output<typeof value>

/** A template's rule for one field of the API. */
export const propertyRule = z.strictObject({
  shown: z.boolean().default(true).describe('Whether the form shows the field; the API always accepts it'),
  required: z.boolean().default(false).describe('Whether a request must contain a value'),
  default: value.optional().describe('The value in a new form, and of a request without a value'),
  fixed: value.optional().describe('The only allowed value: a request may omit it or contain the same value'),
})
/** Rules by the names of inputs: `city`, `roomMailboxMetadata.hasWhiteboard`, `permissions.SendAs`. */
export const propertyRules = z.record(z.string().max(64), propertyRule)
export type PropertyRules = z.output<typeof propertyRules>

/** Fields that every request needs, or that another part of the template controls. */
const elsewhere = ['displayName', 'templateId', 'reason', 'metadata', 'permissions', 'roomMailboxMetadata', 'labelId']
const ofSites = Object.keys(siteRequest.shape).filter((field) => !elsewhere.includes(field))
const ofMailboxes = [
  ...Object.keys(mailboxRequest.shape).filter((field) => !elsewhere.includes(field)),
  ...Object.keys(mailboxRequest.shape.roomMailboxMetadata.unwrap().shape).map((key) => `roomMailboxMetadata.${key}`),
  'permissions.FullAccess',
  'permissions.SendAs',
  'metadata.seats',
  'metadata.equipmentType',
]

/** Returns the properties of a kind for which a template can have rules. */
export function propertiesOf(kind: ResourceKind): string[] {
  if (!isMailboxKind(kind)) return ofSites
  return ofMailboxes.filter((id) =>
    id === 'metadata.seats'
      ? kind === 'roomMailbox'
      : applies(id.startsWith('metadata.') ? id.replace('.', '/') : (id.split('.')[0] ?? id), kind),
  )
}

/** Properties that cannot have a default or a fixed value. */
const withoutValue = ['name', 'alias', 'permissions.FullAccess', 'permissions.SendAs']

/** Returns the faults of a template's rules, each with its path. */
export function propertyFaults(rules: PropertyRules, kind: ResourceKind): PlacedReason[] {
  return Object.entries(rules).flatMap(([id, rule]) => {
    if (!propertiesOf(kind).includes(id))
      return [{ path: [id], reason: because('propertyUnknown', { known: propertiesOf(kind) }) }]
    const values = Object.entries({ default: rule.default, fixed: rule.fixed }).flatMap(([at, one]) =>
      one === undefined ? [] : [[at, one] as const],
    )
    const faults = values.flatMap(([at, one]) => {
      if (withoutValue.includes(id)) return [{ path: [id, at], reason: because('propertyWithoutValue') }]
      if (id === 'state' && isStatusValue(String(one)))
        return [{ path: [id, at], reason: because('stateIsCondition', { state: String(one) }) }]
      return takes(id, kind, one) ? [] : [{ path: [id, at], reason: because('propertyValueWrong') }]
    })
    if (values.length > 1) faults.push({ path: [id, 'default'], reason: because('defaultBesideFixed') })
    if (!rule.shown && rule.required && values.length === 0)
      faults.push({ path: [id, 'required'], reason: because('propertyHidden') })
    if (id === 'name' && rule.required)
      faults.push({ path: [id, 'required'], reason: because('propertyRequiredAnyway') })
    return faults
  })
}

function takes(id: string, kind: ResourceKind, one: PropertyValue): boolean {
  const [field = '', key] = id.split('.')
  if (id === 'metadata.seats') return isSeatCount(one)
  if (field === 'metadata') return typeof one !== 'boolean' && metadata.safeParse({ [id]: one }).success
  if (field === 'country') return countryCode(String(one)) !== undefined
  const shapes = isMailboxKind(kind) ? mailboxRequest.shape : siteRequest.shape
  const schema: z.ZodType =
    field === 'roomMailboxMetadata' ? mailboxRequest.shape.roomMailboxMetadata : Reflect.get(shapes, field)
  return schema.safeParse(key === undefined ? one : { [key]: one }).success
}

/** A value that a template set in a request: a default or the maximum for a missing value, or a fixed value. */
export const applied = z.strictObject({
  field: z.string(),
  value,
  why: z.enum(['default', 'fixed', 'maximum']),
})
export type Applied = z.output<typeof applied>

/** Applies a template's rules to a body. Returns the new body, the values that the template set, and the faults. */
export function withProperties(rules: PropertyRules, body: Readonly<Record<string, unknown>>) {
  const filled: Record<string, unknown> = { ...body }
  const appliedValues: Applied[] = []
  const faults: Fault[] = []
  for (const [id, rule] of Object.entries(rules)) {
    const value = valueAt(filled, id)
    const isEmpty = value === undefined || value === '' || (Array.isArray(value) && value.length === 0)
    const pointer = pointerOf(id.split('.'))
    // An empty value counts as cleared: no default applies, and no type is checked.
    if (value === '') dropAt(filled, id)
    if (rule.fixed !== undefined) {
      if (!isEmpty && !isSame(id, value, rule.fixed)) {
        const always = String(rule.fixed)
        faults.push(fault(pointer, 'fixed', because('fieldFixed', { field: id, value: always }), always))
      }
      setAt(filled, id, rule.fixed)
      appliedValues.push({ field: id, value: rule.fixed, why: 'fixed' })
    } else if (value === undefined && rule.default !== undefined) {
      setAt(filled, id, rule.default)
      appliedValues.push({ field: id, value: rule.default, why: 'default' })
    } else if (isEmpty && rule.required)
      faults.push(fault(pointer, 'required', because('fieldRequired', { field: id })))
  }
  return { body: filled, applied: appliedValues, faults }
}

/** Returns a value by the name of its input; for `permissions.SendAs`, the people with that access. */
function valueAt(body: Readonly<Record<string, unknown>>, id: string): unknown {
  const [field = '', key] = id.split('.')
  const outer = Object.hasOwn(body, field) ? body[field] : undefined
  if (key === undefined) return outer
  if (!isRecord(outer)) return undefined
  if (field === 'permissions') return Object.keys(outer).filter((person) => outer[person] === key)
  return Object.hasOwn(outer, key) ? outer[key] : undefined
}

function setAt(body: Record<string, unknown>, id: string, value: PropertyValue): void {
  const [field = '', key] = id.split('.')
  const outer = body[field]
  // The schema refuses a value that is no object, so it stays unchanged here.
  if (key !== undefined && outer !== undefined && !isRecord(outer)) return
  body[field] = key === undefined ? value : { ...(isRecord(outer) && outer), [key]: value }
}

function dropAt(body: Record<string, unknown>, id: string): void {
  const [field = '', key] = id.split('.')
  const outer = body[field]
  if (key === undefined) delete body[field]
  else if (isRecord(outer)) body[field] = Object.fromEntries(Object.entries(outer).filter(([name]) => name !== key))
}

/** Compares without case, and lists without order; a country by its code. */
const isSame = (id: string, value: unknown, fixed: PropertyValue): boolean =>
  (id === 'country' && countryCode(String(value)) === countryCode(String(fixed))) || inOrder(value) === inOrder(fixed)

const inOrder = (value: unknown): string =>
  Array.isArray(value) ? `[${value.map(inLowerCase).sort().join()}]` : inLowerCase(value)
const inLowerCase = (value: unknown): string => JSON.stringify(value).toLowerCase()
