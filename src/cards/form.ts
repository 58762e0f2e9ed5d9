import { z } from 'zod'
import {
  addressOf,
  type Draft,
  type Fault,
  type FormTemplate,
  type Person,
  requestKind,
  type Template,
  type TemplateField,
} from '../core/index.ts'
import { defineCard } from './define-card.ts'
import { withoutScheme } from './links.ts'
import { look, plain, toFix, toKnow } from './look.ts'
import { type CardJson, fits } from './render.ts'
import { strings } from './strings.ts'
import { cut, listOf, longest } from './words.ts'

const choice = z.strictObject({ title: z.string(), value: z.string() })
/** The line under a wrong input: a key of `strings.error`, or `''` when the input is right. */
const faultLine = z.strictObject({ words: z.string(), suggestion: z.string(), detail: z.string() })
type FaultLine = z.output<typeof faultLine>

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
    look,
    heading: z.enum(['new', 'mistake', 'mistakes', 'stale']),
    lead: z.enum(['', 'look', 'kept', 'stale']),
    faultCount: z.int(),
    faultFields: z.string(),
    otherFaults: z.array(z.strictObject({ detail: z.string() })),
    faults: forEachInput(faultLine),
    values: forEachInput(z.string()),
    kind: requestKind,
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
        type: z.enum(['text', 'choice']),
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

/** What the site form shows: a draft of a template, what is wrong with it, and the names of the owners chosen so far. */
export interface SiteForm {
  readonly draft: Draft
  readonly template: FormTemplate
  readonly requester: Person
  readonly faults: readonly Fault[]
  readonly people: readonly Person[]
  /** `https://contoso.sharepoint.com/sites/` */
  readonly siteRoot: string
  readonly notice?: 'stale' | undefined
}

/** Ids of the inputs that a template's form shows; whatever else comes back with it was not asked for. */
export function formInputIds({ fields, labels }: Pick<Template, 'fields' | 'labels'>): string[] {
  const own = ownInputs.filter((id) => id !== 'labelId' || labels.allowed.length > 0)
  return [...own, ...fields.map(({ key }) => `metadata.${key}`)]
}

export function siteFormView(form: SiteForm): Parameters<typeof siteFormCard.render>[0] {
  const { draft, template, requester, notice } = form
  const { kind, labels, limits, naming, approval } = template
  const byInput = faultsByInput(form.faults, formInputIds(template))
  const others = form.faults.filter((fault) => !byInput.has(inputOf(fault)))
  const faultCount = byInput.size + others.length
  const value = (id: string): string => draft.values[id] ?? ''
  const faultOf = (id: string): FaultLine => lineOf(id, byInput.get(id))
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
    ...headingOf(faultCount, byInput.size, notice),
    faultCount,
    faultFields: listOf(
      [...byInput.keys()].map((id) => labelOf(id, template)),
      'and',
    ),
    otherFaults: others.map(({ detail }) => ({ detail: cut(detail, longest.text) })),
    faults: own(faultOf),
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
    fields: fieldsOf(template, value, faultOf),
  }
}

/** The address that comes of what is filled in, unless somebody holds it; `''` while there is nothing to make it of. */
function previewOf({ draft, template, siteRoot }: SiteForm): string {
  const [displayName = '', alias = ''] = [draft.values['displayName']?.trim(), draft.values['alias']?.trim()]
  if (displayName === '' && alias === '') return ''
  const address = addressOf(template, { displayName, alias }, draft.requestId)
  // What is typed there may be no address yet.
  return /^[a-z0-9_-]+$/.test(address.alias) ? `${withoutScheme(siteRoot)}/${address.alias}` : ''
}

function headingOf(faultCount: number, onInputs: number, notice: SiteForm['notice']) {
  const lead = onInputs > 0 ? ('look' as const) : ('kept' as const)
  if (faultCount > 1) return { look: toFix, heading: 'mistakes' as const, lead }
  if (faultCount === 1) return { look: toFix, heading: 'mistake' as const, lead }
  if (notice === 'stale') return { look: toKnow, heading: 'stale' as const, lead: 'stale' as const }
  return { look: plain, heading: 'new' as const, lead: '' as const }
}

/**
 * The form as a card. One that is too large for a message goes without the help and examples of the template's own
 * fields: its questions and what was answered must stay.
 */
export function renderSiteForm(form: SiteForm): CardJson {
  const view = siteFormView(form)
  const card = siteFormCard.render(view)
  if (fits(card)) return card
  return siteFormCard.render({ ...view, fields: view.fields.map((field) => ({ ...field, help: '', placeholder: '' })) })
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
function inputOf({ pointer }: Pick<Fault, 'pointer'>): string {
  const [field = '', key] = pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
  return field === 'metadata' && key !== undefined ? `metadata.${key}` : field
}

/** The first fault of each input that the form shows, in the order of the form. */
function faultsByInput(faults: readonly Fault[], ids: readonly string[]): Map<string, Fault> {
  const found = ids.map((id) => [id, faults.find((fault) => inputOf(fault) === id)] as const)
  return new Map(found.flatMap(([id, fault]) => (fault ? [[id, fault]] : [])))
}

function lineOf(id: string, fault: Fault | undefined): FaultLine {
  if (!fault) return { words: '', suggestion: '', detail: '' }
  const suggestion = fault.suggestion ?? ''
  return { words: wordsOf(id, fault.code, suggestion), suggestion, detail: cut(fault.detail, longest.text) }
}

/** Words for a code may be more exact for one input (`invalid.alias`); a code without words shows its own sentence. */
function wordsOf(id: string, code: string, suggestion: string): string {
  if (code === 'name-taken' && suggestion === '') return 'name-taken.alternatives'
  const exact = `${code}.${id}`
  if (Object.hasOwn(strings.error, exact)) return exact
  return Object.hasOwn(strings.error, code) ? code : 'pattern'
}

function labelOf(id: string, { fields }: Template): string {
  const own = ownInputs.find((input) => input === id)
  return own ? strings.site[own].label : (fields.find(({ key }) => `metadata.${key}` === id)?.label ?? id)
}
