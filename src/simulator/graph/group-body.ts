import { allExtensions, type Extension, groupExtensions, roleAdministrators } from '../registrations/index.ts'
import { asRecord, type Call, findLabel, findPerson, type Modes, type Role, type Tenant } from '../tenant/index.ts'
import { badRequest, notFound, refuse, requireRole } from './wire.ts'

/** The change in a body of POST or PATCH /groups, checked as Graph checks it. */
export interface GroupChange {
  /** Plain properties to store. */
  readonly doc: Record<string, unknown>
  readonly mailNickname: string | undefined
  readonly unified: boolean | undefined
  /** The values of schema extensions by name; null removes a value. */
  readonly extensions: Readonly<Record<string, Record<string, unknown> | null>>
  /** Object ids to add, by role. */
  readonly owners: readonly string[]
  readonly members: readonly string[]
}

const stored = new Set([
  'displayName',
  'description',
  'visibility',
  'securityEnabled',
  'isAssignableToRole',
  'preferredDataLocation',
  'preferredLanguage',
  'theme',
  'resourceBehaviorOptions',
])
const read = new Set([
  'mailNickname',
  'mailEnabled',
  'groupTypes',
  'uniqueName',
  'assignedLabels',
  'owners@odata.bind',
  'members@odata.bind',
])
/** Accepted without effect since May 2026 (sp-dev-docs #10875): only the mailNickname determines a site's path. */
const ignored = new Set(['creationOptions', 'classification', '@odata.type'])

/** Reads a body. With `creating`, the properties that a new group needs are required. */
export function readGroupBody(tenant: Tenant, call: Call, creating: boolean): GroupChange {
  const body = asRecord(call.body)
  const extensions = allExtensions(tenant).filter(({ id }) => id in body)
  for (const name of Object.keys(body)) {
    if (stored.has(name) || read.has(name) || ignored.has(name) || extensions.some(({ id }) => id === name)) continue
    badRequest(call, `The property '${name}' does not exist on type 'microsoft.graph.group'.`)
  }
  if (creating) requireProperties(call, body)
  checkValues(call, body)
  if (body['isAssignableToRole'] === true) {
    if (!creating) badRequest(call, 'The property isAssignableToRole can only be set at the time of group creation.')
    if (body['securityEnabled'] !== true)
      badRequest(call, 'A group that is assignable to roles must be a security group.')
    requireRole(tenant, call, roleAdministrators)
  }
  const types = body['groupTypes']
  const unified = Array.isArray(types) ? types.includes('Unified') : creating ? false : undefined
  if (creating && body['mailEnabled'] === true && !unified) {
    badRequest(call, 'The service does not currently support writes of mail-enabled groups.')
  }
  if (creating && unified && body['mailEnabled'] !== true) invalid(call, 'mailEnabled')
  const labels = readLabels(call, body['assignedLabels'])
  const doc = Object.fromEntries(Object.entries(body).filter(([name]) => stored.has(name)))
  return {
    doc: labels ? { ...doc, assignedLabels: labels } : doc,
    mailNickname: typeof body['mailNickname'] === 'string' ? body['mailNickname'] : undefined,
    unified,
    extensions: Object.fromEntries(extensions.map((one) => [one.id, readExtension(tenant, call, one, body[one.id])])),
    ...readBinds(call, body),
  }
}

function requireProperties(call: Call, body: Record<string, unknown>): void {
  for (const name of ['displayName', 'mailEnabled', 'mailNickname', 'securityEnabled']) {
    if (body[name] !== undefined && body[name] !== null && body[name] !== '') continue
    const message = `A value is required for property '${name}' of resource 'Group'.`
    refuse(call, 400, 'Request_BadRequest', message, [{ code: 'MissingValue', target: name, message }])
  }
}

const invalid = (call: Call, name: string): never => {
  const message = `Invalid value specified for property '${name}' of resource 'Group'.`
  return refuse(call, 400, 'Request_BadRequest', message, [{ code: 'InvalidValue', target: name, message }])
}

