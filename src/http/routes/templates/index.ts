/** Templates: list, read, write. */
import { z } from 'zod'
import {
  type Actor,
  because,
  type Core,
  ProvisioningError,
  showTemplateToAdmin,
  showTemplateToUser,
  type Template,
  template,
  templateForUsers,
  webhookSubscription,
} from '../../../core/index.ts'
import { defineRoute } from '../../server/define-route.ts'
import { HttpError } from '../../server/problem.ts'
import examples from './examples.json' with { type: 'json' }

const params = z.object({ templateId: z.uuid().toLowerCase() })

/** A template for admins: everything except the webhook's secret, which is write-only. */
export const templateForAdmins = template.extend({ webhook: webhookSubscription.omit({ secret: true }).nullable() })
/** The body of a write. Id and version come from the address and If-Match. An omitted secret stays unchanged. */
export const templateToWrite = template
  .partial({ id: true, version: true })
  .extend({ webhook: webhookSubscription.partial({ secret: true }).nullable().default(null) })
const shownTemplate = z.union([templateForAdmins, templateForUsers])

/** The views of stored templates for admins and for users. A stored template does not change, and each view takes a millisecond. */
const shown = { admins: new WeakMap<Template, ShownTemplate>(), users: new WeakMap<Template, ShownTemplate>() }
type ShownTemplate = z.input<typeof shownTemplate>

function show({ isAdmin }: Actor, one: Template): ShownTemplate {
  const views = isAdmin ? shown.admins : shown.users
  const view = views.get(one) ?? (isAdmin ? templateForAdmins.parse(showTemplateToAdmin(one)) : showTemplateToUser(one))
  views.set(one, view)
  return view
}
const etagOf = (one: Template) => ({ ETag: `"${one.version}"` })

const listTemplates = defineRoute({
  id: 'listTemplates',
  tag: 'Templates',
  method: 'GET',
  path: '/templates/v1',
  summary: 'List the templates that the caller may use',
  description:
    'Returns the active templates that the caller may use, with their forms. Admins get all templates with their policies.',
  permission: 'template.read',
  audience: 'any',
  answers: {
    200: {
      description: 'The templates; for admins with their policies.',
      body: z.strictObject({ value: z.array(shownTemplate) }),
    },
  },
  refusals: [],
  examples: examples.listTemplates,
  async handle({ actor, core }) {
    const templates = await core.listTemplates(actor)
    return { status: 200, body: { value: templates.map((one) => show(actor, one)) } }
  },
})

const readTemplate = defineRoute({
  id: 'readTemplate',
  tag: 'Templates',
  method: 'GET',
  path: '/templates/v1/:templateId',
  summary: 'Read a template',
  description: 'Returns one template: its form for users, and also its policies for admins. Secrets are never shown.',
  permission: 'template.read',
  audience: 'any',
  params,
  answers: {
    200: { description: 'The template; for admins with its policies.', body: shownTemplate, headers: ['ETag'] },
  },
  refusals: ['not-found'],
  examples: examples.readTemplate,
  async handle({ actor, core }, { params }) {
    const found = await core.readTemplate(actor, { id: params.templateId })
    return { status: 200, headers: etagOf(found), body: show(actor, found) }
  },
})

const writeTemplate = defineRoute({
  id: 'writeTemplate',
  tag: 'Templates',
  method: 'PUT',
  path: '/templates/v1/:templateId',
  summary: 'Change a template (If-Match), or create a template (If-None-Match: *)',
  description:
    'Replaces the whole template. The next version applies to new requests only. Open requests keep their version.',
  permission: 'template.write',
  audience: 'any',
  params,
  headers: ['If-Match', 'If-None-Match'],
  body: templateToWrite,
  answers: {
    200: { description: 'The template was changed.', body: templateForAdmins, headers: ['ETag'] },
    201: { description: 'The template was created.', body: templateForAdmins, headers: ['ETag', 'Location'] },
  },
  refusals: ['precondition-required', 'stale-version', 'not-found'],
  examples: examples.writeTemplate,
  async handle({ actor, core, headers }, { params: { templateId }, body }) {
    const expected = await expectedVersion(core, actor, templateId, headers)
    const written = await core.putTemplate(actor, { id: templateId, body, expected })
    const shown = { headers: etagOf(written), body: templateForAdmins.parse(showTemplateToAdmin(written)) }
    if (expected > 0) return { status: 200, ...shown }
    return { status: 201, headers: { ...shown.headers, Location: `/templates/v1/${templateId}` }, body: shown.body }
  },
})

/** The version that the caller has read (RFC 9110 §13.1); 0 = the template must not exist yet. */
async function expectedVersion(
  core: Core,
  actor: Actor,
  templateId: string,
  headers: { 'if-match'?: string | undefined; 'if-none-match'?: string | undefined },
): Promise<number> {
  const match = headers['if-match']?.trim()
  const noneMatch = headers['if-none-match']?.trim()
  if (match === undefined && noneMatch === '*') return 0
  if (match === undefined || noneMatch !== undefined) {
    const detail = 'Send the template’s ETag as If-Match, or If-None-Match: * for a new template.'
    throw new HttpError('precondition-required', detail)
  }
  const only = /^"(\d{1,9})"$/.exec(match)?.[1]
  if (only !== undefined && Number(only) > 0) return Number(only)
  const { version } = await core.readTemplate(actor, { id: templateId })
  const tags = match.split(',').map((tag) => tag.trim())
  if (match === '*' || tags.includes(`"${version}"`)) return version
  throw new ProvisioningError('stale-version', because('templateHasChanged'))
}

export const templateRoutes = [listTemplates, readTemplate, writeTemplate] as const
