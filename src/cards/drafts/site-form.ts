import { addressRuleOf, type Fault, type ResourceKind, type Template } from '../../core/index.ts'
import { format, strings } from '../shared/messages.ts'
import { shortName } from '../shared/texts.ts'
import { partsOf } from './form-faults.ts'
import {
  addressText,
  answerLength,
  chosenAmong,
  displayNameText,
  type FaultLines,
  type FormInput,
  fieldInputs,
  inputOf,
  inputOfAddress,
  type RequestForm,
} from './form-input.ts'

/** How an input of the site form is filled in. */
interface SiteInput {
  readonly type: 'text' | 'multiline' | 'people' | 'choice'
  /** The maximum number of characters in chat, where a card holds only so much. */
  readonly most: number
}

/**
 * The inputs of every site form by their ids, in their order. The template's own questions come before the label and the
 * reason.
 */
const siteInputs = {
  displayName: { type: 'text', most: 256 },
  alias: { type: 'text', most: 64 },
  description: { type: 'multiline', most: 1024 },
  owners: { type: 'people', most: 4000 },
  labelId: { type: 'choice', most: 64 },
  reason: { type: 'multiline', most: 500 },
} as const satisfies Record<string, SiteInput>
type SiteInputId = keyof typeof siteInputs

/** The inputs of a site's form. */
export const siteForm = {
  ids({ fields, labels }: Template) {
    const own: SiteInputId[] = ['displayName', 'alias', 'description', 'owners']
    const label = labels.allowed.length > 0 ? ['labelId'] : []
    return { front: [...own, ...fields.map(({ key }) => `metadata.${key}`), ...label, 'reason'], more: [] }
  },

  label: (_: ResourceKind, id: string): string => (isSiteInput(id) ? strings.site[id].label : id),

  explained: ({ faults }: RequestForm): readonly Fault[] => faults,

  /** `/owners/0` → `owners`, `/metadata/costCentre` → `metadata.costCentre`. */
  inputOf(fault: Fault): string {
    const [field = '', key] = partsOf(fault)
    return field === 'metadata' && key !== undefined ? `metadata.${key}` : field
  },

  inputs(form: RequestForm, ids: readonly string[], faultOf: FaultLines) {
    const fields = fieldInputs(form, answerLength(form.template, 100, 500, 1500), faultOf)
    return (id: string): FormInput | undefined =>
      isSiteInput(id) ? builtIn(form, id, ids, faultOf) : fields.find((field) => field.id === id)
  },
}

/** The limit of every site. A template with this limit shows none. */
const maxOwners = 20

const isSiteInput = (id: string): id is SiteInputId => Object.hasOwn(siteInputs, id)

function builtIn(form: RequestForm, id: SiteInputId, ids: readonly string[], faultOf: FaultLines): FormInput {
  const { draft, template, people } = form
  const { type, most } = siteInputs[id]
  const texts: { label: string; placeholder?: string; error?: string } = strings.site[id]
  const required = isRequired(template, id)
  const value = draft.values[id] ?? (id === 'labelId' ? (template.labels.default ?? '') : '')
  const isChoice = type === 'choice'
  return inputOf({
    id,
    type,
    label: texts.label,
    placeholder: isChoice ? strings.form.choosePlaceholder : (texts.placeholder ?? ''),
    required,
    maxLength: type === 'text' || type === 'multiline' ? most : 0,
    value,
    choices: isChoice
      ? template.labels.allowed.map(({ id: labelId, name }) => ({ title: name, value: labelId }))
      : type === 'people'
        ? chosenAmong(people, value)
        : [],
    fault: faultOf(id, texts.error ?? (isChoice ? strings.form.choose : strings.form.fillIn)),
    help: helpOf(form, id, ids),
    checks: inputOfAddress(template, ids) === id,
  })
}

function isRequired({ properties, approval, limits }: Template, id: SiteInputId): boolean {
  if (id === 'displayName' || id === 'labelId') return true
  // The requester is the first owner: they must choose the second one.
  if (id === 'owners' && limits.ownersMinimum > 1) return true
  return id === 'reason' ? approval !== null : properties[id]?.required === true
}

function helpOf({ template, requester, names }: RequestForm, id: SiteInputId, ids: readonly string[]): string[] {
  const help: string[] = []
  if (id === 'displayName') help.push(displayNameText(names, template))
  if (inputOfAddress(template, ids) === id) help.push(addressText(names, template))
  if (id === addressRuleOf(template.kind) && !isRequired(template, id)) help.push(strings.site.alias.help)
  if (id === 'owners') help.push(ownersHelp(template, shortName(requester)))
  if (id === 'reason' && template.approval !== null) help.push(strings.site.reason.help)
  return help
}

/** The requester is always an owner. The sentence shows limits only if the template sets them. */
function ownersHelp({ limits: { ownersMinimum, ownersMaximum } }: Template, name: string): string {
  const counts = { name, least: String(ownersMinimum), most: String(ownersMaximum) }
  return format(strings.site.owners[howMany(ownersMinimum, ownersMaximum)], counts)
}

function howMany(least: number, most: number): 'added' | 'addedMinimum' | 'addedMost' | 'addedBoth' | 'addedExact' {
  if (least === most) return 'addedExact'
  if (most === maxOwners) return least > 1 ? 'addedMinimum' : 'added'
  return least > 1 ? 'addedBoth' : 'addedMost'
}
