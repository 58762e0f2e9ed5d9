import {
  addObject,
  asRecord,
  type Call,
  findGroup,
  type Group,
  groupDoc,
  type Operation,
  objectsOf,
  personNow,
  type Reply,
  type Role,
  removeObject,
  select,
  type Tenant,
  transitiveMembers,
} from '../tenant/index.ts'
import { referencedUser } from './group-body.ts'
import { alreadyThere, defaultGroupProperties } from './groups.ts'
import { userDefaults, userDoc } from './users.ts'
import { type GraphSettings, notFound, page } from './wire.ts'

/** Who owns a group and who is in it: lists, and adding or removing one reference. */
export function membershipOperations(tenant: Tenant, settings: GraphSettings): readonly Operation[] {
  const group = (call: Call): Group => {
    const id = call.params[0] ?? ''
    return findGroup(tenant, 'id', id) ?? notFound(call, id)
  }
  const list = (call: Call, ids: readonly string[]) => listObjects(tenant, settings, call, ids)
  const roles: readonly Role[] = ['owners', 'members']
  return [
    ...roles.flatMap((role): Operation[] => [
      {
        name: `graph.groups.${role}.list`,
        method: 'GET',
        path: new RegExp(`^/v1\\.0/groups/([^/]+)/${role}$`),
        handle: (call) => list(call, objectsOf(tenant, group(call).id, role)),
      },
      {
        name: `graph.groups.${role}.add`,
        method: 'POST',
        path: new RegExp(`^/v1\\.0/groups/([^/]+)/${role}/\\$ref$`),
        handle: (call) => {
          const held = group(call)
          const user = referencedUser(call, asRecord(call.body)['@odata.id'])
          return addObject(tenant, held.id, role, user) ? { status: 204 } : alreadyThere(call, role)
        },
      },
      {
        name: `graph.groups.${role}.remove`,
        method: 'DELETE',
        path: new RegExp(`^/v1\\.0/groups/([^/]+)/${role}/([^/]+)/\\$ref$`),
        handle: (call) => {
          const object = call.params[1] ?? ''
          const held = group(call)
          if (!objectsOf(tenant, held.id, role).includes(object.toLowerCase())) return notFound(call, object)
          removeObject(tenant, held.id, role, object)
          return { status: 204 }
        },
      },
    ]),
    {
      name: 'graph.groups.transitiveMembers.list',
      method: 'GET',
      path: /^\/v1\.0\/groups\/([^/]+)\/transitiveMembers(?:\/microsoft\.graph\.user)?$/,
      handle: (call) => {
        const ids = transitiveMembers(tenant, group(call).id)
        return list(call, call.path.endsWith('.user') ? ids.filter((id) => personNow(tenant, id)) : ids)
      },
    },
  ]
}

function listObjects(tenant: Tenant, settings: GraphSettings, call: Call, ids: readonly string[]): Reply {
  const { url, directoryExtension } = settings
  const value = ids.flatMap((id) => {
    const person = personNow(tenant, id)
    if (person)
      return { '@odata.type': '#microsoft.graph.user', ...select(userDoc(tenant, person), call.query, userDefaults) }
    const group = findGroup(tenant, 'id', id)
    if (!group) return []
    const doc = groupDoc(group, directoryExtension)
    const shown = select(doc, call.query, defaultGroupProperties(doc, directoryExtension))
    return { '@odata.type': '#microsoft.graph.group', ...shown }
  })
  const context = { '@odata.context': `${url}/v1.0/$metadata#directoryObjects` }
  return { status: 200, body: { ...context, ...page(value, call.query, `${url}${call.path}`) } }
}
