import { z } from 'zod'
import { addressOf, type Fault, isMailboxKind, siteKind, type Template, type TemplateField } from '../core/index.ts'
import { defineCard } from './define-card.ts'
import { choice, type FaultLine, faultLine, faultsOfForm, formFaults, partsOf } from './form-faults.ts'
import { withoutScheme } from './links.ts'
import { basisOf, formBasis, type RequestForm } from './request-form.ts'
import { strings } from './strings.ts'
import { cut, longest } from './words.ts'

/** The inputs that every site form has; a template's own fields and labels come on top. */
const ownInputs = ['displayName', 'alias', 'description', 'owners', 'labelId', 'reason'] as const
type OwnInput = (typeof ownInputs)[number]
const forEachInput = <T extends z.ZodType>(schema: T) =>
  z.strictObject({
    displayName: schema,
    alias: schema,
    description: schema,
    owners: schema,
    labelId: schema,
    reason: schema,
  })

export const siteFormCard = defineCard({
  name: 'site-form',
  data: z.strictObject({
    requestId: z.uuid(),
    version: z.int(),
    ...formFaults,
    ...formBasis,
    faults: forEachInput(faultLine),
    values: forEachInput(z.string()),
    kind: siteKind,
    approval: z.enum(['approval', 'noApproval']),
    templateName: z.string(),
    root: z.string(),
    preview: z.string(),
    people: z.array(choice),
    requester: z.string(),
    ownersHelp: z.enum(['added', 'addedMinimum']),
    ownersMinimum: z.int(),
    labels: z.strictObject({ offered: z.boolean(), choices: z.array(choice) }),
    reasonRequired: z.boolean(),
    fields: z.array(
      z.strictObject({
        key: z.string(),
        type: z.enum(['text', 'choice', 'number', 'date', 'toggle', 'person']),
        label: z.string(),
        help: z.string(),
        placeholder: z.string(),
        required: z.boolean(),
        choices: z.array(choice),
        maxLength: z.int(),
        value: z.string(),
        fault: faultLine,
      }),
    ),
  }),
})
type View = Parameters<typeof siteFormCard.render>[0]

/** Ids of the inputs that a site template's form shows. */
export function siteInputIds({ fields, labels }: Pick<Template, 'fields' | 'labels'>): string[] {
  const own = ownInputs.filter((id) => id !== 'labelId' || labels.allowed.length > 0)
  return [...own, ...fields.map(({ key }) => `metadata.${key}`)]
}

/** What the form of a template for sites shows. */
export function siteFormView(form: RequestForm): View {
  const { draft, template, requester } = form
  const { kind, labels, limits, naming, approval } = template
  if (isMailboxKind(kind)) throw new Error(`the site form shows no template of the kind ${kind}`)
  const label = (id: string) => labelOf(id, template)
  const faults = faultsOfForm(form.faults, form.notice, {
    ids: siteInputIds(template),
    label,
    inputOf,
    resource: 'site',
  })
  const value = (id: string): string => draft.values[id] ?? ''
  const own = <T>(each: (id: OwnInput) => T) => ({
    displayName: each('displayName'),
    alias: each('alias'),
    description: each('description'),
    owners: each('owners'),
    labelId: each('labelId'),
    reason: each('reason'),
  })
  return {
    requestId: draft.requestId,
    version: draft.version,
    ...faults.view,
    ...basisOf(draft),
    faults: own(faults.lineOf),
    values: { ...own(value), labelId: draft.values['labelId'] ?? labels.default ?? '' },
    kind,
    approval: approval ? 'approval' : 'noApproval',
    templateName: template.name,
    root: `${withoutScheme(form.siteRoot)}/${naming.prefix}…${naming.suffix}`,
    preview: previewOf(form),
    people: form.people.map(({ id, displayName }) => ({ title: cut(displayName, longest.name), value: id })),
    requester: cut(requester.displayName, longest.name),
    ownersHelp: limits.ownersMinimum > 1 ? 'addedMinimum' : 'added',
    ownersMinimum: limits.ownersMinimum,
    labels: {
      offered: labels.allowed.length > 0,
      choices: labels.allowed.map(({ id, name }) => ({ title: name, value: id })),
    },
    reasonRequired: approval !== null,
    fields: fieldsOf(template, value, faults.lineOf),
  }
}

/** The same without the help and examples of the template's own fields: its questions and the answers must stay. */
export const plainSiteForm = (view: View): View => ({
  ...view,
  fields: view.fields.map((field) => ({ ...field, help: '', placeholder: '' })),
})

/** The address that comes of what is filled in, unless somebody holds it; `''` while there is nothing to make it of. */
function previewOf({ draft, template, siteRoot }: RequestForm): string {
  const [displayName = '', alias = ''] = [draft.values['displayName']?.trim(), draft.values['alias']?.trim()]
  if (displayName === '' && alias === '') return ''
  const address = addressOf(template, { displayName, alias }, draft.requestId)
  // What is typed there may be no address yet.
  return /^[a-z0-9_-]+$/.test(address.alias) ? `${withoutScheme(siteRoot)}/${address.alias}` : ''
}

/** The more text fields a template has, the shorter their answers may be in chat, since a card holds only so much. */
const answerLength = (fields: readonly TemplateField[]): number =>
  Math.min(500, Math.max(100, Math.floor(1500 / Math.max(1, fields.filter(({ type }) => type === 'text').length))))

function fieldsOf(template: Template, value: (id: string) => string, faultOf: (id: string) => FaultLine) {
  const maxLength = answerLength(template.fields)
  return template.fields.map(({ key, type, label, help, placeholder, required, choices }) => {
    const id = `metadata.${key}`
    return { key, type, label, help, placeholder, required, choices, maxLength, value: value(id), fault: faultOf(id) }
  })
}

/** The input that a fault's JSON pointer means: `/owners/0` → `owners`, `/metadata/costCentre` → `metadata.costCentre`. */
function inputOf(fault: Fault): string {
  const [field = '', key] = partsOf(fault)
  return field === 'metadata' && key !== undefined ? `metadata.${key}` : field
}

function labelOf(id: string, { fields }: Template): string {
  const own = ownInputs.find((input) => input === id)
  return own ? strings.site[own].label : (fields.find(({ key }) => `metadata.${key}` === id)?.label ?? id)
}
