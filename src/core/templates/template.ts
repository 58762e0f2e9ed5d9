import { z } from 'zod'
import { addReasons, because, instant, issueOf, type Person, type PlacedReason, resourceKind } from '../shared/index.ts'
import { approvalPolicy, mostPeople } from './approval-policy.ts'
import { conditionFault } from './condition.ts'
import { conflictsIn } from './conflicts.ts'
import { designFaults, templateField } from './field.ts'
import { formSize, largestForm } from './form-size.ts'
import { limitFaults, templateLimits } from './limits.ts'
import { namingFaults, namingPolicy } from './naming-policy.ts'
import { propertyFaults, propertyRules } from './property.ts'
import { webhookSecret, webhookTargetFault } from './webhook-address.ts'

/** An id as everything else writes it, so that ids can be compared. */
const id = z.uuid().toLowerCase()
const text = (max: number) => z.string().trim().min(1).max(max)

/** What a subscriber can be told (DESIGN §5). */
export const eventTypes = [
  'site.provisioned',
  'mailbox.provisioned',
  'request.rejected',
  'request.failed',
  'request.expired',
  'request.cancelled',
] as const
export const webhookSubscription = z.strictObject({
  // As it will be called: hosts in ASCII, spaces encoded.
  url: z
    .url({ protocol: /^https?$/, normalize: true })
    .max(2000)
    .describe('Where the events are posted, by https'),
  secret: webhookSecret.describe('What signs them; it is never shown'),
  events: z
    .array(z.enum(eventTypes))
    .min(1)
    .default(['site.provisioned', 'mailbox.provisioned'])
    .describe('Of what it is told'),
})

/** As it is stored: with the secrets that were replaced, as long as they still sign beside the present one. */
const storedWebhook = webhookSubscription.extend({
  formerSecrets: z.array(z.strictObject({ secret: webhookSecret, until: instant })).optional(),
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

/** A template as it may be written: its webhook goes only where the settings allow, and its policy can come true. */
export const templateWithin = (allowCidrs: readonly string[]) =>
  template
    .extend({ webhook: webhookSubscription.nullable().default(null) })
    .superRefine(({ webhook }, context) => {
      const reason = webhook ? webhookTargetFault(webhook.url, allowCidrs) : undefined
      if (reason) addReasons(context, [{ path: ['webhook', 'url'], reason }])
    })
    .superRefine((written, context) => addReasons(context, policyFaults(written)))

/** What can never be right in a template, each at its place. */
function policyFaults(written: z.output<typeof template>): PlacedReason[] {
  const at = (part: string | number, faults: readonly PlacedReason[]) =>
    faults.map(({ path, reason }) => ({ path: [part, ...path], reason }))
  const keys = written.fields.map(({ key }) => key)
  const ofFields = written.fields.flatMap((field, index) => at(index, designFaults(field)))
  return [
    ...stageFaults(written),
    ...at('fields', ofFields),
    ...at('properties', propertyFaults(written.properties, written.kind)),
    ...at('naming', namingFaults(written.naming, written.kind, keys)),
    ...at('limits', limitFaults(written)),
    ...conflictsIn(written),
    ...sizeFaults(written),
  ]
}

function sizeFaults(written: z.output<typeof template>): PlacedReason[] {
  const size = formSize(written)
  if (size <= largestForm) return []
  const path = written.fields.length > 0 ? 'fields' : 'labels'
  return [{ path: [path], reason: because('formTooLarge', { size, most: largestForm }) }]
}

/** What can never be right in the stages of a template. */
function stageFaults(written: Pick<Template, 'kind' | 'fields' | 'labels' | 'approval'>): PlacedReason[] {
  return (written.approval?.stages ?? []).flatMap((stage, place) => {
    const stageAt = ['approval', 'stages', place]
    const faults: PlacedReason[] = (stage.when ?? []).flatMap((one, index) => {
      const fault = conditionFault(one, written)
      return fault ? [{ path: [...stageAt, 'when', index, ...fault.path], reason: fault.reason }] : []
    })
    const most = mostPeople(stage)
    const atQuorum = { path: [...stageAt, 'quorum'] }
    if (stage.quorum !== undefined && stage.rule !== 'quorum')
      faults.push({ ...atQuorum, reason: because('quorumNumberUnused') })
    if (stage.quorum !== undefined && most !== undefined && stage.quorum > most)
      faults.push({ ...atQuorum, reason: because('quorumTooLarge', { most }) })
    return faults
  })
}

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
