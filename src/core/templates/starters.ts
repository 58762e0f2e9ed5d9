import type { z } from 'zod'
import { isMailboxKind, type ResourceKind } from '../shared/index.ts'
import type { Approver } from './approval-policy.ts'
import { type PropertyRules, propertiesOf } from './property.ts'
import type { template } from './template.ts'

/** The ready-made templates that an organisation can start with. */
export const starterKinds = ['teamSite', 'communicationSite', 'sharedMailbox', 'room', 'equipment'] as const
export type StarterKind = (typeof starterKinds)[number]

/**
 * A starter: the kind of resource that its template creates, and the values that an admin can replace. Its name and description
 * are texts of the catalogue.
 */
export interface Starter {
  readonly kind: StarterKind
  readonly creates: ResourceKind
  readonly icon: string
  /** The prefix of addresses. */
  readonly prefix: string
  /** The optional fields that the form shows. The API accepts all fields. */
  readonly shownFields: readonly string[]
}

/** All starters, in the order in which people choose from them. */
export const starters: readonly Starter[] = [
  {
    kind: 'teamSite',
    creates: 'teamSite',
    icon: '🗂',
    prefix: '',
    shownFields: ['description', 'owners'],
  },
  {
    kind: 'communicationSite',
    creates: 'communicationSite',
    icon: '📰',
    prefix: '',
    shownFields: ['description', 'owners'],
  },
  {
    kind: 'sharedMailbox',
    creates: 'sharedMailbox',
    icon: '📬',
    prefix: '',
    shownFields: ['name', 'permissions.FullAccess', 'permissions.SendAs', 'primaryOwner', 'capacity', 'hideFromGAL'],
  },
  {
    kind: 'room',
    creates: 'roomMailbox',
    icon: '📅',
    prefix: 'room-',
    shownFields: [
      ...['name', 'metadata.seats', 'city', 'officeLocation', 'isWheelChairAccessible'],
      ...['hasConferencePhone', 'hasWhiteboard', 'hasVideoConferencing'].map((one) => `roomMailboxMetadata.${one}`),
    ],
  },
  {
    kind: 'equipment',
    creates: 'equipmentMailbox',
    icon: '📽',
    prefix: 'equipment-',
    shownFields: ['name', 'metadata.equipmentType', 'city', 'primaryOwner'],
  },
]

/** Returns the starter of a kind. */
export function starterOf(kind: StarterKind): Starter {
  const found = starters.find((one) => one.kind === kind)
  if (!found) throw new Error(`there is no starter of the kind ${kind}`)
  return found
}

/** An admin's choices for a template. Absent values come from the starter. */
export interface StarterChoices {
  readonly kind: StarterKind
  /** The id of the new template. */
  readonly id: string
  /** The template's name. */
  readonly displayName: string
  readonly description: string
  readonly prefix?: string
  /** The approvers; one of them decides. An empty list: no approval. Absent: the requester's manager. */
  readonly approvers?: readonly Approver[]
  /** The minimum number of owners of a site, with the requester. */
  readonly ownersMinimum?: number
  /** The maximum storage of a mailbox, in MB. */
  readonly capacityMaximum?: number
  /** Whether requests of this kind without a template use this template. Absent: yes for mailboxes, no for sites. */
  readonly default?: boolean
}

/** A template before omitted parts get their defaults, as `PUT` and the template file accept it. */
export type TemplateDocument = z.input<typeof template>

/**
 * The largest mailbox that needs no licence, in MB (Exchange Online limits, "Mailbox storage limits"). More storage
 * costs the organisation money, so the starters allow no more.
 */
export const capacityWithoutLicence = 50 * 1024

/**
 * Creates a template's document from a starter. `templateWithin` and `putTemplate` check it like any other template, so
 * valid choices give a valid template.
 */
export function templateFromStarter(choices: StarterChoices): TemplateDocument {
  const { kind, id, approvers = [{ manager: true }] } = choices
  const starter = starterOf(kind)
  const { creates, icon, displayName, description, prefix } = { ...starter, ...choices }
  const ofMailbox = isMailboxKind(creates)
  return {
    id,
    version: 1,
    kind: creates,
    name: displayName,
    description,
    icon,
    default: choices.default ?? ofMailbox,
    order: (starters.indexOf(starter) + 1) * 10,
    properties: propertiesFor(starter),
    naming: namingFor(creates, prefix),
    limits: ofMailbox
      ? { capacityMaximum: choices.capacityMaximum ?? capacityWithoutLicence }
      : { ownersMinimum: choices.ownersMinimum ?? 1, externalOwners: false },
    approval: approvers.length === 0 ? null : { stages: [{ approvers: [...approvers] }] },
  }
}

/** Hides the other fields, so that the form is short. */
const propertiesFor = ({ creates, shownFields }: Starter): PropertyRules =>
  Object.fromEntries(
    propertiesOf(creates)
      .filter((id) => !shownFields.includes(id))
      .map((id) => [id, { shown: false, required: false }]),
  )

/** Returns the naming policy for a prefix, which also applies to the additional address of a shared mailbox. */
function namingFor(kind: ResourceKind, prefix: string): NonNullable<TemplateDocument['naming']> {
  if (kind !== 'sharedMailbox' || prefix === '') return { prefix, suffix: '' }
  return { prefix, suffix: '', alias: { pattern: `${prefix}{input}` } }
}
