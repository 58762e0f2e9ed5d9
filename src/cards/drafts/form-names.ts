import { addressRuleOf, type NamePreview, type Template } from '../../core/index.ts'
import { withoutScheme } from '../shared/links.ts'
import { format, strings } from '../shared/messages.ts'
import { cut, longest } from '../shared/words.ts'

/** The input under which a form tells of the address: the one that asks for it, else the name that it is made of. */
export const inputOfAddress = ({ kind }: Pick<Template, 'kind'>, ids: readonly string[]): string =>
  ids.includes(addressRuleOf(kind)) ? addressRuleOf(kind) : 'displayName'

/** What the address will be, in a sentence, and whether it is free where somebody has looked. */
export function addressWords(names: NamePreview, template: Pick<Template, 'fields'>): string {
  const address = withoutScheme(inWords(names.address, template))
  if (address === '') return ''
  const how = names.stands === 'silent' ? 'silent' : names.isNumbered ? 'numbered' : names.stands
  return format(strings.names[how === 'sketch' || how === 'likely' ? 'becomes' : how], { address })
}

/** What people will see, where that is not what is typed; `''` where it is. */
export const displayNameWords = ({ displayName }: NamePreview, template: Pick<Template, 'fields'>): string =>
  displayName === '' ? '' : format(strings.names.shown, { name: cut(inWords(displayName, template), longest.title) })

/** What nobody knows yet stands there by its name: `room-{city}-…` → `room-‹city›-…`. */
function inWords(sketch: string, { fields }: Pick<Template, 'fields'>): string {
  return sketch.replace(/\{(\w+(?:\.\w+)?)\}/g, (whole, token: string) => {
    const known: Readonly<Record<string, string>> = strings.names.part
    const label = fields.find(({ key }) => `metadata.${key}` === token)?.label ?? known[token]
    return label === undefined ? whole : format(strings.names.later, { what: label })
  })
}