function checkValues(call: Call, body: Record<string, unknown>): void {
  const textOf = (name: string, longest: number, pattern = /^/) => {
    const value = body[name]
    if (value === undefined) return
    if (typeof value !== 'string' || value.length > longest || !pattern.test(value)) invalid(call, name)
  }
  textOf('displayName', 256, /\S/)
  if (body['description'] !== null) textOf('description', 1024)
  // ASCII without @ ( ) \ [ ] " ; : < > , and space.
  textOf('mailNickname', 64, /^[!#-'*+\-./0-9=?A-Z^_`a-z{|}~]+$/)
  textOf('visibility', 20, /^(Private|Public|HiddenMembership)$/)
  for (const name of ['mailEnabled', 'securityEnabled', 'isAssignableToRole']) {
    if (body[name] !== undefined && typeof body[name] !== 'boolean') invalid(call, name)
  }
  for (const name of ['groupTypes', 'resourceBehaviorOptions']) {
    if (body[name] !== undefined && !Array.isArray(body[name])) invalid(call, name)
  }
}

/** Labels need a signed-in person: Graph has no app-only permission for them. */
function readLabels(call: Call, value: unknown): { labelId: string; displayName: string }[] | undefined {
  if (value === undefined) return undefined
  if (call.caller.appOnly) {
    refuse(call, 401, 'Unauthorized', 'Setting assignedLabels with an app-only token is not supported.')
  }
  if (!Array.isArray(value)) return invalid(call, 'assignedLabels')
  return value.map((each) => {
    const label = findLabel(String(asRecord(each)['labelId'] ?? ''))
    return label ? { labelId: label.id, displayName: label.name } : invalid(call, 'assignedLabels')
  })
}

/** Reads an extension's value. Groups refuse a new extension until all servers know it. */
function readExtension(
  tenant: Tenant,
  call: Call,
  extension: Extension,
  value: unknown,
): Record<string, unknown> | null {
  const name = extension.id
  if (!groupExtensions(tenant).some(({ id }) => id === name)) {
    const names = Object.keys(asRecord(value)).map((property) => `${name}_${property}`)
    badRequest(call, `The following extension properties are not available: ${names.join(',')}.`)
  }
  if (value === null) return value
  if (typeof value !== 'object' || Array.isArray(value)) return invalid(call, name)
  const known = extension.doc.properties.map((property) => property.name)
  const entries = Object.entries(value).filter(([key]) => key !== '@odata.type')
  for (const [key, text] of entries) {
    if (!known.includes(key)) {
      return badRequest(call, `The following extension properties are not available: ${name}.${key}.`)
    }
    if (text !== null && (typeof text !== 'string' || text.length > 256)) return invalid(call, `${name}/${key}`)
  }
  return Object.fromEntries(entries.filter(([, text]) => text !== null))
}

function readBinds(call: Call, body: Record<string, unknown>): { owners: string[]; members: string[] } {
  const owners = readBind(call, body, 'owners')
  const members = readBind(call, body, 'members')
  if (owners.length + members.length > 20) {
    badRequest(call, 'The number of owners@odata.bind and members@odata.bind relationships exceeds the maximum of 20.')
  }
  return { owners, members }
}

function readBind(call: Call, body: Record<string, unknown>, role: Role): string[] {
  const name = `${role}@odata.bind`
  const value = body[name]
  if (value === undefined) return []
  if (!Array.isArray(value) || value.length === 0) {
    return badRequest(call, `The annotation 'odata.bind' was found with an empty or invalid value: '${name}'.`)
  }
  return value.map((url) => referencedUser(call, url))
}

/** Returns the object id in a reference such as `https://graph.microsoft.com/v1.0/users/{id}`; 404 for an unknown id. */
export function referencedUser(call: Call, url: unknown): string {
  const match = /^https?:\/\/[^/]+\/v1\.0\/(?:users|directoryObjects)\/([^/]+)$/.exec(
    typeof url === 'string' ? url : '',
  )
  if (!match?.[1])
    return badRequest(call, `Invalid URL format specified in @odata.bind or @odata.id: '${String(url)}'.`)
  const id = decodeURIComponent(match[1])
  return findPerson(id)?.id ?? notFound(call, id)
}

/** Applies the tenant's group naming policy to a new Microsoft 365 group: adds the prefix, or refuses names without it. */
export function underNamingPolicy(
  { groupPrefix: prefix, groupPrefixConduct: conduct }: Modes,
  call: Call,
  change: GroupChange,
): GroupChange {
  if (prefix === '') return change
  // The alias receives the prefix without the characters that are invalid in an alias.
  const forAlias = prefix.replace(/[^\w.-]/g, '')
  const displayName = withPrefix(prefix, String(change.doc['displayName'] ?? ''))
  const mailNickname = withPrefix(forAlias, change.mailNickname ?? '')
  if (conduct === 'refuses') {
    if (displayName !== change.doc['displayName']) missing(call, 'displayName', displayName)
    if (mailNickname !== change.mailNickname) missing(call, 'mailNickname', mailNickname)
  }
  return { ...change, mailNickname, doc: { ...change.doc, displayName } }
}

const withPrefix = (prefix: string, name: string): string => (name.startsWith(prefix) ? name : `${prefix}${name}`)

function missing(call: Call, target: string, suggestedPropertyValue: string): never {
  const message = "The property is missing a required prefix/suffix per your organization's Group naming requirements."
  const detail = { code: 'MissingPrefixSuffix', target, message, suggestedPropertyValue }
  return refuse(call, 400, 'Request_BadRequest', message, [detail])
}
