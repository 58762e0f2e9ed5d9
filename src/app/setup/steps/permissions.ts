import { z } from 'zod'
import '../../sentences.ts'
import { directoryPermissions } from '../../../client/command-line/settings.ts'
import { fill } from '../../../client/command-line/terminal.ts'
import { sentenceOf } from '../../../core/index.ts'
import { serviceNames } from '../../../microsoft365/index.ts'
import { applicationIds, type Permission, permissions } from '../../../microsoft365/wire/index.ts'
import { TooEarly } from '../graph.ts'
import { SetupProblem } from '../problem.ts'
import { findPrincipal, findRegistration, permissionName, type Registration } from '../registrations.ts'
import { applicationRoles, privilegedRoles } from '../roles.ts'
import { type Change, defineStep, type Setup, type Step } from '../step.ts'
import texts from '../strings.json' with { type: 'json' }
import { isThereAlready, principalOf } from './registrations.ts'

type ServiceName = Permission['service']

/** A service of Microsoft in this tenant, with the application permissions that it offers. */
interface Offer {
  readonly principal: string
  readonly roles: ReadonlyMap<string, string>
}

interface Found {
  readonly service: Registration | undefined
  readonly principal: string | undefined
  readonly offers: ReadonlyMap<ServiceName, Offer>
  /** `resource principal/role id` of each permission that is granted. */
  readonly granted: ReadonlySet<string>
}

type PermissionChange = Change &
  (
    | { readonly kind: 'grant'; readonly permission: Permission }
    | { readonly kind: 'declare'; readonly access: object[] }
  )

const resource = z.object({
  id: z.string(),
  appRoles: z.array(z.object({ id: z.string(), value: z.string().nullish() })),
})
const assignment = z.object({ resourceId: z.string(), appRoleId: z.string() })

const needed = permissions.filter(({ kind }) => kind === 'application permission')
const services = [...new Set(needed.map(({ service }) => service))]
const nameOf = (service: ServiceName): string =>
  Object.entries(serviceNames).find(([, name]) => name === service)?.[0] ?? service

/** The app-only permissions of the service, with an administrator's consent. */
export const permissionsStep = defineStep<Found, PermissionChange>({
  id: 'permissions',
  group: 'permissions',
  roles: privilegedRoles,
  scope: 'AppRoleAssignment.ReadWrite.All',
  async find(setup) {
    const { graph } = setup
    const service = await findRegistration(setup, 'service')
    const principal = service && (await principalOf(setup, 'service'))
    const offers = new Map<ServiceName, Offer>()
    for (const name of services) {
      const path = `/servicePrincipals(appId='${applicationIds[name]}')?$select=id,appRoles`
      const found = await graph.get(path, resource)
      const roles = new Map(found?.appRoles.flatMap(({ id, value }) => (value ? [[value, id] as const] : [])))
      if (found) offers.set(name, { principal: found.id, roles })
    }
    const path = `/servicePrincipals/${principal}/appRoleAssignments`
    const all = principal === undefined ? [] : await graph.list(path, assignment)
    const granted = new Set(all.map(({ resourceId, appRoleId }) => `${resourceId}/${appRoleId}`))
    return { service, principal, offers, granted }
  },
  changes({ service, offers, granted }) {
    const isGranted = ({ name, service: of, orAnyOf = [] }: Permission) => {
      const offer = offers.get(of)
      return [name, ...orAnyOf].some((one) => offer && granted.has(`${offer.principal}/${offer.roles.get(one)}`))
    }
    const grants = needed
      .filter((one) => !isGranted(one))
      .map((permission): PermissionChange => {
        const { name, service: of } = permission
        const purpose = sentenceOf(permission.purpose)
        return {
          kind: 'grant',
          permission,
          text: fill(texts.permissions.grant, { name, service: nameOf(of), purpose }),
        }
      })
    const access = service && accessOf(service, offers)
    return access === undefined ? grants : [{ kind: 'declare', access, text: texts.permissions.declare }, ...grants]
  },
  async apply({ graph }, change, { service, principal, offers }) {
    if (!service || principal === undefined) throw new TooEarly()
    if (change.kind === 'declare') {
      await graph.send('PATCH', `/applications/${service.id}`, { body: { requiredResourceAccess: change.access } })
      return
    }
    const { name, service: of } = change.permission
    const offer = offers.get(of)
    const appRoleId = offer?.roles.get(name)
    const shown = { service: nameOf(of), name }
    if (!offer) throw new SetupProblem(fill(texts.permissions.noService, shown), texts.permissions.noServiceHint)
    if (appRoleId === undefined)
      throw new SetupProblem(fill(texts.permissions.noPermission, shown), texts.permissions.report)
    const body = { principalId: principal, resourceId: offer.principal, appRoleId }
    await graph.send('POST', `/servicePrincipals/${principal}/appRoleAssignments`, { body, isDone: isThereAlready })
  },
})

/**
 * Returns the registration's list of permissions for the portal; undefined if the list is complete. Permissions that
 * others have added stay.
 */
