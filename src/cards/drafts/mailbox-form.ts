import { type Fault, isMailboxKind, type MailboxKind, type ResourceKind, type Template } from '../../core/index.ts'
import { answerLength, fieldInputs } from '../shared/field-inputs.ts'
import { chosenAmong, type FormInput, inputOf, isPicker } from '../shared/form-input.ts'
import { format, strings } from '../shared/messages.ts'
import { peopleList, quantity } from '../shared/words.ts'
import { partsOf } from './form-faults.ts'
import { addressWords, displayNameWords, inputOfAddress } from './form-names.ts'
import { formInputsOf, type MailboxInputId, mailboxInputs, roomFeatures } from './mailbox-inputs.ts'
import type { RequestForm } from './request-form.ts'

/** What the one form asks for a mailbox. */
export const mailboxForm = {
  /** Nothing behind "More" must be answered or has bounds, since a hidden mistake would block the button. */
  ids(template: Template) {
    const { kind, fields } = template
    const { front, more } = formInputsOf(kindOf(kind), fields)
    const isGiven = (id: MailboxInputId): boolean => isAllowed(template, id)
    const isChecked = (id: MailboxInputId): boolean => isRequired(template, id) || maximumOf(template, id) !== ''
    return {
      front: [
        ...front.filter(isGiven),
        ...more.filter((id) => isGiven(id) && isChecked(id)),
        ...fields.map(({ key }) => `metadata.${key}`),
        'reason',
      ],
      more: more.filter((id) => isGiven(id) && !isChecked(id)),
    }
  },

  label: (kind: ResourceKind, id: string): string => wordsOf(kindOf(kind), id).label,

  /** The faults with what their words name beside the core's suggestion: the people, or the organisation's own domain. */
  told({ faults, people, mailDomain }: RequestForm): readonly Fault[] {
    const twice = faults.flatMap((one) => (one.code === 'chosen-twice' ? [partsOf(one)[1]?.toLowerCase()] : []))
    const chosen = people.filter(({ id }) => twice.includes(id.toLowerCase()))
    const several = chosen.length > 1 ? '.several' : ''
    return faults.map((one) => {
      if (one.code === 'chosen-twice' && chosen.length > 0)
        return { ...one, code: `${one.code}${several}`, suggestion: peopleList(chosen, 'and') }
      const needsDomain = one.code === 'invalid' && ['/alias', '/domain'].includes(one.pointer) && mailDomain !== ''
      return needsDomain ? { ...one, suggestion: mailDomain } : one
    })
  },

  /**
   * `/roomMailboxMetadata/hasWhiteboard` → `roomMailboxMetadata.hasWhiteboard`; a person in `/permissions` stands in one
   * of two pickers, and who stands in both is a mistake beside the second.
   */
  inputOf(fault: Fault, values: Readonly<Record<string, string>>): string {
    const [field = '', key] = partsOf(fault)
    if (field === 'permissions') {
      const full = (values['permissions.FullAccess'] ?? '').toLowerCase()
      const inFirst =
        key === undefined || ['FullAccess', 'SendAs'].includes(key) ? key !== 'SendAs' : full.includes(key)
      return !fault.code.startsWith('chosen-twice') && inFirst ? 'permissions.FullAccess' : 'permissions.SendAs'
    }
    const hasKey = key !== undefined && (field === 'metadata' || field === 'roomMailboxMetadata')
    return hasKey ? `${field}.${key}` : field
  },

  inputs(form: RequestForm, ids: readonly string[], faultOf: (id: string) => string) {
    const fields = fieldInputs(form, answerLength(form.template, 64, 200, 400), faultOf)
    return (id: string): FormInput | undefined =>
      isBuiltIn(id, form.template) ? builtIn(form, id, ids, faultOf(id)) : fields.find((field) => field.id === id)
  },
}

function kindOf(kind: ResourceKind): MailboxKind {
  if (!isMailboxKind(kind)) throw new Error(`the mailbox form shows no template of the kind ${kind}`)
  return kind
}

const isBuiltIn = (id: string, { fields }: Template): id is MailboxInputId =>
  Object.hasOwn(mailboxInputs, id) && !fields.some(({ key }) => `metadata.${key}` === id)

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

/** Kinds of access that the template does not give are not asked for. */
function isAllowed({ limits: { accessLevels, permissionsMaximum } }: Template, id: MailboxInputId): boolean {
  if (id !== 'permissions.FullAccess' && id !== 'permissions.SendAs') return true
  if (permissionsMaximum === 0) return false
  return accessLevels?.some((level) => id === `permissions.${level}`) ?? true
}

function isRequired({ properties, approval }: Template, id: MailboxInputId): boolean {
  if (id === 'displayName' || id === 'name') return true
  return id === 'reason' ? approval !== null : properties[id]?.required === true
}

const maximumOf = ({ limits }: Template, id: MailboxInputId): number | '' =>
  id === 'capacity' ? (limits.capacityMaximum ?? '') : ''

function builtIn(form: RequestForm, id: MailboxInputId, ids: readonly string[], fault: string): FormInput {
  const { draft, template, mailDomain, people } = form
  const { type, most } = mailboxInputs[id]
  const { label, placeholder = '', error = strings.form.fillIn } = wordsOf(kindOf(template.kind), id)
  const value = draft.values[id] ?? (id === 'autoMapping' ? 'true' : '')
  const required = isRequired(template, id)
  const maximum = maximumOf(template, id)
  const features = roomFeatures.filter((one) => ids.includes(one))
  const feature = (features as readonly string[]).indexOf(id)
  return inputOf({
    id,
    type,
    spacing: feature > 0 ? 'None' : id === 'autoMapping' ? 'Small' : 'Medium',
    group: feature === 0 ? strings.mailboxForm.inTheRoom : '',
    label,
    placeholder: placeholder.replace('{domain}', mailDomain),
    required,
    error: required || maximum !== '' ? errorOf(error, maximum) : '',
    minimum: maximum === '' ? '' : 1,
    maximum,
    maxLength: type === 'text' || type === 'multiline' || type === 'number' ? most : 0,
    value: type === 'toggle' ? String(value === 'true') : value,
    choices: isPicker({ type }) ? chosenAmong(people, value) : [],
    fault,
    help: helpOf(form, id, ids, maximum),
    checks: inputOfAddress(template, ids) === id,
  })
}

const errorOf = (error: string, maximum: number | ''): string =>
  maximum === '' ? error : format(strings.mailbox.capacity.atMost, { count: quantity(maximum) })

/** What helps with an input: under the name what comes of it, under a reason who reads it. */
function helpOf(
  { template, names }: RequestForm,
  id: MailboxInputId,
  ids: readonly string[],
  maximum: number | '',
): string[] {
  const { kind, approval, limits } = template
  const { help = '' } = wordsOf(kindOf(kind), id)
  const lines: string[] = []
  if (id === 'displayName') lines.push(displayNameWords(names, template))
  if (inputOfAddress(template, ids) === id) lines.push(addressWords(names, template))
  if (id === 'reason') lines.push(approval === null ? '' : help)
  else if (maximum !== '') lines.push(format(strings.mailbox.capacity.upTo, { count: quantity(maximum) }))
  else lines.push(help)
  const isLast = id === ids.findLast((one) => one.startsWith('permissions.'))
  if (isLast && limits.permissionsMaximum !== undefined)
    lines.push(format(strings.mailboxForm.mostPeople, { count: String(limits.permissionsMaximum) }))
  return lines
}
