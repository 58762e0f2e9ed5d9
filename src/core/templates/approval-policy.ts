import { z } from 'zod'
import { applies, type MailboxField, mailboxFields } from '../resources/index.ts'
import { because, countryCode, isMailboxKind, issueOf, type PlacedReason, type ResourceKind } from '../shared/index.ts'

const field = z.string().min(1).max(100)
const value = z.union([z.string().max(1024), z.number(), z.boolean()])
const values = z.array(value).min(1).max(50)

/**
 * A condition of a stage. `field` is the API's name of a field (`capacity`, `labelId`, `metadata.seats`); for a list,
 * `above` and `below` count its entries. `externalOwners`: an owner is a guest or from another domain.
 */
export const condition = z.union([
  z.strictObject({ field, above: z.number() }),
  z.strictObject({ field, below: z.number() }),
  z.strictObject({ field, oneOf: values }),
  z.strictObject({ field, noneOf: values }),
  z.strictObject({ field, given: z.boolean() }),
  z.strictObject({ externalOwners: z.literal(true) }),
])
export type Condition = z.output<typeof condition>

/** A condition with its result at the submission of the request. `found`: the value, shortened. */
export const judgedCondition = z.object({
  condition,
  found: z.string(),
  holds: z.boolean(),
  usual: z.literal(true).optional().describe('The request has no value, so the default of the tenant was checked'),
})
export type JudgedCondition = z.output<typeof judgedCondition>

/** The details of a request, and the names of its owners from outside the organisation. */
export interface Facts {
  readonly details: Readonly<Record<string, unknown>>
  /** The details with the tenant's defaults for missing values; absent: equal to `details`. */
  readonly effective?: Readonly<Record<string, unknown>>
  readonly externalOwners: readonly string[]
}

/** The maximum length of `found`, in characters. */
const longestFound = 100

/**
 * Checks one condition. A text that is no number counts as above and below every number, so that nobody can avoid an
 * approval with the text `many`. A value that the request does not contain is the tenant's default. Without a default
 * the value is neither above nor below a number, and not in a list. `given` considers only the request.
 */
export function judge(one: Condition, facts: Facts): JudgedCondition {
  if ('externalOwners' in one) {
    const { externalOwners: names } = facts
    return { condition: one, found: names.join(', ').slice(0, longestFound), holds: names.length > 0 }
  }
  const named = valueAt(facts.details, one.field)
  if ('given' in one)
    return { condition: one, found: inShort(named), holds: (amount(named) !== undefined) === one.given }
  const value = valueAt(facts.effective ?? facts.details, one.field)
  const isUsual = isAbsent(named) && !isAbsent(value)
  return { condition: one, found: inShort(value), holds: holds(one, value), ...(isUsual && { usual: true }) }
}

const isAbsent = (value: unknown): boolean => value === undefined || value === null || value === ''

function holds(one: Exclude<Condition, { externalOwners: true } | { given: boolean }>, value: unknown): boolean {
  const form = one.field === 'country' ? sameCountry : same
  if ('oneOf' in one) return isAmong(value, one.oneOf, form)
  if ('noneOf' in one) return !isAmong(value, one.noneOf, form)
  // An empty list has no entries, which is below every number above 0.
  const number = typeof value === 'object' && value !== null ? (amount(value) ?? 0) : amount(value)
  if (number === undefined) return false
  if (Number.isNaN(number)) return true
  return 'above' in one ? number > one.above : number < one.below
}

/** Returns a field of the details by its name. A metadata key may contain dots. */
function valueAt(details: Readonly<Record<string, unknown>>, name: string): unknown {
  const [first = '', ...rest] = name.split('.')
  const outer = Object.hasOwn(details, first) ? details[first] : undefined
  if (rest.length === 0) return outer
  const key = rest.join('.')
  return typeof outer === 'object' && outer !== null && Object.hasOwn(outer, key) ? Reflect.get(outer, key) : undefined
}

/** Returns a value as a number: for a list, the number of entries. NaN if it is no number, undefined if it is empty. */
function amount(value: unknown): number | undefined {
  if (value === undefined || value === null || value === '') return undefined
  if (typeof value === 'object') {
    const count = Array.isArray(value) ? value.length : Object.values(value).filter((one) => one !== 'None').length
    return count === 0 ? undefined : count
  }
  if (typeof value === 'boolean') return Number.NaN
  const text = String(value).trim()
  if (text === '') return undefined
  return /^[+-]?\d+(\.\d+)?$/.test(text) ? Number(text) : Number.NaN
}

