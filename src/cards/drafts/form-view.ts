import { z } from 'zod'
import {
  addressRuleOf,
  asksFor,
  asksForAddress,
  asWritten,
  because,
  type Fault,
  isMailboxKind,
  resourceKind,
  slug,
  type Template,
  writtenText,
} from '../../core/index.ts'
import { countryName } from '../requests/request-facts.ts'
import { plain, toFix, toKnow } from '../shared/look.ts'
import { format, strings } from '../shared/messages.ts'
import { defineCard, type ViewOf } from '../shared/render.ts'
import { cut, listOf, longest, quantity, unlike } from '../shared/texts.ts'
import { faultsOfForm, formFaults, partsOf } from './form-faults.ts'
import { basisOf, formInput, type RequestForm, withChosen } from './form-input.ts'
import { mailboxForm } from './mailbox-form.ts'
import { siteForm } from './site-form.ts'

const section = z.strictObject({
  id: z.enum(['front', 'more']),
  open: z.boolean(),
  style: z.enum(['default', 'emphasis']),
  inputs: z.array(formInput).min(1),
})

/** The form of all kinds of resources: its inputs are data. */
export const requestFormCard = defineCard({
  name: 'request-form',
  data: z.strictObject({
    requestId: z.uuid(),
    version: z.int(),
    ...formFaults,
    heading: z.string(),
    step: z.string(),
    /** The sentence above the inputs, or `''`. */
    lead: z.string(),
    /** The earlier request that it is based on; `''` without one. */
    basis: z.string(),
    /** The comment of the person who ended the earlier request, and who wrote it; `''` without one. */
    comment: z.string(),
    wrote: z.string(),
    kind: resourceKind,
    approval: z.enum(['approval', 'noApproval']),
    icon: z.string(),
    templateName: z.string(),
    sections: z.array(section).min(1),
    /** The values that the template sets, as a sentence, or `''`. */
    decided: z.string(),
  }),
})
export type FormView = ViewOf<typeof requestFormCard>

const formOf = ({ kind }: Pick<Template, 'kind'>) => (isMailboxKind(kind) ? mailboxForm : siteForm)

/** Ids of the inputs that a template's form shows, in front and behind "More". */
export function inputIds(template: Template): { readonly front: readonly string[]; readonly more: readonly string[] } {
  const { front, more } = formOf(template).ids(template)
  const isAsked = (id: string): boolean => {
    if (id === addressRuleOf(template.kind) && !asksForAddress(template)) return false
    return asksFor(template, id)
  }
  return { front: front.filter(isAsked), more: more.filter(isAsked) }
}

/** The labels of the inputs that a template's form shows, in their order. */
export function inputLabels(template: Template): string[] {
  const { front, more } = inputIds(template)
  const own = (id: string) => template.fields.find(({ key }) => `metadata.${key}` === id)?.label
  return [...front, ...more].map((id) => own(id) ?? formOf(template).label(template.kind, id))
}

/** Shows the form of a template. `maxOfFields`: the largest length of all names of wrong inputs together, in characters. */
export function requestFormView(form: RequestForm, maxOfFields = Number.POSITIVE_INFINITY): FormView {
  const { draft, template, earlierEnd } = form
  const { kind, fields, approval, icon, name } = template
  const { front, more } = inputIds(template)
  const ids = [...front, ...more]
  const own = formOf(template)
  const faults = faultsOfForm(withOwnTexts(withCharacters(own.explained(form), draft), template), {
    ids,
    label: (id) => fields.find(({ key }) => `metadata.${key}` === id)?.label ?? own.label(kind, id),
    inputOf: (fault) => shownInput(own.inputOf(fault, draft.values), template, ids),
    resource: isMailboxKind(kind) ? 'mailbox' : 'site',
  })
  const input = own.inputs(form, ids, faults.lineOf)
  const drawn = (some: readonly string[]) =>
    some.flatMap((id) => input(id) ?? []).map((one) => (form.hidesChosen ? withChosen(one) : one))
  const behind = drawn(more)
  const sections: FormView['sections'] = [{ id: 'front', open: true, style: 'default', inputs: drawn(front) }]
  if (behind.length > 0) {
    const open = behind.some(({ fault }) => fault !== '')
    sections.push({ id: 'more', open, style: 'emphasis', inputs: behind })
  }
  return {
    requestId: draft.requestId,
    version: draft.version,
    ...headOf(form, faults, maxOfFields),
    otherFaults: faults.otherFaults,
    step: format(strings.form.step, { step: 2 }),
    basis: basisOf(draft),
    comment: cut(earlierEnd?.comment ?? '', longest.text),
    wrote: format(strings.status.commentBy, { name: cut(earlierEnd?.by?.displayName ?? '', longest.name) }),
    kind,
    approval: approval ? 'approval' : 'noApproval',
    icon,
    templateName: name,
    sections,
    decided: decidedBy(template, (id) => own.label(kind, id)),
  }
}

