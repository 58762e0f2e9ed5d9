import { z } from 'zod'
import { approvalPolicy, mostPeople } from './approval-policy.ts'
import { conditionFault } from './condition.ts'
import { patternFault } from './pattern.ts'
import { instant, type Person, resourceKind } from './resource.ts'
import { webhookSecret, webhookTargetFault } from './webhook.ts'

/** An id as everything else writes it, so that ids can be compared. */
const id = z.uuid().toLowerCase()
const text = (max: number) => z.string().trim().min(1).max(max)

/** A question of the template's own, shown on the form and kept in `metadata` under `key`. */
export const templateField = z.strictObject({
  key: z.string().regex(/^[A-Za-z][A-Za-z0-9_]{0,63}$/),
  type: z.enum(['text', 'choice']),
  label: text(64),
  help: z.string().max(200).default(''),
  placeholder: z.string().max(100).default(''),
  required: z.boolean().default(false),
  choices: z
    .array(z.strictObject({ title: text(64), value: text(64) }))
    .max(50)
    .default([]),
  /** A regular expression for the whole value, and the sentence that says what to do when it does not match. */
  pattern: z
    .string()
    .max(200)
    .superRefine((pattern, context) => {
      const message = patternFault(pattern)
      if (message !== undefined) context.addIssue({ code: 'custom', message })
    })
    .optional(),
  error: z.string().max(200).default(''),
  /** For mailboxes: the custom attribute of Exchange, 1 to 14, that holds the answer. The 15th holds the request's id. */
  customAttribute: z.int().min(1).max(14).optional(),
})
export type TemplateField = z.output<typeof templateField>

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
  url: z.url({ protocol: /^https?$/, normalize: true }).max(2000),
  secret: webhookSecret,
  events: z.array(z.enum(eventTypes)).min(1).default(['site.provisioned', 'mailbox.provisioned']),
})

/** As it is stored: with the secrets that were replaced, as long as they still sign beside the present one. */
const storedWebhook = webhookSubscription.extend({
  formerSecrets: z.array(z.strictObject({ secret: webhookSecret, until: instant })).optional(),
})

/** A pre-existing template with its policies: what an admin designs and an employee sees (DESIGN §5, Shapes). */
export const template = z.strictObject({
  id,
  version: z.int().min(1),
  kind: resourceKind,
  name: text(64),
  description: z.string().max(300).default(''),
  active: z.boolean().default(true),
  default: z.boolean().default(false),
  order: z.int().default(0),
  /** Who may use it; null = everybody in the tenant. Others neither see nor use it. */
  audience: z
    .strictObject({ people: z.array(id).default([]), groups: z.array(id).default([]) })
    .nullable()
    .default(null),
  fields: z
    .array(templateField)
    .max(20)
    .refine((fields) => isUnique(fields.map(({ key }) => key)), {
      error: 'Two fields have the same key.',
    })
    .refine((fields) => isUnique(fields.flatMap(({ customAttribute }) => customAttribute ?? [])), {
      error: 'Two fields have the same custom attribute.',
    })
    .default([]),
  naming: z
    .strictObject({ prefix: affix(/^([a-z0-9][a-z0-9-]*)?$/), suffix: affix(/^([a-z0-9-]*[a-z0-9])?$/) })
    .default({ prefix: '', suffix: '' }),
  limits: z
    .strictObject({
      ownersMinimum: z.int().min(1).max(20).default(1),
      ownersMaximum: z.int().min(1).max(20).default(20),
    })
    .refine(({ ownersMinimum, ownersMaximum }) => ownersMinimum <= ownersMaximum, {
      error: 'Nobody can have as many owners and as few.',
      path: ['ownersMinimum'],
    })
    .default({ ownersMinimum: 1, ownersMaximum: 20 }),
  labels: z
    .strictObject({
      allowed: z
        .array(z.strictObject({ id: text(64), name: text(64) }))
        .max(20)
        .default([]),
      default: z.string().nullable().default(null),
    })
    .refine((labels) => labels.default === null || labels.allowed.some(({ id }) => id === labels.default), {
      error: 'The default must be one of the allowed labels.',
      path: ['default'],
    })
    .default({ allowed: [], default: null }),
  approval: approvalPolicy.nullable().default(null),
  webhook: storedWebhook.nullable().default(null),
})
export type Template = z.output<typeof template>

