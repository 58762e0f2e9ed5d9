import {
  applies,
  type Fault,
  isMailboxKind,
  leavesOut,
  type MailboxKind,
  type ResourceKind,
  type Template,
} from '../../core/index.ts'
import { format, strings } from '../shared/messages.ts'
import { peopleList, quantity } from '../shared/texts.ts'
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
  isPicker,
  type RequestForm,
} from './form-input.ts'

/** How an input of the mailbox form is filled in. */
interface MailboxInput {
  readonly type: 'text' | 'multiline' | 'number' | 'toggle' | 'people' | 'person'
  /** The maximum number of characters in chat, where a card holds only so much; the API may take more. */
  readonly most: number
}
const text = (most: number): MailboxInput => ({ type: 'text', most })
const multiline = (most: number): MailboxInput => ({ type: 'multiline', most })
const number: MailboxInput = { type: 'number', most: 16 }
const toggle: MailboxInput = { type: 'toggle', most: 5 }
const people: MailboxInput = { type: 'people', most: 4000 }
const person: MailboxInput = { type: 'person', most: 36 }

/**
 * Every input of the mailbox forms by its id, which is the API's name of the property. Each form shows the inputs of its
 * kind (API document, rule 3): first those of {@link front}, then the others in this order behind "More".
 */
export const mailboxInputs = {
  displayName: text(100),
  name: text(64),
  alias: text(100),
  officeLocation: text(64),
  'metadata.seats': number,
  'metadata.equipmentType': text(64),
  isWheelChairAccessible: toggle,
  'roomMailboxMetadata.hasConferencePhone': toggle,
  'roomMailboxMetadata.hasWhiteboard': toggle,
  'roomMailboxMetadata.hasVideoConferencing': toggle,
  'permissions.FullAccess': people,
  'permissions.SendAs': people,
  reason: multiline(400),
  primaryOwner: person,
  secondaryOwner: person,
  phone: text(64),
  businessPhones: text(100),
  department: text(64),
  companyName: text(64),
  streetAddress: text(100),
  postalCode: text(40),
  city: text(64),
  state: text(64),
  country: text(64),
  audioDeviceName: text(64),
  displayDeviceName: text(64),
  videoDeviceName: text(64),
  tags: text(100),
  capacity: number,
  domain: text(64),
  automaticReply: multiline(2000),
  isAllowAutomaticReplyOverride: toggle,
  notes: multiline(200),
  hideFromGAL: toggle,
  autoMapping: toggle,
} as const satisfies Record<string, MailboxInput>
export type MailboxInputId = keyof typeof mailboxInputs
const ids = Object.keys(mailboxInputs) as MailboxInputId[]

export const roomFeatures = [
  'isWheelChairAccessible',
  'roomMailboxMetadata.hasConferencePhone',
  'roomMailboxMetadata.hasWhiteboard',
  'roomMailboxMetadata.hasVideoConferencing',
] as const satisfies readonly MailboxInputId[]
const access = ['permissions.FullAccess', 'permissions.SendAs'] as const

/** The first inputs of each kind's form. The template's own fields and the reason follow. */
const front = {
  sharedMailbox: ['displayName', 'name', 'alias', ...access],
  equipmentMailbox: ['displayName', 'name', 'metadata.equipmentType', ...access],
  roomMailbox: ['displayName', 'name', 'officeLocation', 'metadata.seats', ...roomFeatures, ...access],
} as const satisfies Record<MailboxKind, readonly MailboxInputId[]>

/** The inputs that hold people's ids, joined by commas. */
export const mailboxPeople = ids.filter((id) => ['people', 'person'].includes(mailboxInputs[id].type))

/** `metadata.equipmentType` → `metadata/equipmentType`, `permissions.SendAs` → `permissions`: as rule 3's table names them. */
function propertyOf(id: MailboxInputId): string {
  const [field = '', key = ''] = id.split('.')
  return field === 'metadata' ? `${field}/${key}` : field
}

/** Only rooms have seats: rule 3 leaves the keys of metadata open, but the seats of a car are not the capacity of a place. */
const goesWith = (id: MailboxInputId, kind: MailboxKind): boolean =>
  id === 'metadata.seats' ? kind === 'roomMailbox' : applies(propertyOf(id), kind)

/** The API accepts these for every kind, but a shared mailbox has no devices. */
const ofDevices: readonly MailboxInputId[] = ['audioDeviceName', 'displayDeviceName', 'videoDeviceName']

/** The built-in inputs in the form of a kind. */
function formInputsOf(kind: MailboxKind, fields: Pick<Template, 'fields'>['fields']) {
  const { front, more } = inputsOf(kind, fields)
  return { front, more: more.filter((id) => kind !== 'sharedMailbox' || !ofDevices.includes(id)) }
}

/**
 * The inputs of the built-in properties of a kind: in front and behind "More". A field of the template with the key of a
 * built-in one (`seats`, `equipmentType`) replaces it.
 */
