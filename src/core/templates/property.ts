import { z } from 'zod'
import { applies, isSeatCount, mailboxRequest, siteRequest } from '../resources/index.ts'
import {
  because,
  countryCode,
  type Fault,
  fault,
  isMailboxKind,
  metadata,
  type PlacedReason,
  pointerOf,
  type ResourceKind,
} from '../shared/index.ts'

const value = z.union([z.string().max(2000), z.number(), z.boolean(), z.array(z.string().max(100)).max(20)])
export type PropertyValue = z.output<typeof value>

/** What a template decides about one field of the API document. */
export const propertyRule = z.strictObject({
  shown: z.boolean().default(true).describe('Whether the form asks for it; the API takes it in any case'),
  required: z.boolean().default(false).describe('Whether a request must say it'),
  default: value.optional().describe('What stands in the form at first, and counts when a request says nothing'),
  fixed: value.optional().describe('What it always is: a request may leave it out, and may say nothing else'),
})
/** By the names that inputs have: `city`, `roomMailboxMetadata.hasWhiteboard`, `permissions.SendAs`. */
export const propertyRules = z.record(z.string().max(64), propertyRule)
export type PropertyRules = z.output<typeof propertyRules>

/** Fields that every request needs, or that a template decides about elsewhere. */
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

/** The properties of a kind that a template can decide about. */
export function propertiesOf(kind: ResourceKind): string[] {
  if (!isMailboxKind(kind)) return ofSites
  return ofMailboxes.filter((id) =>
    id === 'metadata.seats'
      ? kind === 'roomMailbox'
      : applies(id.startsWith('metadata.') ? id.replace('.', '/') : (id.split('.')[0] ?? id), kind),
  )
}

/** Those that are people's to fill in on the form, if it asks for them at all. */
const withoutValue = ['name', 'alias', 'permissions.FullAccess', 'permissions.SendAs']

/** What is wrong with the rules of a template, each at its place in them. */
export function propertyFaults(rules: PropertyRules, kind: ResourceKind): PlacedReason[] {
  return Object.entries(rules).flatMap(([id, rule]) => {
    if (!propertiesOf(kind).includes(id))
      return [{ path: [id], reason: because('propertyUnknown', { known: propertiesOf(kind) }) }]
    const values = Object.entries({ default: rule.default, fixed: rule.fixed }).flatMap(([at, one]) =>
      one === undefined ? [] : [[at, one] as const],
    )
    const faults = values.flatMap(([at, one]) => {
      if (withoutValue.includes(id)) return [{ path: [id, at], reason: because('propertyWithoutValue') }]
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

/** What a template put into a request: a default or its maximum where nothing was said, or what it always is. */
export const applied = z.strictObject({
  field: z.string(),
  value,
  why: z.enum(['default', 'fixed', 'maximum']),
})
export type Applied = z.output<typeof applied>

/** A body as its template has it, what the template put there, and what it finds wrong. */
export function withProperties(rules: PropertyRules, body: Readonly<Record<string, unknown>>) {
  const filled: Record<string, unknown> = { ...body }
  const put: Applied[] = []
  const faults: Fault[] = []
  for (const [id, rule] of Object.entries(rules)) {
    const value = valueAt(filled, id)
    const isEmpty = value === undefined || value === '' || (Array.isArray(value) && value.length === 0)
    const pointer = pointerOf(id.split('.'))
    // Nothing is said so: no default comes back, and no number is expected.
    if (value === '') dropAt(filled, id)
    if (rule.fixed !== undefined) {
      if (!isEmpty && !isSame(value, rule.fixed)) {
        const always = String(rule.fixed)
        faults.push(fault(pointer, 'fixed', because('fieldFixed', { field: id, value: always }), always))
      }
      setAt(filled, id, rule.fixed)
      put.push({ field: id, value: rule.fixed, why: 'fixed' })
    } else if (value === undefined && rule.default !== undefined) {
      setAt(filled, id, rule.default)
      put.push({ field: id, value: rule.default, why: 'default' })
    } else if (isEmpty && rule.required)
      faults.push(fault(pointer, 'required', because('fieldRequired', { field: id })))
  }
  return { body: filled, applied: put, faults }
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** `permissions.SendAs`: the people who have that access, if there are any. */
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
  // What is no object is refused by the schema; nothing is put in its place.
  if (key !== undefined && outer !== undefined && !isRecord(outer)) return
  body[field] = key === undefined ? value : { ...(isRecord(outer) && outer), [key]: value }
}

function dropAt(body: Record<string, unknown>, id: string): void {
  const [field = '', key] = id.split('.')
  const outer = body[field]
  if (key === undefined) delete body[field]
  else if (isRecord(outer)) body[field] = Object.fromEntries(Object.entries(outer).filter(([name]) => name !== key))
}

const isSame = (value: unknown, fixed: PropertyValue): boolean =>
  JSON.stringify(value).toLowerCase() === JSON.stringify(fixed).toLowerCase()
