import {
  type Approver,
  type Condition,
  isMailboxKind,
  type StagePolicy,
  type Template,
  type TemplateReport,
  titleOfFound,
} from '../../core/index.ts'
import { fieldName } from '../decisions/stage-texts.ts'
import { described, type Fact } from '../shared/facts.ts'
import { format, locale, strings } from '../shared/messages.ts'
import { cut, listOf, longest, quantity, unlike } from '../shared/texts.ts'

type Names = TemplateReport['names']
/** How many names a line shows; the others are counted. */
const maxNames = 6

const fact = (label: string, parts: readonly string[]): Fact[] => {
  const value = unlike(parts)
  return value === '' ? [] : described(label, value)
}
/** Like values as one part of a fact. */
const alike = (values: readonly string[]): string => listOf(values, 'unit')
const short = (parts: readonly string[]): string[] =>
  parts.length <= maxNames
    ? [...parts]
    : [...parts.slice(0, maxNames - 1), format(strings.people.others, { count: quantity(parts.length - maxNames + 1) })]
const nameOf = (names: Names, id: string): string => cut(names[id] ?? strings.catalogue.unknownId, longest.name)

/** The people who may use the template, and whether it is the default. */
export function useFacts({ template, names }: TemplateReport): Fact[] {
  const { audience } = template
  const who =
    audience === null
      ? [strings.catalogue.everybody]
      : [
          ...audience.groups.map((id) => format(strings.catalogue.inGroup, { name: nameOf(names, id) })),
          ...audience.people.map((id) => nameOf(names, id)),
        ]
  const { openPerPerson, resources } = template.quota
  return [
    ...fact(strings.catalogue.label.who, [who.length === 0 ? strings.catalogue.nobody : alike(short(who))]),
    ...fact(strings.catalogue.label.default, template.default ? [strings.catalogue.isDefault] : []),
    ...fact(strings.catalogue.label.languages, [alike(Object.keys(template.localised).map(languageOf))]),
    ...fact(strings.catalogue.label.quota, [
      openPerPerson === undefined ? '' : format(strings.catalogue.openPerPerson, { count: quantity(openPerPerson) }),
      resources === undefined ? '' : format(strings.catalogue.resources, { count: quantity(resources) }),
    ]),
  ]
}

/** "German" for `de`. An invalid tag (`de-ab-cd`) is unchanged. */
function languageOf(tag: string): string {
  try {
    return new Intl.DisplayNames(locale, { type: 'language' }).of(tag) ?? tag
  } catch {
    return tag
  }
}

/** The template's own questions and their limits. */
export const questionFacts = ({ template: { fields } }: TemplateReport): Fact[] =>
  fields.flatMap(({ label, type, required, choices, pattern, minimum, maximum, customAttribute, ...field }) =>
    fact(cut(label, longest.name), [
      strings.catalogue.type[type],
      required ? strings.catalogue.required : '',
      alike(short(choices.map(({ title }) => title))),
      pattern === undefined ? '' : format(strings.catalogue.pattern, { pattern }),
      minimum === undefined ? '' : format(strings.catalogue.least, { value: boundOf(minimum) }),
      maximum === undefined ? '' : format(strings.catalogue.most, { value: boundOf(maximum) }),
      field.default === undefined ? '' : format(strings.catalogue.default, { value: shownValue(field.default) }),
      customAttribute === undefined ? '' : format(strings.catalogue.attribute, { number: String(customAttribute) }),
    ]),
  )

const boundOf = (bound: number | string): string => (bound === 'today' ? strings.catalogue.today : shownValue(bound))
const shownValue = (value: unknown): string => {
  if (typeof value === 'boolean') return value ? strings.catalogue.yes : strings.catalogue.no
  return Array.isArray(value) ? listOf(value.map(String), 'unit') : String(value)
}

/** The template's rules for the fields of the API. Fields that the form only hides share one line. */
export function propertyFacts({ template }: TemplateReport): Fact[] {
  const rules = Object.entries(template.properties)
  const isOnlyHidden = ([, rule]: (typeof rules)[number]) =>
    !rule.shown && !rule.required && rule.fixed === undefined && rule.default === undefined
  const hidden = rules.filter(isOnlyHidden).map(([id]) => fieldName({ template }, id))
  const others = rules.filter((one) => !isOnlyHidden(one))
  return [
    ...others.flatMap(([id, rule]) =>
      fact(fieldName({ template }, id), [
        rule.fixed === undefined ? '' : format(strings.catalogue.fixed, { value: shownValue(rule.fixed) }),
        rule.default === undefined ? '' : format(strings.catalogue.default, { value: shownValue(rule.default) }),
        rule.required ? strings.catalogue.required : '',
        rule.shown ? '' : strings.catalogue.notAsked,
      ]),
    ),
    ...fact(strings.catalogue.label.notAsked, [alike(short(hidden))]),
  ]
}

