import { z } from 'zod'
import { type ServiceHealth, TenantError } from '../../core/index.ts'

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
  /** The purpose, as text that completes "It …". */
  readonly purpose: string
  /** The calls that need the permission: for Graph as in Microsoft's table, for other services as a description. */
  readonly calls: readonly string[]
}

/** The only list of permissions. `docs/permissions.md` shows it, and the simulator grants exactly these. */
export const permissions: readonly Permission[] = [
  {
    name: 'Group.ReadWrite.All',
    service: 'graph',
    kind: 'application permission',
    purpose: 'creates groups for sites, changes their owners and checks names',
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
    purpose:
      'reads who people are, their managers and groups, and whether accounts are enabled; without it the service refuses everybody',
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
    purpose: 'blocks sign-in to the accounts of new mailboxes',
    calls: ['PATCH /users/{id}'],
  },
  {
    name: 'Sites.Read.All',
    service: 'graph',
    kind: 'application permission',
    purpose: 'finds the address of a new site, sites with similar names, and former addresses',
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
    purpose: 'installs the app for approvers, and finds the chats of people who have it',
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
    purpose: 'creates sites, sets their owners and labels',
    calls: ["all of SPSiteManager, SP.Site, a site's web, and SPO.Tenant"],
  },
  {
    name: 'Exchange.ManageAsApp',
    service: 'exchange',
    kind: 'application permission',
    purpose: 'runs the commands that create and configure mailboxes',
    calls: ['all of InvokeCommand'],
  },
  {
    name: 'Exchange Administrator',
    service: 'exchange',
    kind: 'directory role',
    purpose: 'allows those commands; a role group of Exchange can replace it',
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

function payloadOf(token: string): unknown {
  try {
    return JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString())
  } catch {
    return undefined
  }
}

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

const list = (items: readonly string[]): string => new Intl.ListFormat('en-GB').format(items)

/** Names permissions with their kind: `the application permissions A and B and the directory role C`. */
function named(lacking: readonly Permission[]): string {
  const kinds = ['application permission', 'directory role'] as const
  return list(
    kinds.flatMap((kind) => {
      const some = lacking.filter((one) => one.kind === kind).map(({ name }) => name)
      return some.length === 0 ? [] : `the ${kind}${some.length > 1 ? 's' : ''} ${list(some)}`
    }),
  )
}

/** Lists the missing permissions, the purpose of each one, and the next action of an admin. */
export function lackingText(service: string, lacking: readonly Permission[]): string {
  // Cards cut long texts, so the names and the remedy come first.
  const purposes = lacking.map(({ name, purpose }) => `${name} ${purpose}.`)
  return `${service}: the app registration lacks ${named(lacking)}. ${remedyFor(lacking)} ${purposes.join(' ')}`
}

/**
 * Minimum time between new tokens after a missing permission. Milliseconds. Short, because an admin retries a request
 * seconds after the grant.
 */
export const consentDelay = 15_000

function remedyFor(lacking: readonly Permission[]): string {
  const object = lacking.length > 1 ? 'them' : 'it'
  const byConsent = lacking.every(({ kind }) => kind === 'application permission')
  const how = byConsent ? `Grant ${object} with admin consent` : `Assign ${object} to the registration in Entra ID`
  return `${how}. A change takes effect within ${byConsent ? 'a minute' : 'minutes'}.`
}

/** Error for a call that a service refused while our token lacks permissions. Its text is for admins. */
export const permissionMissing = (
  service: string,
  purpose: string,
  status: number,
  lacking: readonly Permission[],
  cause: Error,
): TenantError =>
  new TenantError(
    'permission-missing',
    `${service} answered ${status} while ${purpose}: the app registration lacks ${named(lacking)}. ${remedyFor(lacking)} Then retry.`,
    { retryable: false, status, cause },
  )
