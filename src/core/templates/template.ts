import { z } from 'zod'
import { accessLevel } from '../resources/index.ts'
import { issueOf, type Person, resourceKind } from '../shared/index.ts'
import { approvalPolicy } from './approval-policy.ts'
import { templateField } from './field.ts'
import { localised, templateTexts } from './localised.ts'
import { namingPolicy } from './naming-policy.ts'
import { propertyRules } from './property.ts'
import { storedWebhook } from './webhook.ts'

/** An id in lower case, so that ids can be compared. */
const id = z.uuid().toLowerCase()
const text = (max: number) => z.string().trim().min(1).max(max)

/** The limits of a template. For an absent limit, only Microsoft's limit applies. */
export const templateLimits = z
  .strictObject({
    ownersMinimum: z.int().min(1).max(20).default(1).describe('Minimum number of owners of a site, with the requester'),
    ownersMaximum: z
      .int()
      .min(1)
      .max(20)
      .default(20)
      .describe('Maximum number of owners of a site, with the requester'),
    externalOwners: z.boolean().default(true).describe('Whether guests and people of other domains may be owners'),
    capacityMaximum: z.int().min(1).max(102_400).optional().describe('Maximum storage of a mailbox, in MB'),
    permissionsMaximum: z
      .int()
      .min(0)
      .max(100)
      .optional()
      .describe('Maximum number of people with access to a mailbox'),
    accessLevels: z
      .array(accessLevel.exclude(['None']))
      .max(2)
      .optional()
      .describe('Allowed kinds of access'),
  })
  .refine(({ ownersMinimum, ownersMaximum }) => ownersMinimum <= ownersMaximum, {
    ...issueOf('ownersReversed'),
    path: ['ownersMinimum'],
  })

/** A template with its policies, which an admin writes and people request from (DESIGN §5, Shapes). */
export const template = z.strictObject({
  id: id.describe('The id, which never changes; a PUT may omit it, because its URL has the id'),
  version: z.int().min(1).describe('Increases by one with each change; a PUT may omit it'),
  kind: resourceKind.describe('The kind of resource that it creates'),
  name: templateTexts.name,
  description: templateTexts.description.default(''),
  icon: z
    .string()
    .max(16)
    .refine(isOneCharacter, issueOf('iconForm'))
    .default('')
    .describe('One character next to the name, for example an emoji'),
  localised,
  active: z.boolean().default(true).describe('Whether people can request from the template'),
  default: z.boolean().default(false).describe('Whether requests of this kind without a template use this template'),
  order: z.int().default(0).describe('The position in lists, lowest first'),
  audience: z
    .strictObject({
      people: z.array(id).default([]).describe('Object ids of people'),
      groups: z.array(id).default([]).describe('Object ids of groups; members of nested groups count'),
    })
    .nullable()
    .default(null)
    .describe('The people who may use the template; null: everybody. Others cannot see or use it'),
  fields: z
    .array(templateField)
    .max(20)
    .refine((fields) => isUnique(fields.map(({ key }) => key)), issueOf('fieldKeysRepeated'))
    .refine(
      (fields) => isUnique(fields.flatMap(({ customAttribute }) => customAttribute ?? [])),
      issueOf('customAttributesRepeated'),
    )
    .default([])
    .describe('The template’s own questions; the answers are stored in metadata'),
  properties: propertyRules.default({}).describe('Rules for the fields of the API, by field name'),
  naming: namingPolicy.default({ prefix: '', suffix: '' }).describe('Rules for display names and addresses'),
  limits: templateLimits.default(templateLimits.parse({})).describe('Limits for requests'),
  labels: z
    .strictObject({
      allowed: z
        .array(
          z.strictObject({
            id: text(64).describe('The id of the label in Microsoft Purview'),
            name: templateTexts.labelName,
          }),
        )
        .max(20)
        .default([])
        .describe('The labels that people can choose'),
      default: z.string().nullable().default(null).describe('The id of the default label'),
    })
    .refine((labels) => labels.default === null || labels.allowed.some(({ id }) => id === labels.default), {
      ...issueOf('defaultLabelNotAllowed'),
      path: ['default'],
    })
    .default({ allowed: [], default: null })
    .describe('Sensitivity labels of sites'),
  approval: approvalPolicy.nullable().default(null).describe('The approval stages; null: no approval is needed'),
  webhook: storedWebhook.nullable().default(null).describe('The webhook receiver for the template’s requests'),
  quota: z
    .strictObject({
      openPerPerson: z
        .int()
        .min(1)
        .max(1000)
        .optional()
        .describe('Maximum number of open requests of a person for this template'),
      resources: z
        .int()
        .min(1)
        .max(100_000)
        .optional()
        .describe('Maximum number of resources of this template, with those being created, without deleted ones'),
    })
    .default({})
    .describe('Limits for the number of requests and resources'),
})
export type Template = z.output<typeof template>

/**
 * The copy of a template in a request, so that an edit never changes a running request. Without the webhook and its
 * secret.
 */
export const templateSnapshot = template.omit({ webhook: true })
export type TemplateSnapshot = z.output<typeof templateSnapshot>
export function snapshot(source: Template): TemplateSnapshot {
  const { webhook: _, ...rest } = source
  return rest
}

/** The parts of a template that everybody can see: those that the form needs. */
export const templateForUsers = template
  .pick({
    id: true,
    version: true,
    kind: true,
    name: true,
    description: true,
    default: true,
    order: true,
    icon: true,
    localised: true,
    fields: true,
    properties: true,
    labels: true,
    limits: true,
    naming: true,
    quota: true,
  })
  .extend({ approvalRequired: z.boolean() })
export function showTemplateToUser(source: Template): z.output<typeof templateForUsers> {
  return templateForUsers.strip().parse({ ...source, approvalRequired: source.approval !== null })
}

/** Returns a template for admins, without the webhook's secret, which is write-only. */
export function showTemplateToAdmin(
  source: Template,
): Omit<Template, 'webhook'> & { webhook: { url: string; events: string[] } | null } {
  return { ...source, webhook: source.webhook && { url: source.webhook.url, events: source.webhook.events } }
}

/** Whether a person may see and use the template. `groupIds`: the groups of the person, with nested groups. */
export function mayUse(source: Template, who: Pick<Person, 'id'>, groupIds: ReadonlySet<string>): boolean {
  if (!source.active) return false
  if (source.audience === null) return true
  return source.audience.people.includes(who.id) || source.audience.groups.some((id) => groupIds.has(id))
}

/** Created once: each new segmenter takes longer than a template's whole schema. */
const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' })

function isOneCharacter(icon: string): boolean {
  return [...graphemes.segment(icon)].length <= 1 && !/\s/u.test(icon)
}

function isUnique(values: readonly (string | number)[]): boolean {
  return new Set(values).size === values.length
}

/** Returns the values of a field that have titles: the labels, or the choices of a question. */
export const titledValues = ({ fields, labels }: Pick<TemplateSnapshot, 'fields' | 'labels'>, field: string) =>
  field === 'labelId'
    ? labels.allowed.map(({ id, name }) => ({ value: id, title: name }))
    : (fields.find(({ key }) => `metadata.${key}` === field)?.choices ?? [])

/** Returns the title of a value: the name of a label, or the title of a choice. */
export const titleOfFound = (
  template: Pick<TemplateSnapshot, 'fields' | 'labels'>,
  field: string,
  found: string,
): string => titledValues(template, field).find(({ value }) => value === found)?.title ?? found
