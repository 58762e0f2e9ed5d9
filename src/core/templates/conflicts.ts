import type { z } from 'zod'
import { isSeatCount } from '../resources/index.ts'
import { because, isMailboxKind, type PlacedReason, type ResourceKind } from '../shared/index.ts'
import type { TemplateField } from './field.ts'
import type { templateLimits } from './limits.ts'
import type { PropertyRules } from './property.ts'

interface Written {
  readonly kind: ResourceKind
  readonly limits: z.output<typeof templateLimits>
  readonly properties: PropertyRules
  readonly fields: readonly TemplateField[]
}

/** Where one part of a template contradicts another, so that no request, or none that is made by its form, could be right. */
export function conflictsIn(written: Written): PlacedReason[] {
  const own = isMailboxKind(written.kind) ? ofMailbox(written) : ofSite(written)
  return [...own, ...seatFaults(written), ...equipmentFaults(written)]
}

function ofSite({ limits, properties: { owners } }: Written): PlacedReason[] {
  const conflicts: PlacedReason[] = []
  const given = owners?.fixed ?? owners?.default
  const count = Array.isArray(given) ? given.length : 0
  const isOpen = owners === undefined || (owners.shown && owners.fixed === undefined)
  // Who asks is an owner too, and may be among those that are named.
  if (!isOpen && count + 1 < limits.ownersMinimum)
    conflicts.push({ path: ['limits', 'ownersMinimum'], reason: because('ownersHidden') })
  if (count > limits.ownersMaximum)
    conflicts.push({ path: ['properties', 'owners', partOf(owners)], reason: because('aboveLimits') })
  return conflicts
}

function ofMailbox({ limits, properties }: Written): PlacedReason[] {
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

const partOf = (rule: Written['properties'][string] | undefined) => (rule?.fixed === undefined ? 'default' : 'fixed')

/** `metadata.seats` of a room goes to Exchange as a number, whoever asks for it. */
function seatFaults({ kind, fields }: Written): PlacedReason[] {
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

function equipmentFaults({ kind, fields }: Written): PlacedReason[] {
  const index = fields.findIndex(({ key }) => key === 'equipmentType')
  if (index < 0 || !isMailboxKind(kind) || kind === 'equipmentMailbox') return []
  return [{ path: ['fields', index, 'key'], reason: because('equipmentKey') }]
}
