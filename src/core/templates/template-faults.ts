import { isSeatCount } from '../resources/index.ts'
import { addReasons, because, isMailboxKind, type PlacedReason } from '../shared/index.ts'
import { canBeDifferent, conditionFault, maxPeople } from './approval-policy.ts'
import { designFaults, type TemplateField } from './field.ts'
import { inLocale, translationFaults } from './localised.ts'
import { namingFaults } from './naming-policy.ts'
import { type PropertyRules, propertiesOf, propertyFaults } from './property.ts'
import { type Template, template } from './template.ts'
import { webhookSubscription, webhookTargetFault } from './webhook.ts'

/**
 * The schema of a template to write: the settings allow its webhook's address, and its policies have no contradictions.
 */
export const templateWithin = (allowCidrs: readonly string[]) =>
  template
    .extend({ webhook: webhookSubscription.nullable().default(null) })
    .superRefine(({ webhook }, context) => {
      const reason = webhook ? webhookTargetFault(webhook.url, allowCidrs) : undefined
      if (reason) addReasons(context, [{ path: ['webhook', 'url'], reason }])
    })
    .superRefine((written, context) => addReasons(context, policyFaults(written)))

/** Returns the contradictions in a template, each with its path. */
function policyFaults(written: Template): PlacedReason[] {
  const at = (part: string | number, faults: readonly PlacedReason[]) =>
    faults.map(({ path, reason }) => ({ path: [part, ...path], reason }))
  const keys = written.fields.map(({ key }) => key)
  const ofFields = written.fields.flatMap((field, index) => at(index, designFaults(field)))
  return [
    ...stageFaults(written),
    ...differenceFaults(written),
    ...at('fields', ofFields),
    ...at('properties', propertyFaults(written.properties, written.kind)),
    ...at('naming', namingFaults(written.naming, written.kind, keys)),
    ...at('limits', limitFaults(written)),
    ...at('localised', translationFaults(written)),
    ...conflictsIn(written),
    ...sizeFaults(written),
  ]
}

/** Reports a form that is too large for a message, in the template's own texts or in a language. */
function sizeFaults(written: Template): PlacedReason[] {
  const tooLarge = (read: Template, path: string[]): PlacedReason[] => {
    const size = formSize(read)
    return size <= largestForm ? [] : [{ path, reason: because('formTooLarge', { size, most: largestForm }) }]
  }
  const own = tooLarge(written, [written.fields.length > 0 ? 'fields' : 'labels'])
  if (own.length > 0) return own
  return Object.keys(written.localised).flatMap((tag) => tooLarge(inLocale(written, tag), ['localised', tag]))
}

/** Returns the contradictions in the stages of a template. */
function stageFaults(written: Pick<Template, 'kind' | 'fields' | 'labels' | 'approval'>): PlacedReason[] {
  return (written.approval?.stages ?? []).flatMap((stage, place) => {
    const stageAt = ['approval', 'stages', place]
    const faults: PlacedReason[] = (stage.when ?? []).flatMap((one, index) => {
      const fault = conditionFault(one, written)
      return fault ? [{ path: [...stageAt, 'when', index, ...fault.path], reason: fault.reason }] : []
    })
    const most = maxPeople(stage)
    const atQuorum = { path: [...stageAt, 'quorum'] }
    if (stage.quorum !== undefined && stage.rule !== 'quorum')
      faults.push({ ...atQuorum, reason: because('quorumNumberUnused') })
    if (stage.quorum !== undefined && most !== undefined && stage.quorum > most)
      faults.push({ ...atQuorum, reason: because('quorumTooLarge', { most }) })
    return faults
  })
}

/** Reports a policy that requires different people and names too few of them. */
function differenceFaults({ approval }: Pick<Template, 'approval'>): PlacedReason[] {
  if (!approval?.differentPeople || canBeDifferent(approval.stages)) return []
  return [{ path: ['approval', 'differentPeople'], reason: because('differentPeopleTooFew') }]
}

/** Returns the limits that do not apply to the kind. */
function limitFaults({ kind, limits }: Template): PlacedReason[] {
  if (isMailboxKind(kind)) return []
  const ofMailboxes = ['capacityMaximum', 'permissionsMaximum', 'accessLevels'] as const
  return ofMailboxes
    .filter((limit) => limits[limit] !== undefined)
    .map((limit) => ({ path: [limit], reason: because('limitOfMailboxes') }))
}

/** Returns the parts that contradict each other, so that no request, or no request from the form, can be valid. */
function conflictsIn(written: Template): PlacedReason[] {
  const own = isMailboxKind(written.kind) ? ofMailbox(written) : ofSite(written)
  return [...own, ...seatFaults(written), ...equipmentFaults(written)]
}

