import {
  type Approver,
  type Condition,
  isMailboxKind,
  type StagePolicy,
  type Template,
  type TemplateReport,
} from '../../core/index.ts'
import { fieldName } from '../decisions/stage-texts.ts'
import { described, type Fact } from '../shared/facts.ts'
import { format, strings } from '../shared/messages.ts'
import { cut, listOf, longest, quantity } from '../shared/texts.ts'

type Names = TemplateReport['names']
const words = strings.catalogue
/** How many names a line shows; the others are counted. */
const mostNames = 6

const fact = (label: string, parts: readonly string[]): Fact[] => {
  const known = parts.filter((part) => part !== '')
  return known.length === 0 ? [] : described(label, listOf(known, 'unit'))
}
const short = (parts: readonly string[]): string[] =>
  parts.length <= mostNames
    ? [...parts]
    : [
        ...parts.slice(0, mostNames - 1),
        format(strings.people.others, { count: quantity(parts.length - mostNames + 1) }),
      ]
const nameOf = (names: Names, id: string): string => cut(names[id] ?? words.unknownId, longest.name)

/** Who may use the template, and whether it is the default. */
export function useFacts({ template, names }: TemplateReport): Fact[] {
  const { audience } = template
  const who =
    audience === null
      ? [words.everybody]
      : [
          ...audience.groups.map((id) => format(words.inGroup, { name: nameOf(names, id) })),
          ...audience.people.map((id) => nameOf(names, id)),
        ]
  const { openPerPerson, resources } = template.quota
  return [
    ...fact(words.label.who, who.length === 0 ? [words.nobody] : short(who)),
    ...fact(words.label.default, template.default ? [words.isDefault] : []),
    ...fact(words.label.languages, Object.keys(template.localised).map(languageOf)),
    ...fact(words.label.quota, [
      openPerPerson === undefined ? '' : format(words.openPerPerson, { count: quantity(openPerPerson) }),
      resources === undefined ? '' : format(words.resources, { count: quantity(resources) }),
    ]),
  ]
}

const languages = new Intl.DisplayNames(strings.locale, { type: 'language' })

/** "German" for `de`. An invalid tag (`de-ab-cd`) is unchanged. */
function languageOf(tag: string): string {
  try {
    return languages.of(tag) ?? tag
  } catch {
    return tag
  }
}

/** The template's own questions and their limits. */
export const questionFacts = ({ template: { fields } }: TemplateReport): Fact[] =>
  fields.flatMap(({ label, type, required, choices, pattern, minimum, maximum, customAttribute, ...field }) =>
    fact(cut(label, longest.name), [
      words.type[type],
      required ? words.required : '',
      ...short(choices.map(({ title }) => title)),
      pattern === undefined ? '' : format(words.pattern, { pattern }),
      minimum === undefined ? '' : format(words.least, { value: boundOf(minimum) }),
      maximum === undefined ? '' : format(words.most, { value: boundOf(maximum) }),
      field.default === undefined ? '' : format(words.default, { value: shownValue(field.default) }),
      customAttribute === undefined ? '' : format(words.attribute, { number: String(customAttribute) }),
    ]),
  )

const boundOf = (bound: number | string): string => (bound === 'today' ? words.today : shownValue(bound))
const shownValue = (value: unknown): string => {
  if (typeof value === 'boolean') return value ? words.yes : words.no
  return Array.isArray(value) ? listOf(value.map(String), 'unit') : String(value)
}

/** The template's rules for the fields of the API. Fields that the form only leaves out share one line. */
export function propertyFacts({ template }: TemplateReport): Fact[] {
  const rules = Object.entries(template.properties)
  const isOnlyHidden = ([, rule]: (typeof rules)[number]) =>
    !rule.shown && !rule.required && rule.fixed === undefined && rule.default === undefined
  const hidden = rules.filter(isOnlyHidden).map(([id]) => fieldName({ template }, id))
  const others = rules.filter((one) => !isOnlyHidden(one))
  return [
    ...others.flatMap(([id, rule]) =>
      fact(fieldName({ template }, id), [
        rule.fixed === undefined ? '' : format(words.fixed, { value: shownValue(rule.fixed) }),
        rule.default === undefined ? '' : format(words.default, { value: shownValue(rule.default) }),
        rule.required ? words.required : '',
        rule.shown ? '' : words.notAsked,
      ]),
    ),
    ...fact(words.label.notAsked, short(hidden)),
  ]
}

/** The naming rules, with an example. */
export function nameFacts({ template: { kind, naming }, example }: TemplateReport): Fact[] {
  const { prefix, suffix, blockedWords = [], allowReservedNames = [], allowFormerAddresses } = naming
  const around = prefix === '' && suffix === '' ? [] : [patternInWords(`${prefix}{input}${suffix}`)]
  const rules = (['displayName', 'name', 'alias'] as const).flatMap((field) => {
    const rule = naming[field]
    if (!rule) return []
    const allowed = rule.allowed === '' ? '' : format(words.allowed, { characters: rule.allowed })
    const label = field === 'alias' && isMailboxKind(kind) ? strings.field.alias : words.label[field]
    return fact(label, [patternInWords(rule.pattern), allowed])
  })
  return [
    ...rules,
    ...fact(words.label.name, around),
    ...fact(words.label.blocked, short(blockedWords)),
    ...fact(words.label.reservedNames, short(allowReservedNames)),
    ...fact(words.label.formerAddresses, allowFormerAddresses ? [words.givenAtOnce] : []),
    ...(example && example.displayName !== example.typed ? fact(words.label.exampleName, [example.displayName]) : []),
    ...(example ? fact(words.label.example, [addressInShort(example.address)]) : []),
  ]
}

