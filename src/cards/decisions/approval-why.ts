import {
  type ApprovalStage,
  type JudgedCondition,
  type Request,
  type TemplateSnapshot,
  titleOfFound,
} from '../../core/index.ts'
import { format, strings } from '../shared/messages.ts'
import { cut, listOf, longest } from '../shared/words.ts'

/** Why the admins were asked, or `''` when they were not. */
export const sinceWhat = ({ resolvedFor }: ApprovalStage): string =>
  resolvedFor === undefined ? '' : strings.approval.since[resolvedFor]

/** What a stage is asked for: the conditions of its template that held; `''` when it has none. */
export function becauseOf(request: Request, stage: ApprovalStage | undefined): string {
  const judged = request.policy?.find((one) => one.stage === stage?.stage)?.conditions ?? []
  return cut(
    listOf(
      judged.map((one) => inWords(request, one)),
      'and',
    ),
    longest.text,
  )
}

function inWords(request: Request, { condition, found }: JudgedCondition): string {
  const words = strings.approval.because
  if ('externalOwners' in condition) return format(words.externalOwners, { found: cut(found, longest.title) })
  const field = fieldName(request, condition.field)
  if (found === '') return format(words.missing, { field })
  const values = { field, found: cut(titleOfFound(request.template, condition.field, found), longest.title) }
  // What is no number is above and below all of them, which would be an odd thing to say.
  if (!Number.isNaN(Number(found))) {
    if ('above' in condition) return format(words.above, { ...values, bound: String(condition.above) })
    if ('below' in condition) return format(words.below, { ...values, bound: String(condition.below) })
  }
  return format(words.is, values)
}

const fieldNames: Readonly<Record<string, string>> = { displayName: strings.site.displayName.label, ...strings.field }

/** An admin's own words for a field of the template, ours for a field of the API. */
export function fieldName({ template }: { readonly template: Pick<TemplateSnapshot, 'fields'> }, name: string): string {
  const own = template.fields.find(({ key }) => `metadata.${key}` === name)
  const known = Object.hasOwn(fieldNames, name) ? fieldNames[name] : undefined
  return cut(own?.label ?? known ?? name, longest.name)
}
