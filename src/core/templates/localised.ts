import { z } from 'zod'
import { because, type PlacedReason } from '../shared/index.ts'
import { fieldTexts } from './field.ts'

const text = (max: number) => z.string().trim().min(1).max(max)

/** The texts that a template and its translations have. */
export const templateTexts = {
  name: text(64).describe('The name that people see when they choose'),
  description: z.string().max(300).describe('The purpose, in one sentence'),
  labelName: text(64).describe('The name that people see'),
}

/** The texts of a template in one language. The template’s own text replaces each absent one. */
const translation = z.strictObject({
  name: templateTexts.name.optional().describe('The name in that language'),
  description: templateTexts.description.optional().describe('The description in that language'),
  fields: z
    .record(
      z.string().max(64),
      z.strictObject({
        label: fieldTexts.label.optional(),
        help: fieldTexts.help.optional(),
        placeholder: fieldTexts.placeholder.optional(),
        error: fieldTexts.error.optional(),
        choices: z
          .record(z.string().max(64), fieldTexts.title)
          .optional()
          .describe('The titles of choices, by stored value'),
      }),
    )
    .optional()
    .describe('The texts of questions, by key'),
  labels: z
    .record(z.string().max(64), templateTexts.labelName)
    .optional()
    .describe('The names of sensitivity labels, by id'),
})
type Translation = z.output<typeof translation>

/** Translations by BCP 47 language tag. */
export const localised = z
  .record(z.string().regex(/^[a-z]{2,3}(-[A-Za-z0-9]{2,8})*$/), translation)
  .default({})
  .describe('Texts by language: de, or de-CH. The template’s own text replaces an absent one')

type Choice = { readonly title: string; readonly value: string }
/** The parts of a template, or of a starter, that have texts for people. */
interface Texts {
  readonly name: string
  readonly description: string
  readonly localised: Readonly<Record<string, Translation>>
  readonly fields?: readonly (Partial<Record<'label' | 'help' | 'placeholder' | 'error', string>> & {
    readonly key: string
    readonly choices: readonly Choice[]
  })[]
  readonly labels?: { readonly allowed: readonly { readonly id: string; readonly name: string }[] }
}

/**
 * Returns a template with its texts in a locale. For `de-CH`, each text comes from `de-CH`, else `de`, else the template.
 * Values, keys and ids never change.
 */
export function inLocale<T extends Texts>(source: T, locale: string): T {
  const language = locale.toLowerCase()
  return Object.entries(source.localised)
    .filter(([tag]) => language === tag.toLowerCase() || language.startsWith(`${tag.toLowerCase()}-`))
    .sort(([one], [other]) => one.length - other.length)
    .reduce((read, [, texts]) => translated(read, texts), source)
}

function translated<T extends Texts>(source: T, { fields, labels, ...texts }: Translation): T {
  return {
    ...source,
    ...texts,
    ...(fields && {
      fields: source.fields?.map((field) => {
        const { choices, ...own } = memberOf(fields, field.key) ?? {}
        const titled = field.choices.map((one) => ({ ...one, title: memberOf(choices, one.value) ?? one.title }))
        return { ...field, ...own, choices: titled }
      }),
    }),
    ...(labels && {
      labels: {
        ...source.labels,
        allowed: source.labels?.allowed.map((one) => ({ ...one, name: memberOf(labels, one.id) ?? one.name })),
      },
    }),
  }
}

/** Returns a template's names in all languages. */
export const allNamesOf = ({ name, localised }: Pick<Texts, 'name' | 'localised'>): string[] => [
  name,
  ...Object.values(localised).flatMap((texts) => texts.name ?? []),
]

/** Returns a member of a record. A key such as `constructor` is no member unless the record has it. */
const memberOf = <V>(record: Readonly<Record<string, V>> | undefined, key: string): V | undefined =>
  record !== undefined && Object.hasOwn(record, key) ? record[key] : undefined

/** Returns the faults of translations: unknown languages, fields, choices and labels. Applied to new versions only. */
export function translationFaults({ localised, fields, labels }: Required<Texts>): PlacedReason[] {
  const choicesOf = (key: string) => fields.find((field) => field.key === key)?.choices ?? []
  const keys = fields.map(({ key }) => key)
  const labelIds = labels.allowed.map(({ id }) => id)
  return Object.entries(localised).flatMap(([tag, texts]) => {
    const at = (path: string[], reason: PlacedReason['reason']) => ({ path: [tag, ...path], reason })
    const unknown = Object.keys(texts.fields ?? {}).filter((key) => !keys.includes(key))
    const known = Object.entries(texts.fields ?? {}).filter(([key]) => keys.includes(key))
    return [
      ...(isLanguageTag(tag) ? [] : [at([], because('fieldFormat', { field: tag }))]),
      ...unknown.map((key) =>
        at(['fields', key], because('tokenOfNoField', { token: key, count: keys.length, fields: keys })),
      ),
      ...known.flatMap(([key, { choices = {} }]) =>
        Object.keys(choices)
          .filter((value) => !choicesOf(key).some((one) => one.value === value))
          .map((value) =>
            at(['fields', key, 'choices', value], because('conditionChoiceUnknown', { value, field: key })),
          ),
      ),
      ...Object.keys(texts.labels ?? {})
        .filter((id) => !labelIds.includes(id))
        .map((id) => at(['labels', id], because('conditionChoiceUnknown', { value: id, field: 'labelId' }))),
    ]
  })
}

/** Whether a text is a well-formed BCP 47 tag. */
function isLanguageTag(tag: string): boolean {
  try {
    return Intl.getCanonicalLocales(tag).length === 1
  } catch {
    return false
  }
}