function accessOf(service: Registration, offers: ReadonlyMap<ServiceName, Offer>): object[] | undefined {
  const before = service.requiredResourceAccess
  const access = new Map(before.map(({ resourceAppId, resourceAccess }) => [resourceAppId, [...resourceAccess]]))
  let added = 0
  for (const { name, service: of, orAnyOf = [] } of needed) {
    const roles = offers.get(of)?.roles
    const list = access.get(applicationIds[of]) ?? []
    const ids = [name, ...orAnyOf].map((one) => roles?.get(one))
    const id = ids[0]
    if (id === undefined || list.some((one) => ids.includes(one.id))) continue
    access.set(applicationIds[of], [...list, { id, type: 'Role' }])
    added += 1
  }
  if (added === 0) return undefined
  return [...access].map(([resourceAppId, resourceAccess]) => ({ resourceAppId, resourceAccess }))
}

/** The delegated permissions of the command line, by their purpose. */
const commandLineScopes = {
  sites: permissionName,
  mailboxes: permissionName,
  people: directoryPermissions.users,
} as const
type Api = keyof typeof commandLineScopes
const apis = Object.keys(commandLineScopes) as Api[]

interface ConsentFound {
  readonly client: string | undefined
  readonly principals: ReadonlyMap<Api, string | undefined>
  readonly grants: readonly z.output<typeof grant>[]
}

interface ConsentChange extends Change {
  readonly api: Api
}

const grant = z.object({ id: z.string(), consentType: z.string(), resourceId: z.string(), scope: z.string().nullish() })
const scopesOf = ({ scope }: z.output<typeof grant>): string[] => (scope ?? '').split(' ').filter((one) => one !== '')

/** Consent for everybody to use the two APIs with the command line, and to look up people by sign-in names. */
export const consentStep = defineStep<ConsentFound, ConsentChange>({
  id: 'consent',
  group: 'permissions',
  roles: applicationRoles,
  scope: 'DelegatedPermissionGrant.ReadWrite.All',
  async find(setup) {
    const client = await principalOf(setup, 'commandLine')
    const path = `/oauth2PermissionGrants?$filter=clientId eq '${client}'`
    const grants = client === undefined ? [] : await setup.graph.list(path, grant)
    const principals = await Promise.all(
      apis.map(async (api) => {
        const isGraph = api === 'people'
        return [api, await (isGraph ? findPrincipal(setup, applicationIds.graph) : principalOf(setup, api))] as const
      }),
    )
    const forAll = grants.filter(({ consentType }) => consentType === 'AllPrincipals')
    return { client, principals: new Map(principals), grants: forAll }
  },
  changes: ({ principals, grants }) =>
    apis.flatMap((api) => {
      const resourceId = principals.get(api)
      const isGranted = grants.some(
        (one) => one.resourceId === resourceId && scopesOf(one).includes(commandLineScopes[api]),
      )
      return isGranted ? [] : [{ api, text: texts.consent[api] }]
    }),
  async apply({ graph }, { api }, { client, principals, grants }) {
    const resourceId = principals.get(api)
    if (client === undefined || resourceId === undefined) throw new TooEarly()
    const wanted = commandLineScopes[api]
    const before = grants.find((one) => one.resourceId === resourceId)
    if (before) {
      const scope = [...scopesOf(before), wanted].join(' ')
      await graph.send('PATCH', `/oauth2PermissionGrants/${before.id}`, { body: { scope } })
      return
    }
    const body = { clientId: client, consentType: 'AllPrincipals', resourceId, scope: wanted }
    await graph.send('POST', '/oauth2PermissionGrants', { body, isDone: isThereAlready })
  },
})

/** The directory role Exchange Administrator, by its template id. */
const exchangeAdministrator = '29232cdf-9323-42fd-ade2-1d097af3e4de'

interface RoleFound {
  readonly principal: string | undefined
  readonly isAssigned: boolean
}

const roleAssignment = z.object({ roleDefinitionId: z.string(), directoryScopeId: z.string().nullish() })

/** Exchange lets an application run commands only with a role. */
export const exchangeRoleStep: Step = defineStep<RoleFound, Change>({
  id: 'exchange-role',
  group: 'permissions',
  roles: privilegedRoles,
  scope: 'RoleManagement.ReadWrite.Directory',
  async find(setup: Setup) {
    const principal = await principalOf(setup, 'service')
    const path = `/roleManagement/directory/roleAssignments?$filter=principalId eq '${principal}'`
    const all = principal === undefined ? [] : await setup.graph.list(path, roleAssignment)
    const isAssigned = all.some((one) => one.roleDefinitionId === exchangeAdministrator && one.directoryScopeId === '/')
    return { principal, isAssigned }
  },
  changes: ({ isAssigned }) => (isAssigned ? [] : [{ text: texts.permissions.role }]),
  async apply({ graph }, _, { principal }) {
    if (principal === undefined) throw new TooEarly()
    const body = {
      '@odata.type': '#microsoft.graph.unifiedRoleAssignment',
      ...{ roleDefinitionId: exchangeAdministrator, principalId: principal, directoryScopeId: '/' },
    }
    await graph.send('POST', '/roleManagement/directory/roleAssignments', { body, isDone: isThereAlready })
  },
})