/** Prepares a text for a comparison without upper and lower case. */
const same = (text: unknown): string => String(text).normalize('NFKC').trim().toLowerCase()
/** Prepares a country for a comparison: nobody avoids an approval with its name in another language. */
const sameCountry = (text: unknown): string => countryCode(String(text)) ?? same(text)
function isAmong(value: unknown, some: readonly unknown[], form = same): boolean {
  if (value === undefined || value === null) return false
  const mine = typeof value === 'object' ? (Array.isArray(value) ? value : Object.keys(value)) : [value]
  return mine.some((one) => some.some((other) => form(other) === form(one)))
}

function inShort(value: unknown): string {
  if (value === undefined || value === null) return ''
  const text = typeof value === 'object' ? String(amount(value) ?? 0) : String(value)
  return text.slice(0, longestFound)
}

type FieldType = 'number' | 'list' | 'boolean' | 'text'
const siteFieldTypes: Readonly<Record<string, FieldType>> = {
  displayName: 'text',
  description: 'text',
  alias: 'text',
  owners: 'list',
  labelId: 'text',
}
const mailboxFieldTypes: Partial<Record<MailboxField, FieldType>> = {
  capacity: 'number',
  permissions: 'list',
  businessPhones: 'list',
  tags: 'list',
  isAllowAutomaticReplyOverride: 'boolean',
  isWheelChairAccessible: 'boolean',
  hideFromGAL: 'boolean',
  autoMapping: 'boolean',
}
const ofRooms = ['hasConferencePhone', 'hasWhiteboard', 'hasVideoConferencing'].map(
  (one) => `roomMailboxMetadata.${one}`,
)
/** Fields that are not part of the details or that contain other fields. */
const noValues: readonly MailboxField[] = ['templateId', 'reason', 'metadata', 'roomMailboxMetadata']

/** Returns the fields of a kind that conditions may name, without metadata, and their types. */
export function fieldTypes(kind: ResourceKind): Readonly<Record<string, FieldType>> {
  if (!isMailboxKind(kind)) return siteFieldTypes
  const names = mailboxFields.filter((name) => !noValues.includes(name) && applies(name, kind))
  const rooms = kind === 'roomMailbox' ? ofRooms.map((name) => [name, 'boolean'] as const) : []
  return Object.fromEntries([...names.map((name) => [name, mailboxFieldTypes[name] ?? 'text'] as const), ...rooms])
}
const builtInMetadata: Partial<Record<ResourceKind, readonly string[]>> = {
  roomMailbox: ['seats'],
  equipmentMailbox: ['equipmentType'],
}

/** The parts of a template that conditions refer to. */
export interface ConditionScope {
  readonly kind: ResourceKind
  readonly fields: readonly { key: string; type: string; choices: readonly { value: string }[] }[]
  readonly labels: { readonly allowed: readonly { id: string }[] }
}

/** Returns why a condition is invalid for this template, with the invalid part; undefined if it is valid. */
export function conditionFault(one: Condition, scope: ConditionScope): PlacedReason | undefined {
  if ('externalOwners' in one) return undefined
  const { kind, fields, labels } = scope
  const key = one.field.startsWith('metadata.') ? one.field.slice('metadata.'.length) : undefined
  const own = fields.find((known) => known.key === key)
  const known = fieldTypes(kind)
  const isBuiltIn = key !== undefined && (builtInMetadata[kind] ?? []).includes(key)
  const type = Object.hasOwn(known, one.field) ? known[one.field] : undefined
  if (!own && !isBuiltIn && type === undefined)
    return { path: ['field'], reason: because('conditionFieldUnknown', { field: one.field, kind }) }
  const counts = 'above' in one ? 'above' : 'below' in one ? 'below' : undefined
  const isCountable = own ? own.type === 'number' || own.type === 'text' : type !== 'text' && type !== 'boolean'
  if (counts && !isCountable) return { path: [counts], reason: because('conditionCountsNothing', { field: one.field }) }
  const allowed = one.field === 'labelId' ? labels.allowed.map(({ id }) => id) : own?.choices.map((each) => each.value)
  const some = 'oneOf' in one ? one.oneOf : 'noneOf' in one ? one.noneOf : []
  const index = some.findIndex((each) => !isAmong(each, allowed ?? some))
  const isChecked = one.field === 'labelId' || own?.type === 'choice'
  if (!isChecked || index === -1) return undefined
  const reason = because('conditionChoiceUnknown', { value: String(some[index]), field: one.field })
  return { path: ['oneOf' in one ? 'oneOf' : 'noneOf', index], reason }
}

