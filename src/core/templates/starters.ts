import type { z } from 'zod'
import { isMailboxKind, type ResourceKind } from '../shared/index.ts'
import type { Approver } from './approval-policy.ts'
import { inLocale } from './localised.ts'
import { type PropertyRules, propertiesOf } from './property.ts'
import type { template } from './template.ts'

/** The ready-made templates that an organisation can start with. */
export const starterKinds = ['teamSite', 'communicationSite', 'sharedMailbox', 'room', 'equipment'] as const
export type StarterKind = (typeof starterKinds)[number]

/** A starter: the kind of resource that its template creates, and the values that an admin can replace. */
export interface Starter {
  readonly kind: StarterKind
  readonly creates: ResourceKind
  readonly icon: string
  readonly displayName: string
  readonly description: string
  /** Name and description by language. */
  readonly localised: Readonly<Record<string, { readonly name: string; readonly description: string }>>
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
    displayName: 'Team site',
    description: 'Files, lists and pages for people who work together',
    localised: {
      de: { name: 'Teamwebsite', description: 'Dateien, Listen und Seiten für Personen, die zusammenarbeiten' },
      fr: {
        name: 'Site d’équipe',
        description: 'Fichiers, listes et pages pour les personnes qui travaillent ensemble',
      },
      es: { name: 'Sitio de grupo', description: 'Archivos, listas y páginas para personas que trabajan juntas' },
    },
    prefix: '',
    shownFields: ['description', 'owners'],
  },
  {
    kind: 'communicationSite',
    creates: 'communicationSite',
    icon: '📰',
    displayName: 'Communication site',
    description: 'News and pages that a few people write and many people read',
    localised: {
      de: {
        name: 'Kommunikationswebsite',
        description: 'Neuigkeiten und Seiten, die wenige schreiben und viele lesen',
      },
      fr: {
        name: 'Site de communication',
        description: 'Des actualités et des pages écrites par quelques personnes et lues par beaucoup',
      },
      es: {
        name: 'Sitio de comunicación',
        description: 'Noticias y páginas que pocas personas escriben y muchas leen',
      },
    },
    prefix: '',
    shownFields: ['description', 'owners'],
  },
  {
    kind: 'sharedMailbox',
    creates: 'sharedMailbox',
    icon: '📬',
    displayName: 'Shared mailbox',
    description: 'One address whose mail several people read and answer',
    localised: {
      de: {
        name: 'Freigegebenes Postfach',
        description: 'Eine Adresse, deren E-Mails mehrere Personen lesen und beantworten',
      },
      fr: {
        name: 'Boîte aux lettres partagée',
        description: 'Une adresse dont plusieurs personnes lisent et traitent les messages',
      },
      es: { name: 'Buzón compartido', description: 'Una dirección cuyos mensajes leen y responden varias personas' },
    },
    prefix: '',
    shownFields: ['name', 'permissions.FullAccess', 'permissions.SendAs', 'primaryOwner', 'capacity', 'hideFromGAL'],
  },
  {
    kind: 'room',
    creates: 'roomMailbox',
    icon: '📅',
    displayName: 'Meeting room',
    description: 'A room that people book with an invitation',
    localised: {
      de: { name: 'Besprechungsraum', description: 'Ein Raum, der per Einladung gebucht wird' },
      fr: { name: 'Salle de réunion', description: 'Une salle que l’on réserve avec une invitation' },
      es: { name: 'Sala de reuniones', description: 'Una sala que se reserva con una invitación' },
    },
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
    displayName: 'Equipment',
    description: 'A projector, a car or another thing that people book with an invitation',
    localised: {
      de: { name: 'Gerät', description: 'Ein Beamer, ein Fahrzeug oder etwas anderes, das per Einladung gebucht wird' },
      fr: {
        name: 'Équipement',
        description: 'Un projecteur, une voiture ou un autre équipement que l’on réserve avec une invitation',
      },
      es: {
        name: 'Equipamiento',
        description: 'Un proyector, un coche u otro equipamiento que se reserva con una invitación',
      },
    },
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

/** Returns the starter of a kind with its texts in a locale. */
export function starterIn(kind: StarterKind, locale: string): Starter {
  const { displayName, ...starter } = starterOf(kind)
  const { name, ...read } = inLocale({ ...starter, name: displayName }, locale)
  return { ...read, displayName: name }
}

/** An admin's choices for a template. Absent values come from the starter. */
export interface StarterChoices {
  readonly kind: StarterKind
  /** The id of the new template. */
  readonly id: string
  /** The template's name. */
  readonly displayName?: string
  readonly description?: string
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
  const { creates, icon, prefix } = { ...starter, ...choices }
  const ofMailbox = isMailboxKind(creates)
  return {
    id,
    version: 1,
    kind: creates,
    ...textsFor(starter, choices),
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

/**
 * Returns the texts of a template. A text that the admin left unchanged, in any language, has the starter's translations;
 * for another text they would be wrong.
 */
function textsFor({ displayName, description, localised }: Starter, choices: StarterChoices) {
  const isOf = (text: 'name' | 'description', own: string, chosen = own) =>
    [own, ...Object.values(localised).map((texts) => texts[text])].includes(chosen)
  const isNamed = isOf('name', displayName, choices.displayName)
  const isDescribed = isOf('description', description, choices.description)
  const texts = Object.entries(localised).map(([tag, { name, description }]) => {
    return [tag, { ...(isNamed && { name }), ...(isDescribed && { description }) }] as const
  })
  return {
    name: isNamed ? displayName : (choices.displayName ?? displayName),
    description: isDescribed ? description : (choices.description ?? description),
    localised: isNamed || isDescribed ? Object.fromEntries(texts) : {},
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
