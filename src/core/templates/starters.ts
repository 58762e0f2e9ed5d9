import type { z } from 'zod'
import { isMailboxKind, type ResourceKind } from '../shared/index.ts'
import type { Approver } from './approval-policy.ts'
import { type PropertyRules, propertiesOf } from './property.ts'
import type { template } from './template.ts'

/** The ready-made templates that an organisation can start with. */
export const starterKinds = ['teamSite', 'communicationSite', 'sharedMailbox', 'room', 'equipment'] as const
export type StarterKind = (typeof starterKinds)[number]

/** A starter: what its template creates, and the values that apply where an admin chooses no others. */
export interface Starter {
  readonly kind: StarterKind
  readonly creates: ResourceKind
  readonly icon: string
  readonly displayName: string
  readonly description: string
  /** What addresses begin with. */
  readonly prefix: string
  /** The optional fields that the form asks for; the API accepts all of them. */
  readonly asksFor: readonly string[]
}

/** All starters, in the order in which people choose from them. */
export const starters: readonly Starter[] = [
  {
    kind: 'teamSite',
    creates: 'teamSite',
    icon: '🗂',
    displayName: 'Team site',
    description: 'Files, lists and pages for people who work together',
    prefix: '',
    asksFor: ['description', 'owners'],
  },
  {
    kind: 'communicationSite',
    creates: 'communicationSite',
    icon: '📰',
    displayName: 'Communication site',
    description: 'News and pages that a few people write and many people read',
    prefix: '',
    asksFor: ['description', 'owners'],
  },
  {
    kind: 'sharedMailbox',
    creates: 'sharedMailbox',
    icon: '📬',
    displayName: 'Shared mailbox',
    description: 'One address whose mail several people read and answer',
    prefix: '',
    asksFor: ['name', 'permissions.FullAccess', 'permissions.SendAs', 'primaryOwner', 'capacity', 'hideFromGAL'],
  },
  {
    kind: 'room',
    creates: 'roomMailbox',
    icon: '📅',
    displayName: 'Meeting room',
    description: 'A room that people book with an invitation',
    prefix: 'room-',
    asksFor: [
      ...['name', 'metadata.seats', 'city', 'officeLocation', 'isWheelChairAccessible'],
      ...['hasConferencePhone', 'hasWhiteboard', 'hasVideoConferencing'].map((one) => `roomMailboxMetadata.${one}`),
    ],
  },
  {
    kind: 'equipment',
    creates: 'equipmentMailbox',
    icon: '📽',
    displayName: 'Equipment',
    description: 'A projector, a car or another thing that people book with an invitation',
    prefix: 'equipment-',
    asksFor: ['name', 'metadata.equipmentType', 'city', 'primaryOwner'],
  },
]

/** Returns the starter of a kind. */
export function starterOf(kind: StarterKind): Starter {
  const found = starters.find((one) => one.kind === kind)
  if (!found) throw new Error(`there is no starter ${kind}`)
  return found
}

/** What an admin chooses for a template. Values that are absent are those of the starter. */
export interface StarterChoices {
  readonly kind: StarterKind
  /** The id of the new template. */
  readonly id: string
  /** The name that people choose the template by. */
  readonly displayName?: string
  readonly description?: string
  readonly prefix?: string
  /** Who approves, one of them; an empty list: nobody. Absent: the requester's manager. */
  readonly approvers?: readonly Approver[]
  /** The fewest owners of a site, the requester included. */
  readonly ownersMinimum?: number
  /** The most storage of a mailbox, in MB. */
  readonly capacityMaximum?: number
  /** Whether requests that name no template of this kind use this one. Absent: yes for mailboxes, no for sites. */
  readonly default?: boolean
}

/** A template before its omitted parts get their defaults: what `PUT` and the file of templates accept. */
export type TemplateDocument = z.input<typeof template>

/**
 * The largest mailbox that needs no licence, in MB (Exchange Online limits, "Mailbox storage limits"). More storage costs
 * the organisation money, so the starters allow no more.
 */
const capacityWithoutLicence = 50 * 1024

/**
 * Makes the document of a template from a starter. It is valid if the choices are: `templateWithin` and `putTemplate` check
 * it like any other template.
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

/** Hides the fields that the starter's form does not ask for, so that people meet a short form. */
const propertiesFor = ({ creates, asksFor }: Starter): PropertyRules =>
  Object.fromEntries(
    propertiesOf(creates)
      .filter((id) => !asksFor.includes(id))
      .map((id) => [id, { shown: false, required: false }]),
  )

/** A prefix applies to the additional address of a shared mailbox too: without it, that address would escape the prefix. */
function namingFor(kind: ResourceKind, prefix: string): NonNullable<TemplateDocument['naming']> {
  if (kind !== 'sharedMailbox' || prefix === '') return { prefix, suffix: '' }
  return { prefix, suffix: '', alias: { pattern: `${prefix}{input}` } }
}
