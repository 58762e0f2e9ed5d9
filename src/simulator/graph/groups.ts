import { groupExtensions } from '../registrations/index.ts'
import {
  addObject,
  allGroups,
  asRecord,
  type Call,
  defaultDomain,
  deletedGroups,
  deleteGroup,
  findGroup,
  findMailboxByAddress,
  findUnifiedByNickname,
  type Group,
  groupDefaults,
  groupDoc,
  insertGroup,
  now,
  type Operation,
  objectsOf,
  operation,
  personNow,
  type Reply,
  type Role,
  removeObject,
  select,
  type Tenant,
  transitiveMembers,
  updateGroup,
} from '../tenant/index.ts'
import { type GroupChange, readGroupBody, referencedUser, underNamingPolicy } from './group-body.ts'
import { userDefaults, userDoc } from './users.ts'
import {
  badRequest,
  conflict,
  filterTest,
  type GraphSettings,
  listReply,
  notFound,
  refuse,
  searchTest,
} from './wire.ts'

const byUniqueName = /^\/v1\.0\/groups\/?\(uniqueName='((?:[^']|'')+)'\)$/
const byId = /^\/v1\.0\/groups\/([^/()]+)$/

/** `/groups`: list, create, read, change, and the idempotent create by `uniqueName` (Graph "Upsert group"). */
export function groupOperations(tenant: Tenant, settings: GraphSettings): readonly Operation[] {
  const group = (call: Call) => groupOf(tenant, call)
  const groupByKey = (call: Call) => {
    const found = findGroup(tenant, 'unique_name', uniqueName(call))
    return found && isShown(tenant, found) ? found : undefined
  }
  return [
    operation('graph.groups.list', 'GET', /^\/v1\.0\/groups$/, (call) => listGroups(tenant, settings, call)),
    operation('graph.groups.create', 'POST', /^\/v1\.0\/groups$/, (call) =>
      created(settings, createGroup(tenant, call, undefined)),
    ),
    operation('graph.groups.getByUniqueName', 'GET', byUniqueName, (call) =>
      one(tenant, settings, call, groupByKey(call) ?? notFound(call, uniqueName(call))),
    ),
    operation('graph.groups.upsert', 'PATCH', byUniqueName, (call) => {
      const existing = groupByKey(call)
      if (existing) return changeGroup(tenant, call, existing)
      const mayCreate = /\bcreate-if-missing\b/.test(String(call.headers['prefer'] ?? ''))
      if (!mayCreate) return notFound(call, uniqueName(call))
      return created(settings, createGroup(tenant, call, uniqueName(call)))
    }),
    operation('graph.groups.get', 'GET', byId, (call) => one(tenant, settings, call, group(call))),
    operation('graph.groups.update', 'PATCH', byId, (call) => changeGroup(tenant, call, group(call))),
    operation('graph.groups.delete', 'DELETE', byId, (call) => {
      deleteGroup(tenant, group(call))
      return { status: 204 }
    }),
    operation(
      'graph.deletedItems.groups',
      'GET',
      /^\/v1\.0\/directory\/deletedItems\/microsoft\.graph\.group$/,
      (call) => listDeleted(tenant, settings, call),
    ),
  ]
}

/** Returns the group whose id is the first parameter of the path. Ends the call when the group does not exist. */
export function groupOf(tenant: Tenant, call: Call): Group {
  const id = call.params[0] ?? ''
  return findGroup(tenant, 'id', id) ?? notFound(call, id)
}

const isShown = ({ modes }: Tenant, { createdAt }: Group): boolean =>
  now() >= Date.parse(createdAt) + modes.newGroupSeconds * 1000

const uniqueName = (call: Call): string => (call.params[0] ?? '').replaceAll("''", "'")

function one(tenant: Tenant, settings: GraphSettings, call: Call, group: Group): Reply {
  refuseUnknownProperties(tenant, call)
  const shown = select(groupDoc(group), call.query, groupDefaults(group))
  return { status: 200, body: { '@odata.context': `${settings.url}/v1.0/$metadata#groups/$entity`, ...shown } }
}

/**
 * Refuses unknown properties in `$select` and `$filter`. Graph knows a schema extension and its properties only when
 * groups accept it.
 */