/** An id in lower case, so that ids can be compared. */
const id = z.uuid().toLowerCase()

/**
 * The approvers of a stage: a person, the members of a group (and of nested groups), the requester's manager, or a
 * group's owners.
 */
export const approver = z.union([
  z.strictObject({ user: id }),
  z.strictObject({ group: id }),
  z.strictObject({ manager: z.literal(true) }),
  z.strictObject({ ownersOf: id }),
])
export type Approver = z.output<typeof approver>

/** At most a year. Fractions of an hour are for tests. */
const hours = z
  .number()
  .min(0)
  .max(365 * 24)

export const stagePolicy = z
  .strictObject({
    approvers: z.array(approver).min(1).max(20).describe('The approvers'),
    rule: z.enum(['any', 'all', 'quorum']).default('any').describe('How many of the approvers must approve'),
    quorum: z.int().min(1).max(20).optional().describe('The number of approvals if the rule is quorum'),
    when: z
      .array(condition)
      .min(1)
      .max(10)
      .optional()
      .describe('The stage is skipped unless all of these conditions hold'),
    selfApproval: z.boolean().optional().describe('Whether a requester who is an approver may decide'),
    remindAfterHours: hours
      .optional()
      .describe('Hours without a decision until a reminder; 0 = never. Absent: the setting of the service'),
    escalateAfterHours: hours
      .optional()
      .describe(
        'Hours without a decision until the backup approvers are asked; 0 = never. Absent: the setting of the service',
      ),
    backup: z
      .array(approver)
      .min(1)
      .max(20)
      .optional()
      .describe('The approvers who are asked then, or if an approver cannot be notified. Absent: their managers'),
  })
  .refine((stage) => stage.rule !== 'quorum' || stage.quorum !== undefined, {
    ...issueOf('quorumNumberMissing'),
    path: ['quorum'],
  })
export type StagePolicy = z.output<typeof stagePolicy>
export const approvalPolicy = z.strictObject({
  stages: z.array(stagePolicy).min(1).max(5).describe('The stages in their order'),
  differentPeople: z.boolean().optional().describe('Whether a person who approved a stage cannot decide a later one'),
  expiresAfterDays: z
    .number()
    .positive()
    .max(365)
    .optional()
    .describe('Days after which a stage without a decision ends the request. Absent: the setting of the service'),
})
export type ApprovalPolicy = z.output<typeof approvalPolicy>

/**
 * Whether each stage can have its approvals by people who approved no other stage. Stages with a group, owners or a manager have
 * people who are not known here, so they count as possible.
 */
export function canBeDifferent(stages: readonly StagePolicy[]): boolean {
  const parts = stages.flatMap(({ approvers, rule, quorum }) => {
    const people = [...new Set(approvers.flatMap((one) => ('user' in one ? [one.user] : [])))]
    if (approvers.some((one) => !('user' in one))) return []
    const count = rule === 'any' ? 1 : rule === 'all' ? people.length : Math.min(quorum ?? 1, people.length)
    return Array.from({ length: count }, () => people)
  })
  // Each needed approval gets a person of its own (augmenting paths, as in a bipartite matching).
  const takenBy = new Map<string, number>()
  const place = (part: number, tried: Set<string>): boolean =>
    (parts[part] ?? []).some((id) => {
      if (tried.has(id)) return false
      tried.add(id)
      const holder = takenBy.get(id)
      if (holder !== undefined && !place(holder, tried)) return false
      takenBy.set(id, part)
      return true
    })
  return parts.every((_, part) => place(part, new Set()))
}

/** Returns the maximum number of approvers of a stage; undefined if the stage has groups. */
export function maxPeople({ approvers }: Pick<StagePolicy, 'approvers'>): number | undefined {
  if (approvers.some((one) => 'group' in one || 'ownersOf' in one)) return undefined
  return new Set(approvers.map((one) => JSON.stringify(one))).size
}
