import { flagsOf, mailboxFlags, siteFlags } from './body.ts'
import { texts } from './terminal.ts'

/** The parts of a JSON pointer, with or without `#`: `#/metadata/costCentre` → `metadata`, `costCentre`. */
export const placeOf = (pointer: string): readonly string[] =>
  pointer
    .replace(/^#?\/?/, '')
    .split('/')
    .filter((part) => part !== '')
    .map((part) => decoded(part).replaceAll('~1', '/').replaceAll('~0', '~'))

function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

/** Names a field as people change it. */
export type FieldNames = (pointer: string) => string

const flags = [...flagsOf(siteFlags), ...flagsOf(mailboxFlags)]

/** Names a field by its flag: `--display-name`, `--metadata costCentre`. */
export const asFlag: FieldNames = (pointer) => {
  const place = placeOf(pointer)
  const [field = '', key] = place
  const path = place.join('.')
  const known = flags.find((one) => one.path === path) ?? flags.find((one) => one.path === field)
  if (known) return key !== undefined && known.takes.endsWith('pairs') ? `--${known.flag} ${key}` : `--${known.flag}`
  const flag = field.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
  return Object.hasOwn(texts.options, flag) ? `--${flag}` : path
}

/** Names a field by its column in a list: `template`, `metadata.costCentre`, `owners`. */
export const asColumn: FieldNames = (pointer) => {
  const place = placeOf(pointer)
  const [field = ''] = place
  if (field === 'templateId') return 'template'
  return ['metadata', 'roomMailboxMetadata'].includes(field) ? place.join('.') : field
}