function refuseUnknownProperties(tenant: Tenant, call: Call): void {
  const extensions = groupExtensions(tenant)
  const known = new Set([...Object.keys(groupDoc(anyGroup)), ...extensions.map(({ id }) => id)])
  const selected = (call.query.get('$select') ?? '').split(',').map((name) => name.trim())
  const filtered = [...(call.query.get('$filter') ?? '').matchAll(/([A-Za-z_]\w*)\/(\w+)\s+eq\b/g)].map(
    ([, name = '', property = '']) => ({ name, property }),
  )
  const refuseName = (name: string, type: string) =>
    refuse(call, 400, 'BadRequest', `Could not find a property named '${name}' on type 'microsoft.graph.${type}'.`)
  for (const name of [...selected, ...filtered.map((one) => one.name)])
    if (name !== '' && !known.has(name)) refuseName(name, 'group')
  for (const { name, property } of filtered) {
    const properties = extensions.find(({ id }) => id === name)?.doc.properties
    if (properties && !properties.some((one) => one.name === property)) refuseName(property, name)
  }
}

const anyGroup: Group = {
  id: '',
  unified: true,
  mailNickname: '',
  uniqueName: undefined,
  doc: {},
  createdAt: '',
  extensions: {},
  extensionAt: undefined,
}

function created(settings: GraphSettings, group: Group): Reply {
  const shown = select(groupDoc(group), new URLSearchParams(), groupDefaults(group))
  return {
    status: 201,
    headers: { location: `${settings.url}/v1.0/groups/${group.id}` },
    body: { '@odata.context': `${settings.url}/v1.0/$metadata#groups/$entity`, ...shown },
  }
}

/**
 * Lists groups. The list shows an extension's value only `directorySeconds` after the write, because Graph updates its index
 * later (15 to 20 s in the API document). A read of the group shows the value at once.
 */
function listGroups(tenant: Tenant, settings: GraphSettings, call: Call): Reply {
  const { directorySeconds, url } = settings
  refuseUnknownProperties(tenant, call)
  const indexed = now() - directorySeconds * 1000
  const found = allGroups(tenant)
    .filter((group) => isShown(tenant, group))
    .map((group) => {
      const isIndexed = group.extensionAt !== undefined && group.extensionAt <= indexed
      return groupDoc(isIndexed ? group : { ...group, extensions: {} })
    })
    .filter(filterTest(call))
    .filter(searchTest(call, ['displayName', 'description', 'mail', 'mailNickname']))
    .map((doc) => select(doc, call.query, groupDefaults(anyGroup)))
  const selected = call.query.get('$select')
  const fields = selected === null ? '' : `(${selected})`
  return listReply(call, url, `groups${fields}`, found)
}

function listDeleted(tenant: Tenant, { url }: GraphSettings, call: Call): Reply {
  const found = deletedGroups(tenant)
    .filter(filterTest(call))
    .map((doc) => select(doc, call.query))
  return listReply(call, url, 'groups', found)
}

function createGroup(tenant: Tenant, call: Call, key: string | undefined): Group {
  const body = readGroupBody(tenant, call, true)
  const unified = body.unified === true
  const change = unified ? underNamingPolicy(tenant.modes, call, body) : body
  const mailNickname = change.mailNickname ?? ''
  if (unified) refuseHeldNickname(tenant, call, mailNickname, undefined)
  const uniqueName = key ?? uniqueNameInBody(call)
  if (uniqueName !== undefined && findGroup(tenant, 'unique_name', uniqueName)) conflict(call, 'uniqueName')
  const newGroup = insertGroup(tenant, {
    unified,
    mailNickname,
    uniqueName,
    doc: unified && change.doc['visibility'] === undefined ? { ...change.doc, visibility: 'Public' } : change.doc,
    extensions: Object.fromEntries(
      Object.entries(change.extensions).flatMap(([name, value]) => (value ? [[name, value]] : [])),
    ),
  })
  // A person who creates a group becomes its owner; an app does not.
  const self = call.caller.userId
  bind(tenant, call, newGroup.id, change.owners.length === 0 && self ? { ...change, owners: [self] } : change)
  return newGroup
}

