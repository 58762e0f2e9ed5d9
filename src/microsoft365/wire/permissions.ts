import { z } from 'zod'
import { because, parsedJson, type Reason, type ServiceHealth, TenantError } from '../../core/index.ts'

/** A permission of the service's own registration. */
export interface Permission {
  /** The value in the token's claim `roles`, or the name of a directory role. */
  readonly name: string
  readonly service: ServiceHealth['name']
  readonly kind: 'application permission' | 'directory role'
  /** The setting that enables the feature. Without the setting, the permission is not needed. */
  readonly setting?: 'TEAMS_APP_ID'
  /** Larger permissions that Microsoft's table accepts for all these calls. An admin may have granted one of them. */
  readonly orAnyOf?: readonly string[]
  /** The purpose: a reason whose text completes "It …". */
  readonly purpose: Reason
  /** The calls that need the permission: for Graph as in Microsoft's table, for other services as a description. */
  readonly calls: readonly string[]
}

/** The only list of permissions. `docs/permissions.md` shows it, and the simulator grants exactly these. */
export const permissions: readonly Permission[] = [
  {
    name: 'Group.ReadWrite.All',
    service: 'graph',
    kind: 'application permission',
    purpose: because('permissionOfGroups'),
    calls: [
      'GET /groups',
      'GET /groups/{id}',
      'PATCH /groups/{id}',
      'GET /groups/{id}/owners',
      'POST /groups/{id}/owners/$ref',
      'GET /groups/{id}/members',
      'POST /groups/{id}/members/$ref',
      'GET /groups/{id}/transitiveMembers',
      'GET /directory/deletedItems/microsoft.graph.group',
      'GET /groupSettings',
    ],
  },
  {
    name: 'User.Read.All',
    service: 'graph',
    kind: 'application permission',
    purpose: because('permissionOfUsers'),
    calls: [
      'GET /users',
      'GET /users/{id}',
      'GET /users/{id}/manager',
      'GET /users/{id}/transitiveMemberOf',
      'GET /organization',
      'GET /directory/deletedItems/microsoft.graph.user',
    ],
  },
  {
    name: 'User.EnableDisableAccount.All',
    service: 'graph',
    kind: 'application permission',
    purpose: because('permissionOfAccounts'),
    calls: ['PATCH /users/{id}'],
  },
  {
    name: 'Sites.Read.All',
    service: 'graph',
    kind: 'application permission',
    purpose: because('permissionOfSites'),
    calls: [
      'GET /groups/{id}/sites/root',
      'GET /sites/{host}:/{path}',
      'GET /sites/root',
      'GET /sites',
      'GET /sites/getAllSites',
    ],
    orAnyOf: ['Sites.ReadWrite.All'],
  },
  {
    name: 'TeamsAppInstallation.ReadWriteSelfForUser.All',
    service: 'graph',
    kind: 'application permission',
    setting: 'TEAMS_APP_ID',
    purpose: because('permissionOfApp'),
    calls: [
      'POST /users/{id}/teamwork/installedApps',
      'GET /users/{id}/teamwork/installedApps',
      'GET /users/{id}/teamwork/installedApps/{id}/chat',
    ],
    orAnyOf: ['TeamsAppInstallation.ReadWriteForUser.All'],
  },
  {
    name: 'Sites.FullControl.All',
    service: 'sharePoint',
    kind: 'application permission',
    purpose: because('permissionOfSharePoint'),
    calls: ["all of SPSiteManager, SP.Site, a site's web, and SPO.Tenant"],
  },
  {
    name: 'Exchange.ManageAsApp',
    service: 'exchange',
    kind: 'application permission',
    purpose: because('permissionOfExchange'),
    calls: ['all of InvokeCommand'],
  },
  {
    name: 'Exchange Administrator',
    service: 'exchange',
    kind: 'directory role',
    purpose: because('permissionOfExchangeRole'),
    calls: ['all of InvokeCommand'],
  },
]

/**
 * Microsoft's application ids. They name the resource of a token where several services have one address (the simulator).
 * Entra ID accepts an id instead of an address.
 */
