import { z } from 'zod'
import { addressOf, type Fault, isMailboxKind, type MailboxKind, mailboxKind, type Template } from '../core/index.ts'
import { defineCard } from './define-card.ts'
import { choice, type FaultLine, faultLine, faultsOfForm, formFaults, partsOf } from './form-faults.ts'
import { formInputsOf, type MailboxInputId, mailboxInputs, roomFeatures } from './mailbox-inputs.ts'
import { basisOf, formBasis, type RequestForm } from './request-form.ts'
import { strings } from './strings.ts'
import { cut, longest, peopleList } from './words.ts'

const input = z.strictObject({
  id: z.string(),
  /** `number` holds a number, `noNumber` none yet: a value that is no number must not stand on the card. */
  type: z.enum(['text', 'multiline', 'number', 'noNumber', 'toggle', 'people', 'person', 'choice', 'date']),
  spacing: z.enum(['Medium', 'Small', 'None']),
  /** A line above the first of a group of toggles. */
  group: z.string(),
  label: z.string(),
  placeholder: z.string(),
  help: z.string(),
  /** What to do when it is left out; `''` where it may be. */
  error: z.string(),
  maxLength: z.int(),
  value: z.string(),
  number: z.number(),
  choices: z.array(choice),
  fault: faultLine,
})
type Input = z.output<typeof input>
const section = z.strictObject({ id: z.enum(['front', 'more']), open: z.boolean(), inputs: z.array(input).min(1) })

/** One form for the three kinds of mailbox: which inputs it has is data. */
export const mailboxFormCard = defineCard({
  name: 'mailbox-form',
  data: z.strictObject({
    requestId: z.uuid(),
    version: z.int(),
    ...formFaults,
    ...formBasis,
    kind: mailboxKind,
    approval: z.enum(['approval', 'noApproval']),
    templateName: z.string(),
    sections: z.array(section).min(1),
  }),
})
type View = Parameters<typeof mailboxFormCard.render>[0]

/** Ids of the inputs that a mailbox template's form shows. */
export function mailboxInputIds(kind: MailboxKind, fields: Template['fields']): string[] {
  const { front, more } = formInputsOf(kind, fields)
  return [...front, ...fields.map(({ key }) => `metadata.${key}`), 'reason', ...more]
}

/** What the form of a template for mailboxes shows. */
export function mailboxFormView(form: RequestForm): View {
  const { draft, template } = form
  const { kind, fields, approval } = template
  if (!isMailboxKind(kind)) throw new Error(`the mailbox form shows no template of the kind ${kind}`)
  const faults = faultsOfForm(faultsTold(form), form.notice, {
    ids: mailboxInputIds(kind, fields),
    label: (id) => fields.find(({ key }) => `metadata.${key}` === id)?.label ?? wordsOf(kind, id).label,
    inputOf: (fault) => inputOf(fault, draft.values),
    resource: 'mailbox',
  })
  const { front, more } = formInputsOf(kind, fields)
  const builtIn = (id: MailboxInputId) => builtInInput(form, kind, id, faults.lineOf(id))
  const behind = more.map(builtIn)
  return {
    requestId: draft.requestId,
    version: draft.version,
    ...faults.view,
    ...basisOf(draft),
    kind,
    approval: approval ? 'approval' : 'noApproval',
    templateName: template.name,
    sections: [
      {
        id: 'front',
        open: true,
        inputs: [...front.map(builtIn), ...fieldInputs(form, faults.lineOf), builtIn('reason')],
      },
      { id: 'more', open: behind.some(({ fault }) => fault.words !== ''), inputs: behind },
    ],
  }
}

/** The faults with what their words name beside the core's suggestion: the people, or the organisation's own domain. */
function faultsTold({ faults, people, mailDomain }: RequestForm): Fault[] {
  const twice = faults.flatMap((one) => (one.code === 'chosen-twice' ? [partsOf(one)[1]?.toLowerCase()] : []))
  const chosen = people.filter(({ id }) => twice.includes(id.toLowerCase()))
  const several = chosen.length > 1 ? '.several' : ''
  return faults.map((one) => {
    if (one.code === 'chosen-twice' && chosen.length > 0)
      return { ...one, code: `${one.code}${several}`, suggestion: peopleList(chosen, 'and') }
    const needsDomain = one.code === 'invalid' && ['/alias', '/domain'].includes(one.pointer) && mailDomain !== ''
    return needsDomain ? { ...one, suggestion: mailDomain } : one
  })
}

interface Words {
  readonly label: string
  readonly placeholder?: string
  readonly help?: string
  readonly error?: string
}
/** The words of an input; some are other ones for one kind of mailbox. */
function wordsOf(kind: MailboxKind, id: string): Words {
  const own: Readonly<Record<string, Words>> = strings.mailboxOf[kind]
  const common: Readonly<Record<string, Words>> = { ...strings.mailbox, reason: strings.site.reason }
  return own[id] ?? common[id] ?? { label: id }
}

const isPicker = ({ type }: Pick<Input, 'type'>): boolean => type === 'people' || type === 'person'