function ofSite({ limits, properties: { owners } }: Template): PlacedReason[] {
  const conflicts: PlacedReason[] = []
  const named = owners?.fixed ?? owners?.default
  const count = Array.isArray(named) ? named.length : 0
  const isOpen = owners === undefined || (owners.shown && owners.fixed === undefined)
  // The requester is an owner too, and may already be one of the named owners.
  if (!isOpen && count + 1 < limits.ownersMinimum)
    conflicts.push({ path: ['limits', 'ownersMinimum'], reason: because('ownersHidden') })
  if (count > limits.ownersMaximum)
    conflicts.push({ path: ['properties', 'owners', partOf(owners)], reason: because('aboveLimits') })
  return conflicts
}

function ofMailbox({ limits, properties }: Template): PlacedReason[] {
  const { capacityMaximum, permissionsMaximum, accessLevels } = limits
  const { capacity } = properties
  const conflicts: PlacedReason[] = []
  if (capacityMaximum !== undefined && Number(capacity?.fixed ?? capacity?.default ?? 0) > capacityMaximum)
    conflicts.push({ path: ['properties', 'capacity', partOf(capacity)], reason: because('aboveLimits') })
  for (const level of ['FullAccess', 'SendAs'] as const) {
    const isGiven = permissionsMaximum !== 0 && (accessLevels?.includes(level) ?? true)
    const id = `permissions.${level}`
    if (!isGiven && properties[id]?.required)
      conflicts.push({ path: ['properties', id, 'required'], reason: because('accessExcluded') })
  }
  return conflicts
}

const partOf = (rule: PropertyRules[string] | undefined) => (rule?.fixed === undefined ? 'default' : 'fixed')

/** Reports a `metadata.seats` question for rooms whose answers are not numbers. Exchange requires a number. */
function seatFaults({ kind, fields }: Template): PlacedReason[] {
  const index = fields.findIndex(({ key }) => key === 'seats')
  const field = fields[index]
  if (kind !== 'roomMailbox' || !field) return []
  const isText = field.type === 'number' || field.type === 'text' || field.type === 'choice'
  const at = !isText
    ? 'key'
    : field.choices.some(({ value }) => !isSeatCount(value))
      ? 'choices'
      : field.default !== undefined && !isSeatCount(field.default)
        ? 'default'
        : undefined
  if (at === undefined) return []
  return [{ path: ['fields', index, at], reason: because('seatsForm') }]
}

function equipmentFaults({ kind, fields }: Template): PlacedReason[] {
  const index = fields.findIndex(({ key }) => key === 'equipmentType')
  if (index < 0 || !isMailboxKind(kind) || kind === 'equipmentMailbox') return []
  return [{ path: ['fields', index, 'key'], reason: because('equipmentKey') }]
}

/**
 * The maximum size of an empty form, in characters. A card allows 12,500. A larger form could not return with its
 * answers and faults, so its template is refused.
 */
export const largestForm = 10_800

/** The size of the parts of every form: the name, the reason and the buttons. */
const frame = 2550
/** The size of a built-in input with its shortest answer. */
const ofProperty = 155
const ofRequired = 50
/** The size of the inputs of a template's own questions, without their texts. */
const ofField = { text: 120, choice: 85, number: 110, date: 140, toggle: 100, person: 200 } as const
/** The size of the check and of the message of a fault. */
const ofChecked = 75
const ofChoice = 26

/** Returns the minimum size of a template's form. */
export function formSize({
  kind,
  fields,
  properties,
  labels,
}: Pick<Template, 'kind' | 'fields' | 'properties' | 'labels'>): number {
  const inputs = propertiesOf(kind).filter((id) => {
    const rule = properties[id]
    const isReplaced = fields.some(({ key }) => id === `metadata.${key}`)
    return !isReplaced && (rule === undefined || (rule.shown && rule.fixed === undefined))
  })
  const sizes = [
    frame,
    ...inputs.map((id) => ofProperty + (properties[id]?.required ? ofRequired : 0)),
    ...fields.map(sizeOfField),
    ...(isMailboxKind(kind) ? [] : labels.allowed.map(({ id, name }) => ofChoice + written(id) + written(name))),
  ]
  return sizes.reduce((sum, size) => sum + size, 0)
}

function sizeOfField({ type, key, label, pattern, required, choices, minimum, maximum }: TemplateField): number {
  const answer = Math.max(0, ...choices.map(({ value }) => written(value)))
  const isChecked = required || [pattern, minimum, maximum].some((rule) => rule !== undefined)
  const sizes = [
    ofField[type] + key.length + written(label) + answer,
    ...(isChecked ? [ofChecked] : []),
    ...(pattern === undefined ? [] : [written(pattern) + 30]),
    ...choices.map(({ title, value }) => ofChoice + written(title) + written(value)),
  ]
  return sizes.reduce((sum, size) => sum + size, 0)
}

/** Returns the length of a text in JSON, without the quotes. */
const written = (text: string): number => JSON.stringify(text).length - 2