function uniqueNameInBody(call: Call): string | undefined {
  const value = typeof call.body === 'object' && call.body !== null && Reflect.get(call.body, 'uniqueName')
  return typeof value === 'string' ? value : undefined
}

function changeGroup(tenant: Tenant, call: Call, group: Group): Reply {
  const change = readGroupBody(tenant, call, false)
  if (change.unified !== undefined && change.unified !== group.unified) {
    badRequest(call, "Property 'groupTypes' is read-only and cannot be set.")
  }
  if (change.mailNickname !== undefined && group.unified) {
    refuseHeldNickname(tenant, call, change.mailNickname, group.id)
  }
  updateGroup(tenant, group, change)
  bind(tenant, call, group.id, change)
  return { status: 204 }
}

function bind(tenant: Tenant, call: Call, groupId: string, change: Pick<GroupChange, Role>): void {
  for (const role of ['owners', 'members'] as const) {
    for (const id of change[role]) if (!addObject(tenant, groupId, role, id)) alreadyThere(call, role)
  }
}

/** Ends the call with Graph's answer for a reference that exists already. */
const alreadyThere = (call: Call, role: Role): never =>
  badRequest(
    call,
    `One or more added object references already exist for the following modified properties: '${role}'.`,
  )

function refuseHeldNickname(tenant: Tenant, call: Call, mailNickname: string, self: string | undefined): void {
  const holder = findUnifiedByNickname(tenant, mailNickname)
  if (holder && holder.id !== self) conflict(call, 'mailNickname')
  // The group's address is the nickname in the default domain. A mailbox may already have this address.
  if (findMailboxByAddress(tenant, `${mailNickname}@${defaultDomain}`)) conflict(call, 'mailNickname')
}

/** Owners and members of a group: lists, and changes of one reference. */
export function membershipOperations(tenant: Tenant, settings: GraphSettings): readonly Operation[] {
  const group = (call: Call) => groupOf(tenant, call)
  const list = (call: Call, ids: readonly string[]) => listObjects(tenant, settings, call, ids)
  const roles: readonly Role[] = ['owners', 'members']
  return [
    ...roles.flatMap((role): Operation[] => [
      operation(`graph.groups.${role}.list`, 'GET', new RegExp(`^/v1\\.0/groups/([^/]+)/${role}$`), (call) =>
        list(call, objectsOf(tenant, group(call).id, role)),
      ),
      operation(`graph.groups.${role}.add`, 'POST', new RegExp(`^/v1\\.0/groups/([^/]+)/${role}/\\$ref$`), (call) => {
        const target = group(call)
        const user = referencedUser(call, asRecord(call.body)['@odata.id'])
        return addObject(tenant, target.id, role, user) ? { status: 204 } : alreadyThere(call, role)
      }),
      operation(
        `graph.groups.${role}.remove`,
        'DELETE',
        new RegExp(`^/v1\\.0/groups/([^/]+)/${role}/([^/]+)/\\$ref$`),
        (call) => {
          const object = call.params[1] ?? ''
          const target = group(call)
          if (!objectsOf(tenant, target.id, role).includes(object.toLowerCase())) return notFound(call, object)
          removeObject(tenant, target.id, role, object)
          return { status: 204 }
        },
      ),
    ]),
    operation(
      'graph.groups.transitiveMembers.list',
      'GET',
      /^\/v1\.0\/groups\/([^/]+)\/transitiveMembers(?:\/microsoft\.graph\.user)?$/,
      (call) => {
        const ids = transitiveMembers(tenant, group(call).id)
        return list(call, call.path.endsWith('.user') ? ids.filter((id) => personNow(tenant, id)) : ids)
      },
    ),
  ]
}

function listObjects(tenant: Tenant, settings: GraphSettings, call: Call, ids: readonly string[]): Reply {
  const value = ids.flatMap((id) => {
    const person = personNow(tenant, id)
    if (person)
      return {
        '@odata.type': '#microsoft.graph.user',
        ...select(userDoc(tenant, person, call.caller), call.query, userDefaults),
      }
    const group = findGroup(tenant, 'id', id)
    if (!group) return []
    const shown = select(groupDoc(group), call.query, groupDefaults(group))
    return { '@odata.type': '#microsoft.graph.group', ...shown }
  })
  return listReply(call, settings.url, 'directoryObjects', value)
}