/** Nothing behind "More" is required, since a hidden mistake would block the button. */
const required: readonly MailboxInputId[] = ['displayName', 'name']

function builtInInput(form: RequestForm, kind: MailboxKind, id: MailboxInputId, fault: FaultLine): Input {
  const { draft, template, mailDomain, people } = form
  const { type, most } = mailboxInputs[id]
  const { label, placeholder = '', help = '', error = '' } = wordsOf(kind, id)
  const value = draft.values[id] ?? (id === 'autoMapping' ? 'true' : '')
  const number = Number(value)
  const isRequired = required.includes(id) || (id === 'reason' && template.approval !== null)
  const feature = (roomFeatures as readonly string[]).indexOf(id)
  const chosen = isPicker({ type }) ? value.split(',') : []
  return {
    id,
    type: type !== 'number' ? type : value === '' ? 'noNumber' : Number.isFinite(number) ? 'number' : 'text',
    spacing: feature > 0 ? 'None' : id === 'autoMapping' ? 'Small' : 'Medium',
    group: feature === 0 ? strings.mailboxForm.inTheRoom : '',
    label,
    placeholder: placeholder.replace('{domain}', mailDomain),
    help: helpOf(form, id, help),
    error: isRequired ? error : '',
    maxLength: most,
    value: type === 'toggle' ? String(value === 'true') : isPicker({ type }) ? value : cut(value, most),
    number: Number.isFinite(number) ? number : 0,
    choices: people
      .filter((person) => chosen.includes(person.id))
      .map((person) => ({ title: cut(person.displayName, longest.name), value: person.id })),
    fault,
  }
}

/** What helps with an input: under the name the address that will come out, under a reason who reads it. */
function helpOf(form: RequestForm, id: MailboxInputId, help: string): string {
  if (id === 'reason') return form.template.approval === null ? '' : help
  return id === 'name' ? previewOf(form) || help.replace('{address}', patternOf(form)) : help
}

const domainOf = ({ draft, mailDomain }: RequestForm): string =>
  draft.values['domain']?.trim().toLowerCase() || mailDomain

function patternOf(form: RequestForm): string {
  const { prefix, suffix } = form.template.naming
  return `${prefix}…${suffix}@${domainOf(form)}`
}

/** The address that comes of the name that is filled in; `''` while there is none, or none that could be an address. */
function previewOf(form: RequestForm): string {
  const { draft, template } = form
  const [displayName = '', name = ''] = [draft.values['displayName']?.trim(), draft.values['name']?.trim()]
  if (name === '') return ''
  const { alias } = addressOf(template, { displayName, alias: name }, draft.requestId)
  return /^[a-z0-9][a-z0-9._-]*$/.test(alias) ? `${alias}@${domainOf(form)}` : ''
}

function fieldInputs({ draft, template }: RequestForm, faultOf: (id: string) => FaultLine): Input[] {
  const questions = template.fields.filter(({ type }) => type === 'text').length
  const maxLength = Math.min(200, Math.max(64, Math.floor(400 / Math.max(1, questions))))
  return template.fields.map(({ key, type, label, help, placeholder, required, choices }) => {
    const id = `metadata.${key}`
    const error = type === 'choice' ? strings.form.choose : strings.form.fillIn
    return {
      id,
      type,
      spacing: 'Medium',
      group: '',
      label,
      placeholder: type === 'choice' ? strings.form.choosePlaceholder : placeholder,
      help,
      error: required ? error : '',
      maxLength,
      value: cut(draft.values[id] ?? '', maxLength),
      number: 0,
      choices,
      fault: faultOf(id),
    }
  })
}

/**
 * The input that a fault means: `/roomMailboxMetadata/hasWhiteboard` → `roomMailboxMetadata.hasWhiteboard`; a person in
 * `/permissions` stands in one of two pickers, and who stands in both is a mistake beside the second.
 */
function inputOf(fault: Fault, values: Readonly<Record<string, string>>): string {
  const [field = '', key] = partsOf(fault)
  if (field === 'permissions') {
    const full = (values['permissions.FullAccess'] ?? '').toLowerCase()
    return !fault.code.startsWith('chosen-twice') && full.includes(key ?? '')
      ? 'permissions.FullAccess'
      : 'permissions.SendAs'
  }
  const hasKey = key !== undefined && (field === 'metadata' || field === 'roomMailboxMetadata')
  return hasKey ? `${field}.${key}` : field
}

/** The form ever plainer: without help and examples; with short names of people; without their names. */
export function plainerMailboxForms(view: View): View[] {
  const each = (of: View, change: (one: Input) => Input): View => ({
    ...of,
    sections: of.sections.map((section) => ({ ...section, inputs: section.inputs.map(change) })),
  })
  const withoutHelp = each(view, (one) => ({ ...one, help: '', placeholder: '' }))
  const shortNames = each(withoutHelp, (one) =>
    isPicker(one)
      ? { ...one, choices: one.choices.map(({ title, value }) => ({ title: cut(title, 12), value })) }
      : one,
  )
  return [withoutHelp, shortNames, each(shortNames, (one) => (isPicker(one) ? { ...one, choices: [] } : one))]
}