/** A template as it may be written: its webhook goes only where the settings allow, and its policy can come true. */
export const templateWithin = (allowCidrs: readonly string[]) =>
  template
    .extend({ webhook: webhookSubscription.nullable().default(null) })
    .superRefine(({ webhook }, context) => {
      const message = webhook ? webhookTargetFault(webhook.url, allowCidrs) : undefined
      if (message !== undefined) context.addIssue({ code: 'custom', message, path: ['webhook', 'url'] })
    })
    .superRefine((written, context) => {
      for (const { path, message } of policyFaults(written)) context.addIssue({ code: 'custom', message, path })
    })

/** What can never be right in the stages of a template, each at its place. */
function policyFaults(written: Pick<Template, 'kind' | 'fields' | 'labels' | 'approval'>) {
  return (written.approval?.stages ?? []).flatMap((stage, place) => {
    const stageAt = ['approval', 'stages', place]
    const faults = (stage.when ?? []).flatMap((one, index) => {
      const fault = conditionFault(one, written)
      return fault ? [{ path: [...stageAt, 'when', index, ...fault.path], message: fault.message }] : []
    })
    const most = mostPeople(stage)
    const atQuorum = { path: [...stageAt, 'quorum'] }
    if (stage.quorum !== undefined && stage.rule !== 'quorum')
      faults.push({ ...atQuorum, message: 'A number is for the rule quorum only.' })
    if (stage.quorum !== undefined && most !== undefined && stage.quorum > most)
      faults.push({ ...atQuorum, message: `This stage asks ${most} people at most.` })
    return faults
  })
}

/** How long a replaced secret still signs beside the new one, in hours, so that receivers can change over at leisure. */
const formerSecretHours = 24

/** A webhook that is about to replace another: the secret that it no longer has goes on signing for a day. */
export function withFormerSecrets(
  webhook: NonNullable<Template['webhook']>,
  before: Template['webhook'],
  now: Date,
): NonNullable<Template['webhook']> {
  const until = new Date(now.getTime() + formerSecretHours * 3_600_000).toISOString()
  const replaced = before && before.secret !== webhook.secret ? [{ secret: before.secret, until }] : []
  const formerSecrets = [...replaced, ...(before?.formerSecrets ?? [])]
    .filter((one) => one.secret !== webhook.secret && Date.parse(one.until) > now.getTime())
    // Each signs every delivery, and a header has an end.
    .slice(0, 5)
  return { ...webhook, ...(formerSecrets.length > 0 && { formerSecrets }) }
}

/** What signs a webhook at this time, the present secret first. */
export const signingSecrets = (
  { secret, formerSecrets = [] }: NonNullable<Template['webhook']>,
  now: Date,
): string[] => [
  secret,
  ...formerSecrets.filter(({ until }) => Date.parse(until) > now.getTime()).map((one) => one.secret),
]

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
    fields: true,
    labels: true,
    limits: true,
    naming: true,
  })
  .extend({ approvalRequired: z.boolean() })
export function showTemplateToUser(source: Template): z.output<typeof templateForUsers> {
  const { id, version, kind, name, description, order, fields, labels, limits, naming } = source
  return {
    id,
    version,
    kind,
    name,
    description,
    default: source.default,
    order,
    fields,
    labels,
    limits,
    naming,
    approvalRequired: source.approval !== null,
  }
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

/** An address begins and ends with a letter or digit, so its prefix begins and its suffix ends with one. */
function affix(form: RegExp) {
  return z.string().max(20).regex(form).default('')
}

function isUnique(values: readonly (string | number)[]): boolean {
  return new Set(values).size === values.length
}