/** The heading and the sentence below it: about mistakes, about an outdated card, or only the purpose. */
function headOf({ template, notice }: RequestForm, faults: ReturnType<typeof faultsOfForm>, maxOfFields: number) {
  const { mistakes, stale, lead } = strings.form
  const { faultCount, fields } = faults
  if (faultCount > 0) {
    const sentence = fields === '' ? lead.kept : format(lead.look, { fields: cut(fields, maxOfFields) })
    return { look: toFix, heading: format(mistakes, { count: faultCount }), lead: sentence }
  }
  if (notice === 'stale') return { look: toKnow, heading: stale, lead: lead.stale }
  return { look: plain, heading: strings.new[template.kind], lead: '' }
}

/** Names the characters of a typed address that no address can have, and suggests one without them. */
function withCharacters(faults: readonly Fault[], { values }: RequestForm['draft']): Fault[] {
  return faults.map((fault) => {
    const [field = ''] = partsOf(fault)
    const [typed = '', ...domain] = (values[field] ?? '').trim().split('@')
    const isAddress = field === 'alias' || (field === 'name' && domain.length === 0)
    const odd = [...new Set(typed.normalize('NFC'))].filter((one) => !/[\w.-]/.test(one))
    if (fault.code !== 'invalid' || !isAddress || odd.length === 0) return fault
    const named = odd.slice(0, 5).map((one) => (one === ' ' ? strings.error.spaces : one))
    const suggestion = slug(typed)
    const text = strings.error[suggestion === '' ? 'invalid-characters' : 'invalid-characters.suggested']
    const reason = asWritten(format(text, { characters: listOf(named, 'or'), suggestion }))
    return { ...fault, code: 'own-words', reason }
  })
}

/**
 * Uses the template's texts in the reader's language for a fault of its own question: the text for a wrong answer, and the
 * label. The core checks answers with the template's own language. A person that the directory cannot read has another text.
 */
function withOwnTexts(faults: readonly Fault[], { fields }: Pick<Template, 'fields'>): Fault[] {
  return faults.map((fault) => {
    const [field, key] = partsOf(fault)
    const own = field === 'metadata' ? fields.find((one) => one.key === key) : undefined
    if (!own) return fault
    if (own.error && fault.code !== 'unreadable-person' && writtenText(fault.reason) !== undefined)
      return { ...fault, code: 'own-words', reason: asWritten(own.error) }
    const { key: reason, facts } = fault.reason
    return { ...fault, reason: because(reason, { ...facts, field: own.label, label: own.label }) }
  })
}

/** The input that shows a fault. Without an address input it is the name, from which the address is derived. */
function shownInput(id: string, { kind }: Template, ids: readonly string[]): string {
  return id === addressRuleOf(kind) && !ids.includes(id) ? 'displayName' : id
}

/** These hold ids, which people do not understand. */
const peopleProperties: readonly string[] = ['owners', 'primaryOwner', 'secondaryOwner']

/** The values that the template sets and shows: "Set by the template: City: Zürich". */
function decidedBy({ properties }: Template, label: (id: string) => string): string {
  const decided = Object.entries(properties).flatMap(([id, { shown, fixed }]) => {
    const isNothing = fixed === undefined || fixed === false || fixed === ''
    if (!shown || isNothing || peopleProperties.includes(id)) return []
    const value = fixed === true ? '' : Array.isArray(fixed) ? listOf(fixed, 'unit') : decidedValue(id, fixed)
    return [value === '' ? label(id) : format(strings.form.decidedOne, { label: label(id), value })]
  })
  return decided.length === 0 ? '' : cut(format(strings.form.decided, { list: unlike(decided) }), longest.text)
}

function decidedValue(id: string, fixed: string | number | boolean): string {
  if (typeof fixed === 'number') return quantity(fixed)
  return id === 'country' ? countryName(String(fixed)) : String(fixed)
}
