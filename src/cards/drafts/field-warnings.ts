import { type FieldWarning, ownWarnings, type Request } from '../../core/index.ts'
import { format, strings } from '../shared/messages.ts'
import { cut, listOf, longest } from '../shared/texts.ts'
import { inputNames } from './based-on.ts'

/** The maximum number of names in one line. */
const maxNames = 8

/**
 * Returns the lines about fields without effect: one line for all values that only the request keeps, and one for each other
 * warning. Answers to the template's own questions are left out, because the requester did not choose them.
 */
export function fieldLines(of: Pick<Request, 'kind' | 'template'>, all: readonly FieldWarning[]): string[] {
  const texts = strings.review.warning
  const warnings = ownWarnings(all, of.template)
  const kept = warnings.filter(({ code }) => code === 'kept-on-request').map(({ field }) => field)
  const names = inputNames(of, kept).map((name) => cut(name, longest.name))
  const others = format(strings.people.others, { count: String(names.length - maxNames + 1) })
  const fields = listOf(names.length > maxNames ? [...names.slice(0, maxNames - 1), others] : names, 'unit')
  return [
    ...(kept.length > 0 ? [format(texts.kept, { fields, count: names.length })] : []),
    ...warnings.flatMap(({ code, field }) => {
      if (code === 'not-enforced') return [texts.replyNotForbidden]
      if (code === 'already-so') return [field === 'alias' ? texts.aliasIsAddress : texts.replyAlwaysOpen]
      // The card says on a line of its own that nobody has access.
      return []
    }),
  ]
}
