import { type BasedOn, isMailboxKind, type Request } from '../../core/index.ts'
import type { Line } from '../decisions/stage-texts.ts'
import { format, strings } from '../shared/messages.ts'
import { cut, listOf, longest } from '../shared/texts.ts'

type Of = Pick<Request, 'kind' | 'template'>

/** Cards show the features of a room on one line. */
const ofRoom = (input: string): boolean =>
  input.startsWith('roomMailboxMetadata.') || input === 'isWheelChairAccessible'

/** The label of an input: the template's label for its own field, else ours. */
function nameOf({ kind, template }: Of, input: string): string {
  const own = template.fields.find(({ key }) => `metadata.${key}` === input)
  if (own) return own.label
  if (input === 'displayName') return strings.basedOn.name
  if (input === 'name' || (input === 'alias' && !isMailboxKind(kind))) return strings.field.address
  if (ofRoom(input)) return strings.field.inTheRoom
  const known: Readonly<Record<string, string>> = strings.field
  return (Object.hasOwn(known, input) ? known[input] : undefined) ?? input.replace(/^metadata\./, '')
}

/** The names of inputs, each once. */
export const inputNames = (of: Of, inputs: readonly string[]): string[] => [
  ...new Set(inputs.map((input) => nameOf(of, input))),
]

/** The names of the inputs that differ from the earlier request, each once. */
export const changedNames = (of: Of, { changed }: Pick<BasedOn, 'changed'>): string[] => inputNames(of, changed)

/** The changed names in a sentence: the first few and the number of the others. */
function namesText(of: Of, basedOn: BasedOn): string {
  const names = changedNames(of, basedOn).map((name) => cut(name, longest.name))
  const most = 6
  const others = format(strings.people.others, { count: String(names.length - most + 1) })
  return listOf(names.length > most ? [...names.slice(0, most - 1), others] : names, 'unit')
}

/** The changes since the earlier request, for the requester; `''` for a new request. */
export function changedText(of: Of, basedOn: BasedOn | undefined): string {
  if (!basedOn) return ''
  const { how, reference, ended, changed } = basedOn
  const texts = strings.basedOn.review[how]
  const values = { reference, changed: namesText(of, basedOn) }
  if (changed.length > 0) return format(texts.changed, values)
  return format(how === 'resubmission' && ended?.status === 'rejected' ? texts.rejected : texts.same, values)
}

/** The earlier request for the approver: its end, and the changes unless the card lists them (`isListed`). */
export function linesOfBasis(
  request: Pick<Request, 'kind' | 'template' | 'basedOn'>,
  viewerId: string,
  isListed = false,
): Line[] {
  const { basedOn } = request
  if (!basedOn) return []
  const { how, reference, ended, changed } = basedOn
  const texts = strings.basedOn.approval
  const values = {
    reference,
    name: cut(ended?.by?.displayName ?? '', longest.name),
    comment: cut(ended?.comment ?? '', longest.text),
    changed: namesText(request, basedOn),
  }
  const ending = how === 'repeat' ? 'repeat' : endingOf(ended, viewerId)
  const change = changed.length > 0 ? texts.changed : texts.same
  return [texts[ending], ...(isListed ? [] : [change])].map((sentence) => ({
    text: format(sentence, values),
    weight: 'Default',
  }))
}

/** How the earlier request ended: by nobody known, by the viewer, or by another person; with a comment or without. */
function endingOf(ended: BasedOn['ended'], viewerId: string | undefined) {
  const isOwn = ended?.by?.id === viewerId
  if (ended?.status === 'rejected') {
    if (!ended.by) return 'rejected'
    if (isOwn) return ended.comment ? 'rejectedByYouWith' : 'rejectedByYou'
    return ended.comment ? 'rejectedWith' : 'rejectedBy'
  }
  if (ended?.status === 'cancelled') {
    if (!ended.by) return 'cancelled'
    if (isOwn) return ended.comment ? 'cancelledByYouWith' : 'cancelledByYou'
    return ended.comment ? 'cancelledWith' : 'cancelledBy'
  }
  return ended?.status === 'expired' || ended?.status === 'failed' ? ended.status : 'again'
}