export function inputsOf(kind: MailboxKind, fields: Pick<Template, 'fields'>['fields'] = []) {
  const replaced: readonly string[] = fields.map(({ key }) => `metadata.${key}`)
  const inFront: readonly MailboxInputId[] = front[kind]
  const shown = (id: MailboxInputId): boolean => goesWith(id, kind) && id !== 'reason' && !replaced.includes(id)
  return { front: inFront.filter(shown), more: ids.filter((id) => shown(id) && !inFront.includes(id)) }
}

/** The inputs of a mailbox's form. */
export const mailboxForm = {
  /** Inputs behind "More" are optional and without limits. */
  ids(template: Template) {
    const { kind, fields } = template
    const { front, more } = formInputsOf(kindOf(kind), fields)
    const isChecked = (id: MailboxInputId): boolean => isRequired(template, id) || maximumOf(template, id) !== ''
    return {
      front: [...front, ...more.filter(isChecked), ...fields.map(({ key }) => `metadata.${key}`), 'reason'],
      more: more.filter((id) => !isChecked(id)),
    }
  },

  label: (kind: ResourceKind, id: string): string => textsOf(kindOf(kind), id).label,

  /** Adds the facts that the texts need in addition to the core's suggestion: the people, or the organisation's domain. */
  explained({ faults, people, mailDomain }: RequestForm): readonly Fault[] {
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
   * `/roomMailboxMetadata/hasWhiteboard` → `roomMailboxMetadata.hasWhiteboard`; a person in `/permissions` is in one of
   * two pickers. A person in both is a fault of the second one.
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

  inputs(form: RequestForm, ids: readonly string[], faultOf: FaultLines) {
    const fields = fieldInputs(form, answerLength(form.template, 64, 200, 400), faultOf)
    return (id: string): FormInput | undefined =>
      isBuiltIn(id, form.template) ? builtIn(form, id, ids, faultOf) : fields.find((field) => field.id === id)
  },
}

function kindOf(kind: ResourceKind): MailboxKind {
  if (!isMailboxKind(kind)) throw new Error(`the mailbox form shows no template of the kind ${kind}`)
  return kind
}

const isBuiltIn = (id: string, { fields }: Template): id is MailboxInputId =>
  Object.hasOwn(mailboxInputs, id) && !fields.some(({ key }) => `metadata.${key}` === id)

interface InputTexts {
  readonly label: string
  readonly placeholder?: string
  readonly help?: string
  readonly error?: string
}
/** The texts of an input. Some differ for one kind of mailbox. */
function textsOf(kind: MailboxKind, id: string): InputTexts {
  const own: Readonly<Record<string, InputTexts>> = strings.mailboxOf[kind]
  const common: Readonly<Record<string, InputTexts>> = { ...strings.mailbox, reason: strings.site.reason }
  return own[id] ?? common[id] ?? { label: id }
}

function isRequired({ properties, approval }: Template, id: MailboxInputId): boolean {
  if (id === 'displayName' || id === 'name') return true
  return id === 'reason' ? approval !== null : properties[id]?.required === true
}

const maximumOf = ({ limits }: Template, id: MailboxInputId): number | '' =>
  id === 'capacity' ? (limits.capacityMaximum ?? '') : ''

function builtIn(form: RequestForm, id: MailboxInputId, ids: readonly string[], faultOf: FaultLines): FormInput {
  const { draft, template, mailDomain, people } = form
  const { type, most } = mailboxInputs[id]
  const { label, placeholder = '', error = strings.form.fillIn } = textsOf(kindOf(template.kind), id)
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
    placeholder: format(placeholder, { domain: mailDomain }),
    required,
    maxLength: type === 'text' || type === 'multiline' || type === 'number' ? most : 0,
    value: type === 'toggle' ? String(value === 'true') : value,
    choices: isPicker({ type }) ? chosenAmong(people, value) : [],
    fault: faultOf(id, error),
    help: helpOf(form, id, ids, maximum),
    checks: inputOfAddress(template, ids) === id,
    joins: id === 'permissions.FullAccess' && isLeftOut(form),
  })
}

/** Whether the requester cannot open the mailbox. */
const isLeftOut = ({ template, draft, requester }: RequestForm): boolean =>
  leavesOut(template, draft.values, requester.id)

/** The lines under an input: for a name the resulting names, for a reason who reads it. */
function helpOf(form: RequestForm, id: MailboxInputId, ids: readonly string[], maximum: number | ''): string[] {
  const { template, names } = form
  const { kind, approval, limits } = template
  const { help = '' } = textsOf(kindOf(kind), id)
  const lines: string[] = []
  if (id === 'displayName') lines.push(displayNameText(names, template))
  if (inputOfAddress(template, ids) === id) lines.push(addressText(names, template))
  if (id === 'reason') lines.push(approval === null ? '' : help)
  else if (maximum !== '') lines.push(format(strings.mailbox.capacity.upTo, { count: quantity(maximum) }))
  else lines.push(help)
  if (id === 'permissions.FullAccess' && isLeftOut(form)) lines.push(strings.review.withoutYou)
  const isLast = id === ids.findLast((one) => one.startsWith('permissions.'))
  if (isLast && limits.permissionsMaximum !== undefined)
    lines.push(format(strings.mailboxForm.mostPeople, { count: String(limits.permissionsMaximum) }))
  return lines
}