export function limitFacts({ template: { limits, labels } }: Pick<TemplateReport, 'template'>): Fact[] {
  const { ownersMinimum, ownersMaximum, externalOwners, capacityMaximum, permissionsMaximum, accessLevels } = limits
  const { allowed, default: usual } = labels
  const usualName = allowed.find(({ id }) => id === usual)?.name
  return [
    ...fact(strings.field.owners, [
      ownersMinimum === 1 && ownersMaximum === 20
        ? ''
        : format(words.owners, { least: String(ownersMinimum), most: String(ownersMaximum) }),
      externalOwners ? '' : words.ownOwnersOnly,
    ]),
    ...fact(
      strings.field.capacity,
      capacityMaximum === undefined ? [] : [format(words.megabytes, { count: quantity(capacityMaximum) })],
    ),
    ...fact(words.label.access, [
      permissionsMaximum === undefined ? '' : format(words.people, { count: quantity(permissionsMaximum) }),
      ...(accessLevels ?? []).map((level) => strings.field[`permissions.${level}`]),
    ]),
    ...fact(strings.field.labelId, [
      ...allowed.map(({ name }) => name),
      usualName === undefined ? '' : format(words.default, { value: usualName }),
    ]),
  ]
}

/** Who decides, stage by stage, and under which conditions. */
export function approvalFacts({ template, names }: TemplateReport): Fact[] {
  const { approval } = template
  if (approval === null) return fact(words.label.approval, [words.noApproval])
  const stages = approval.stages.flatMap((stage, index) =>
    fact(format(words.label.stage, { number: String(index + 1) }), stageParts(stage, names, template)),
  )
  const { expiresAfterDays: days } = approval
  return [
    ...stages,
    ...fact(words.label.expires, days === undefined ? [] : [format(words.days, { count: quantity(days) })]),
  ]
}

function stageParts(stage: StagePolicy, names: Names, template: Template): string[] {
  const { approvers, rule, quorum, when = [], selfApproval, remindAfterHours, escalateAfterHours, backup = [] } = stage
  const count = String(quorum ?? approvers.length)
  return [
    format(words.rule[rule], {
      count,
      people: listOf(short(askedOf(approvers, names)), rule === 'any' ? 'or' : 'and'),
    }),
    ...when.map((one) => conditionInWords(one, template)),
    selfApproval === true ? words.selfApproval : '',
    remindAfterHours === undefined ? '' : format(words.reminds, { hours: quantity(remindAfterHours) }),
    escalateAfterHours === undefined ? '' : format(words.escalates, { hours: quantity(escalateAfterHours) }),
    backup.length === 0 ? '' : format(words.backup, { people: listOf(short(askedOf(backup, names)), 'and') }),
  ]
}

const askedOf = (approvers: readonly Approver[], names: Names): string[] =>
  approvers.map((one) => {
    if ('manager' in one) return words.manager
    if ('user' in one) return nameOf(names, one.user)
    if ('group' in one) return format(words.inGroup, { name: nameOf(names, one.group) })
    return format(words.ownersOf, { name: nameOf(names, one.ownersOf) })
  })

function conditionInWords(one: Condition, template: Template): string {
  if ('externalOwners' in one) return words.when.externalOwners
  const field = fieldName({ template }, one.field)
  if ('above' in one) return format(words.when.above, { field, bound: quantity(one.above) })
  if ('below' in one) return format(words.when.below, { field, bound: quantity(one.below) })
  if ('given' in one) return format(one.given ? words.when.given : words.when.notGiven, { field })
  const [values, key] = 'oneOf' in one ? [one.oneOf, 'oneOf' as const] : [one.noneOf, 'noneOf' as const]
  const titles = values.map((value) => titleOf(one.field, String(value), template))
  return format(words.when[key], { field, values: listOf(short(titles), 'or') })
}

/** The title of a label or a choice, whose id or value the request holds. */
function titleOf(field: string, value: string, { fields, labels }: Template): string {
  const label = field === 'labelId' ? labels.allowed.find(({ id }) => id === value)?.name : undefined
  const own = fields.find(({ key }) => `metadata.${key}` === field)
  return label ?? own?.choices.find((choice) => choice.value === value)?.title ?? value
}

/** The receiver of the template's webhook: only its host, and never the secret. */
export const webhookFacts = ({ template: { webhook } }: TemplateReport): Fact[] =>
  webhook === null ? [] : fact(words.label.webhook, [new URL(webhook.url).host, ...webhook.events])

/** Only the path of a site: its whole address is wider than a phone. */
const addressInShort = (address: string): string => (URL.canParse(address) ? new URL(address).pathname : address)

/** Shows tokens as ‹input›: braces on a card would look like a text that was not filled in. */
const patternInWords = (pattern: string): string => pattern.replace(/\{([^{}]*)\}/g, '‹$1›')
