import {
  addObject,
  asRecord,
  type Call,
  findGroup,
  groupDoc,
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
} from '../tenant/index.ts'
import { referencedUser } from './group-body.ts'
import { alreadyThere, defaultGroupProperties, groupOf } from './groups.ts'
import { userDefaults, userDoc } from './users.ts'
import { type GraphSettings, listReply, notFound } from './wire.ts'

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
  const { url, directoryExtension } = settings
  const value = ids.flatMap((id) => {
    const person = personNow(tenant, id)
    if (person)
      return {
        '@odata.type': '#microsoft.graph.user',
        ...select(userDoc(tenant, person, call.caller), call.query, userDefaults),
      }
    const group = findGroup(tenant, 'id', id)
    if (!group) return []
    const doc = groupDoc(group, directoryExtension)
    const shown = select(doc, call.query, defaultGroupProperties(doc, directoryExtension))
    return { '@odata.type': '#microsoft.graph.group', ...shown }
  })
  return listReply(call, url, 'directoryObjects', value)
}
