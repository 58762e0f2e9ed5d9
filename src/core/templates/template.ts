import { z } from 'zod'
import { accessLevel } from '../resources/index.ts'
import { issueOf, type Person, resourceKind } from '../shared/index.ts'
import { approvalPolicy } from './approval-policy.ts'
import { templateField } from './field.ts'
import { namingPolicy } from './naming-policy.ts'
import { propertyRules } from './property.ts'
import { storedWebhook } from './webhook.ts'

/** An id as everything else writes it, so that ids can be compared. */
const id = z.uuid().toLowerCase()
const text = (max: number) => z.string().trim().min(1).max(max)

/** How much of something there may be. What is left out has no limit but Microsoft's. */
export const templateLimits = z
  .strictObject({
    ownersMinimum: z.int().min(1).max(20).default(1).describe('Owners of a site, who asks included'),
    ownersMaximum: z.int().min(1).max(20).default(20).describe('The same at most'),
    externalOwners: z.boolean().default(true).describe('Whether guests, and people of other domains, may be owners'),
    capacityMaximum: z.int().min(1).max(102_400).optional().describe('Storage of a mailbox, in MB'),
    permissionsMaximum: z.int().min(0).max(100).optional().describe('People with access to a mailbox'),
    accessLevels: z
      .array(accessLevel.exclude(['None']))
      .max(2)
      .optional()
      .describe('Kinds of access that are given'),
  })
  .refine(({ ownersMinimum, ownersMaximum }) => ownersMinimum <= ownersMaximum, {
    ...issueOf('ownersReversed'),
    path: ['ownersMinimum'],
  })

/** A pre-existing template with its policies: what an admin designs and an employee sees (DESIGN §5, Shapes). */
export const template = z.strictObject({
  id: id.describe('Its id for ever; a PUT may leave it to its address'),
  version: z.int().min(1).describe('One more with each change; a PUT may leave it out'),
  kind: resourceKind.describe('What it makes'),
  name: text(64).describe('What people choose it by'),
  description: z.string().max(300).default('').describe('What it is for, in a sentence'),
  icon: z
    .string()
    .max(16)
    .refine(isOneSign, issueOf('iconForm'))
    .default('')
    .describe('One sign beside its name, such as an emoji'),
  localised: z
    .record(
      z.string().regex(/^[a-z]{2,3}(-[A-Za-z0-9]{2,8})*$/),
      z.strictObject({
        name: text(64).optional().describe('Its name in that language'),
        description: z.string().max(300).optional().describe('Its description in that language'),
      }),
    )
    .default({})
    .describe('Words by language: de, or de-CH'),
  active: z.boolean().default(true).describe('Whether anybody may ask for it'),
  default: z.boolean().default(false).describe('Whether it is taken where a request names no template of its kind'),
  order: z.int().default(0).describe('Its place among the others, the smallest first'),
  audience: z
    .strictObject({
      people: z.array(id).default([]).describe('Object ids of people'),
      groups: z.array(id).default([]).describe('Object ids of groups; who is in a group inside one is in it'),
    })
    .nullable()
    .default(null)
    .describe('Who may use it: everybody where it is null. Others neither see nor use it'),
  fields: z
    .array(templateField)
    .max(20)
    .refine((fields) => isUnique(fields.map(({ key }) => key)), issueOf('fieldKeysRepeated'))
    .refine(
      (fields) => isUnique(fields.flatMap(({ customAttribute }) => customAttribute ?? [])),
      issueOf('customAttributesRepeated'),
    )
    .default([])
    .describe('Questions of its own; the answers are kept in metadata'),
  properties: propertyRules.default({}).describe('What it decides about the fields of the API, by the name of each'),
  naming: namingPolicy.default({ prefix: '', suffix: '' }).describe('How names come out of what is typed'),
  limits: templateLimits.default(templateLimits.parse({})).describe('How much there may be of something'),
  labels: z
    .strictObject({
      allowed: z
        .array(
          z.strictObject({
            id: text(64).describe('The id of the label in Microsoft Purview'),
            name: text(64).describe('What people see'),
          }),
        )
        .max(20)
        .default([])
        .describe('The labels that may be chosen'),
      default: z.string().nullable().default(null).describe('The id of the one that is chosen at first'),
    })
    .refine((labels) => labels.default === null || labels.allowed.some(({ id }) => id === labels.default), {
      ...issueOf('defaultLabelNotAllowed'),
      path: ['default'],
    })
    .default({ allowed: [], default: null })
    .describe('Sensitivity labels of sites'),
  approval: approvalPolicy.nullable().default(null).describe('Who decides; nobody has to where it is null'),
  webhook: storedWebhook.nullable().default(null).describe('Who is told of what becomes of its requests'),
  quota: z
    .strictObject({
      openPerPerson: z.int().min(1).max(1000).optional().describe('Open requests that a person may have of it'),
      resources: z.int().min(1).max(100_000).optional().describe('What may be made of it, with what is under way'),
    })
    .default({})
    .describe('How much may be asked for'),
})
export type Template = z.output<typeof template>

/** What a request keeps of its template: an edit never changes a running request, and the secret is not copied about. */
export const templateSnapshot = template.omit({ webhook: true })
export type TemplateSnapshot = z.output<typeof templateSnapshot>
export function snapshot(source: Template): TemplateSnapshot {
  const { webhook: _, ...rest } = source
  return rest
}

/** What people who are not admins see of a template: what the form needs. */
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

/** Name and description as somebody of this locale reads them: `de-CH`, else `de`, else the template's own. */
export function inLocale<T extends Pick<Template, 'name' | 'description' | 'localised'>>(source: T, locale: string): T {
  const wanted = locale.toLowerCase()
  const found = Object.entries(source.localised).filter(
    ([language]) => wanted === language.toLowerCase() || wanted.startsWith(`${language.toLowerCase()}-`),
  )
  const [, words] = found.sort(([one], [other]) => other.length - one.length)[0] ?? []
  return { ...source, ...words }
}

/** An admin sees all but the webhook's secret, which is write-only. */
export function showTemplateToAdmin(
  source: Template,
): Omit<Template, 'webhook'> & { webhook: { url: string; events: string[] } | null } {
  return { ...source, webhook: source.webhook && { url: source.webhook.url, events: source.webhook.events } }
}

/** Whether a person may see and use the template. `groupIds`: the groups, nested ones too, that the person is in. */
export function mayUse(source: Template, who: Pick<Person, 'id'>, groupIds: ReadonlySet<string>): boolean {
  if (!source.active) return false
  if (source.audience === null) return true
  return source.audience.people.includes(who.id) || source.audience.groups.some((id) => groupIds.has(id))
}

function isOneSign(icon: string): boolean {
  return [...new Intl.Segmenter('en', { granularity: 'grapheme' }).segment(icon)].length <= 1 && !/\s/u.test(icon)
}

function isUnique(values: readonly (string | number)[]): boolean {
  return new Set(values).size === values.length
}

/** What was found in a field, by the name that the template gives it: a label's, or a choice's title. */
export function titleOfFound(
  { fields, labels }: Pick<TemplateSnapshot, 'fields' | 'labels'>,
  field: string,
  found: string,
): string {
  if (field === 'labelId') return labels.allowed.find(({ id }) => id === found)?.name ?? found
  const own = fields.find(({ key }) => `metadata.${key}` === field)
  return own?.choices.find(({ value }) => value === found)?.title ?? found
}
