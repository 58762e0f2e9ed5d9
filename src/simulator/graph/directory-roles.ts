import {
  assignRole,
  directoryRoles,
  directoryRolesOf,
  findPrincipal,
  type RoleAssignment,
  remove,
  roleAdministrators,
  roleAssignments,
  type Stored,
} from '../registrations/index.ts'
import {
  asRecord,
  findGroup,
  type Operation,
  operation,
  personNow,
  select,
  type Tenant,
  text,
} from '../tenant/index.ts'
import { badRequest, filterTest, type GraphSettings, listReply, notFound, refuse, requireRole } from './wire.ts'

const root = '/v1.0/roleManagement/directory'
const assignments = new RegExp(`^${root}/roleAssignments$`)
const ownRoles = /^\/v1\.0\/me\/(memberOf|transitiveMemberOf)\/microsoft\.graph\.directoryRole$/
const definitions = new RegExp(`^${root}/roleDefinitions$`)

/** `/roleManagement/directory`: the built-in roles, and the people and applications that have them. */
export function directoryRoleOperations(tenant: Tenant, { url }: GraphSettings): readonly Operation[] {
  const context = (name: string) => `${url}/v1.0/$metadata#roleManagement/directory/${name}/$entity`
  return [
    operation('graph.roleDefinitions.list', 'GET', definitions, (call) => {
      const docs = definitionDocs.filter(filterTest(call)).map((doc) => select(doc, call.query))
      return listReply(call, url, 'roleManagement/directory/roleDefinitions', docs)
    }),
    operation('graph.roleDefinitions.get', 'GET', new RegExp(`^${root}/roleDefinitions/([^/]+)$`), (call) => {
      const [id = ''] = call.params
      const doc = definitionDocs.find((one) => one['id'] === id.toLowerCase()) ?? notFound(call, id)
      return { status: 200, body: { '@odata.context': context('roleDefinitions'), ...select(doc, call.query) } }
    }),
    operation('graph.me.directoryRoles', 'GET', ownRoles, (call) => {
      const { userId = '' } = call.caller
      const isTransitive = call.params[0] === 'transitiveMemberOf'
      const direct = roleAssignments(tenant).filter(({ doc }) => doc.principalId === userId)
      const held = isTransitive
        ? directoryRolesOf(tenant, userId)
        : direct.map(({ doc: { roleDefinitionId } }) => roleDefinitionId)
      const docs = held.map(roleDoc)
      return listReply(
        call,
        url,
        'directoryObjects',
        docs.map((doc) => select(doc, call.query)),
      )
    }),
    operation('graph.roleAssignments.list', 'GET', assignments, (call) => {
      const docs = roleAssignments(tenant).map(assignmentDoc).filter(filterTest(call))
      return listReply(call, url, 'roleManagement/directory/roleAssignments', docs)
    }),
    operation('graph.roleAssignments.create', 'POST', assignments, (call) => {
      requireRole(tenant, call, roleAdministrators)
      const body = asRecord(call.body)
      const doc: RoleAssignment = {
        principalId: text(body, 'principalId').toLowerCase(),
        roleDefinitionId: text(body, 'roleDefinitionId').toLowerCase(),
        directoryScopeId: text(body, 'directoryScopeId') || '/',
      }
      if (!definitionDocs.some(({ id }) => id === doc.roleDefinitionId)) notFound(call, doc.roleDefinitionId)
      if (doc.directoryScopeId !== '/') badRequest(call, 'The simulator assigns roles for the whole organisation only.')
      const principal = findPrincipal(tenant, 'id', doc.principalId)
      const group = findGroup(tenant, 'id', doc.principalId)
      const isKnown = principal
        ? principal.replicated
        : group?.doc['isAssignableToRole'] === true || personNow(tenant, doc.principalId) !== undefined
      if (!isKnown) {
        // Only a group that was created for roles can have one.
        if (group) badRequest(call, 'The group is not assignable to a role.')
        notFound(call, doc.principalId)
      }
      const exists = roleAssignments(tenant).some(
        ({ doc: other }) => other.principalId === doc.principalId && other.roleDefinitionId === doc.roleDefinitionId,
      )
      if (exists) {
        const message =
          'A conflicting object with one or more of the specified property values is present in the directory.'
        refuse(call, 400, 'Request_BadRequest', message, [
          { code: 'ConflictingObjects', target: 'roleAssignment', message },
        ])
      }
      return {
        status: 201,
        body: { '@odata.context': context('roleAssignments'), ...assignmentDoc(assignRole(tenant, doc)) },
      }
    }),
    operation('graph.roleAssignments.delete', 'DELETE', new RegExp(`^${root}/roleAssignments/([^/]+)$`), (call) => {
      requireRole(tenant, call, roleAdministrators)
      const [id = ''] = call.params
      remove(tenant, roleAssignments(tenant).find((one) => one.id === id) ?? notFound(call, id))
      return { status: 204 }
    }),
  ]
}

const assignmentDoc = ({ id, doc }: Stored<RoleAssignment>): Record<string, unknown> => ({ id, ...doc })

/** Returns a role as an object of the directory. Its object id in a tenant differs from the id of its template. */
const roleDoc = (templateId: string): Record<string, unknown> => ({
  '@odata.type': '#microsoft.graph.directoryRole',
  id: `0c0ffee0-${templateId.slice(9)}`,
  displayName: Object.entries(directoryRoles).find(([, id]) => id === templateId)?.[0] ?? null,
  roleTemplateId: templateId,
})

const definitionDocs: readonly Record<string, unknown>[] = Object.entries(directoryRoles).map(([displayName, id]) => ({
  id,
  description: displayName,
  displayName,
  isBuiltIn: true,
  isEnabled: true,
  resourceScopes: ['/'],
  templateId: id,
  version: '1',
  rolePermissions: [],
}))