/** The naming rules, with an example. */
export function nameFacts({ template: { kind, naming }, example }: TemplateReport): Fact[] {
  const { prefix, suffix, blockedWords = [], allowReservedNames = [], allowFormerAddresses } = naming
  const around = prefix === '' && suffix === '' ? [] : [patternText(`${prefix}{input}${suffix}`)]
  const rules = (['displayName', 'name', 'alias'] as const).flatMap((field) => {
    const rule = naming[field]
    if (!rule) return []
    const allowed = rule.allowed === '' ? '' : format(strings.catalogue.allowed, { characters: rule.allowed })
    const label = field === 'alias' && isMailboxKind(kind) ? strings.field.alias : strings.catalogue.label[field]
    return fact(label, [patternText(rule.pattern), allowed])
  })
  return [
    ...rules,
    ...fact(strings.catalogue.label.name, around),
    ...fact(strings.catalogue.label.blocked, [alike(short(blockedWords))]),
    ...fact(strings.catalogue.label.reservedNames, [alike(short(allowReservedNames))]),
    ...fact(strings.catalogue.label.formerAddresses, allowFormerAddresses ? [strings.catalogue.givenAtOnce] : []),
    ...(example && example.displayName !== example.typed
      ? fact(strings.catalogue.label.exampleName, [example.displayName])
      : []),
    ...(example ? fact(strings.catalogue.label.example, [addressInShort(example.address)]) : []),
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
        : format(strings.catalogue.owners, { least: String(ownersMinimum), most: String(ownersMaximum) }),
      externalOwners ? '' : strings.catalogue.ownOwnersOnly,
    ]),
    ...fact(
      strings.field.capacity,
      capacityMaximum === undefined ? [] : [format(strings.catalogue.megabytes, { count: quantity(capacityMaximum) })],
    ),
    ...fact(strings.catalogue.label.access, [
      permissionsMaximum === undefined ? '' : format(strings.catalogue.people, { count: quantity(permissionsMaximum) }),
      alike((accessLevels ?? []).map((level) => strings.field[`permissions.${level}`])),
    ]),
    ...fact(strings.field.labelId, [
      alike(allowed.map(({ name }) => name)),
      usualName === undefined ? '' : format(strings.catalogue.default, { value: usualName }),
    ]),
  ]
}

/** The approvers and conditions of each stage. */
export function approvalFacts({ template, names }: TemplateReport): Fact[] {
  const { approval } = template
  if (approval === null) return fact(strings.catalogue.label.approval, [strings.catalogue.noApproval])
  const stages = approval.stages.flatMap((stage, index) =>
    fact(format(strings.catalogue.label.stage, { number: String(index + 1) }), stageParts(stage, names, template)),
  )
  const { expiresAfterDays: days, differentPeople } = approval
  return [
    ...stages,
    ...fact(strings.catalogue.label.approval, differentPeople ? [strings.catalogue.differentPeople] : []),
    ...fact(
      strings.catalogue.label.expires,
      days === undefined ? [] : [format(strings.catalogue.days, { count: quantity(days) })],
    ),
  ]
}

function stageParts(stage: StagePolicy, names: Names, template: Template): string[] {
  const { approvers, rule, quorum, when = [], selfApproval, remindAfterHours, escalateAfterHours, backup = [] } = stage
  const count = String(quorum ?? approvers.length)
  return [
    format(strings.catalogue.rule[rule], {
      count,
      people: listOf(short(askedOf(approvers, names)), rule === 'any' ? 'or' : 'and'),
    }),
    ...when.map((one) => conditionText(one, template)),
    selfApproval === true ? strings.catalogue.selfApproval : '',
    remindAfterHours === undefined ? '' : format(strings.catalogue.reminds, { hours: quantity(remindAfterHours) }),
    escalateAfterHours === undefined
      ? ''
      : format(strings.catalogue.escalates, { hours: quantity(escalateAfterHours) }),
    backup.length === 0
      ? ''
      : format(strings.catalogue.backup, { people: listOf(short(askedOf(backup, names)), 'and') }),
  ]
}

const askedOf = (approvers: readonly Approver[], names: Names): string[] =>
  approvers.map((one) => {
    if ('manager' in one) return strings.catalogue.manager
    if ('user' in one) return nameOf(names, one.user)
    if ('group' in one) return format(strings.catalogue.inGroup, { name: nameOf(names, one.group) })
    return format(strings.catalogue.ownersOf, { name: nameOf(names, one.ownersOf) })
  })

function conditionText(one: Condition, template: Template): string {
  if ('externalOwners' in one) return strings.catalogue.when.externalOwners
  const field = fieldName({ template }, one.field)
  if ('above' in one) return format(strings.catalogue.when.above, { field, bound: quantity(one.above) })
  if ('below' in one) return format(strings.catalogue.when.below, { field, bound: quantity(one.below) })
  if ('given' in one)
    return format(one.given ? strings.catalogue.when.given : strings.catalogue.when.notGiven, { field })
  const [values, key] = 'oneOf' in one ? [one.oneOf, 'oneOf' as const] : [one.noneOf, 'noneOf' as const]
  const titles = values.map((value) => titleOfFound(template, one.field, String(value)))
  return format(strings.catalogue.when[key], { field, values: listOf(short(titles), 'or') })
}

/** The receiver of the template's webhook: only its host, and never the secret. */
export const webhookFacts = ({ template: { webhook } }: TemplateReport): Fact[] =>
  webhook === null ? [] : fact(strings.catalogue.label.webhook, [new URL(webhook.url).host, alike(webhook.events)])

/** Only the path of a site: its whole address is wider than a phone. */
const addressInShort = (address: string): string => (URL.canParse(address) ? new URL(address).pathname : address)

const tokenName = (token: string): string => {
  const names: Readonly<Record<string, string>> = strings.names.part
  return (Object.hasOwn(names, token) && names[token]) || token
}

/** Shows tokens as ‹input›: braces on a card would look like an unfilled placeholder. */
const patternText = (pattern: string): string =>
  pattern.replace(/\{([^{}]*)\}/g, (_, token: string) => `‹${tokenName(token)}›`)
