import { applicability, applies, mailboxRequest, siteRequest } from '../resources/index.ts'
import { because, type Fault, fault, isRecord, type MailboxKind, withoutNulls } from '../shared/index.ts'

/**
 * Whether a value counts as unset: typed clients send `false`, `""`, `[]` and `{}` for unset fields. An object of such values also
 * counts as unset.
 */
export function isBlank(value: unknown): boolean {
  if (value === undefined || value === null || value === false || value === '') return true
  if (Array.isArray(value)) return value.length === 0
  return isRecord(value) && Object.values(value).every(isBlank)
}

const bodies = { site: siteRequest, mailbox: mailboxRequest } as const

/**
 * Returns a body without its absent fields: nulls in optional fields, and unset fields of the other resource. Typed clients with
 * one class for sites and mailboxes send both kinds of fields.
 */
export function withoutAbsent(resource: 'site' | 'mailbox', sent: unknown): unknown {
  const body = withoutNulls(bodies[resource], sent)
  if (!isRecord(body)) return body
  const [own, foreign] = [bodies[resource].shape, bodies[resource === 'site' ? 'mailbox' : 'site'].shape]
  const isForeign = (field: string) => !Object.hasOwn(own, field) && Object.hasOwn(foreign, field)
  return Object.fromEntries(
    Object.entries(body).filter(([field, value]) => !isForeign(field) || !(isBlank(value) || isNoId(value))),
  )
}

function valueAt(body: Readonly<Record<string, unknown>>, property: string): unknown {
  const [field = '', key] = property.split('/')
  const value = Object.hasOwn(body, field) ? body[field] : undefined
  if (key === undefined) return value
  return isRecord(value) && Object.hasOwn(value, key) ? value[key] : undefined
}

/** Returns the properties of {@link applicability} that a body contains. */
function propertiesIn(body: Readonly<Record<string, unknown>>): string[] {
  const isPresent = (value: unknown) => value !== undefined && value !== null && value !== ''
  return Object.keys(applicability).filter((property) => isPresent(valueAt(body, property)))
}

export const nameOf = (property: string): string => property.replace('/', '.')

/**
 * Returns the properties by which a body without a template implies its kind (DESIGN §5). `false` and `{}` count only if no
 * property has another value: a typed client also sends them for the other kinds.
 */
export function propertiesOfOneKind(body: Readonly<Record<string, unknown>>): string[] {
  const ofOneKind = propertiesIn(body).filter((property) => applicability[property]?.length === 1)
  const set = ofOneKind.filter((property) => !isBlank(valueAt(body, property)))
  return set.length > 0 ? set : ofOneKind
}

/** Returns faults for set properties that this kind of mailbox does not have (API document, rule 3). */
export function inapplicable(kind: MailboxKind, body: Readonly<Record<string, unknown>>): Fault[] {
  return propertiesIn(body)
    .filter((property) => !applies(property, kind) && !isBlank(valueAt(body, property)))
    .map((property) => {
      const facts = { name: nameOf(property), has: applicability[property]?.[0] ?? '', kind }
      return fault(`/${property}`, 'not-applicable', because('notForKind', facts))
    })
}

/** Optional ids. Typed clients send `""` or the id of zeros for an unset one. */
const optionalIds = ['templateId', 'primaryOwner', 'secondaryOwner']
const noId = '00000000-0000-0000-0000-000000000000'
export const isNoId = (id: unknown): boolean => id === undefined || id === null || id === '' || id === noId

/** Returns a body without empty ids and without unset properties that this kind of mailbox does not have. */
export function withoutBlanks(
  kind: MailboxKind | undefined,
  body: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const kept = Object.fromEntries(
    Object.entries(body).filter(([field, value]) => !isNoId(value) || !optionalIds.includes(field)),
  )
  if (kind === undefined) return kept
  for (const property of Object.keys(applicability)) {
    if (applies(property, kind) || !isBlank(valueAt(kept, property))) continue
    const [field = '', key] = property.split('/')
    const outer = kept[field]
    if (key === undefined) delete kept[field]
    else if (isRecord(outer)) kept[field] = Object.fromEntries(Object.entries(outer).filter(([name]) => name !== key))
  }
  return kept
}