export const applicationIds: Readonly<Record<ServiceHealth['name'], string>> = {
  graph: '00000003-0000-0000-c000-000000000000',
  sharePoint: '00000003-0000-0ff1-ce00-000000000000',
  exchange: '00000002-0000-0ff1-ce00-000000000000',
}

/** Template id of the directory role Exchange Administrator, the same in every tenant. */
const exchangeAdministrator = '29232cdf-9323-42fd-ade2-1d097af3e4de'

const names = z.array(z.string()).catch([])
const claims = z.object({ aud: z.string(), roles: names, wids: names.optional() })

/**
 * Returns the needed permissions that our own app-only token lacks, for diagnosis. Directory roles count only if the
 * token contains directory roles at all. Returns `[]` for an unreadable token: the services decide, not we.
 */
export function lackingIn(token: string, needed: readonly Permission[]): Permission[] {
  const found = claims.safeParse(payloadOf(token)).data
  if (!found) return []
  return needed.filter(({ name, kind, orAnyOf = [] }) => {
    if (kind === 'application permission') return ![name, ...orAnyOf].some((one) => found.roles.includes(one))
    return found.wids !== undefined && !found.wids.includes(exchangeAdministrator)
  })
}

const payloadOf = (token: string): unknown => parsedJson(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString())

/** Returns the permissions that one call needs: for Graph those whose calls include it, for the other services all. */
export function neededFor(all: readonly Permission[], method: string, url: string): Permission[] {
  const path = new URL(url).pathname.replace(/^\/v1\.0/, '').replace(/\(uniqueName=[^)]*\)/, '/x')
  return all.filter(
    ({ service, calls }) => service !== 'graph' || calls.some((call) => patternOf(call).test(`${method} ${path}`)),
  )
}

/** Matches a call of Microsoft's table: `{…}` is one segment, `{path}` is the rest. */
function patternOf(call: string): RegExp {
  const escaped = call
    .replace(/[.$]/g, '\\$&')
    .replace('{path}', '.+')
    .replace(/\{\w+\}/g, '[^/]+')
  return new RegExp(`^${escaped}$`, 'i')
}

/** Microsoft translates the names of roles, but not those of permissions. */
const shownName = ({ name, kind }: Permission): string | Reason =>
  kind === 'directory role' ? because('exchangeAdministrator') : name

/** Names permissions with their kind: `the application permissions A and B and the directory role C`. */
function named(lacking: readonly Permission[]): { readonly all: readonly Reason[] } {
  const kinds = [
    ['application permission', 'lackedPermissions'],
    ['directory role', 'lackedRoles'],
  ] as const
  const all = kinds.flatMap(([kind, key]) => {
    const names = lacking.filter((one) => one.kind === kind).map(shownName)
    return names.length === 0 ? [] : [because(key, { count: names.length, names: { all: names } })]
  })
  return { all }
}

/** Lists the missing permissions, the purpose of each one, and the next action of an admin. */
export function lackingReason(service: string, lacking: readonly Permission[]): Reason {
  // Cards cut long texts, so the names and the remedy come first.
  const uses = lacking.map((one) => because('permissionUse', { permission: shownName(one), purpose: one.purpose }))
  return because('permissionsLacking', { service, lacked: named(lacking), remedy: remedyFor(lacking), uses })
}

/**
 * Minimum time between new tokens after a missing permission. Milliseconds. Short, because an admin retries a request
 * seconds after the grant.
 */
export const consentDelay = 15_000

function remedyFor(lacking: readonly Permission[]): Reason {
  const byConsent = lacking.every(({ kind }) => kind === 'application permission')
  return because(byConsent ? 'grantPermissions' : 'assignRoles', { count: lacking.length })
}

/** Error for a call that a service refused while our token lacks permissions. Its text is for admins. */
export const permissionMissing = (
  service: string,
  purpose: Reason,
  status: number,
  lacking: readonly Permission[],
  cause: Error,
): TenantError =>
  new TenantError(
    'permission-missing',
    because('permissionLacking', { service, status, purpose, lacked: named(lacking), remedy: remedyFor(lacking) }),
    { retryable: false, status, cause },
  )
