/**
 * Microsoft Graph v1.0: users, groups, sites, apps in Teams, and the objects that administrators create. Imports
 * `tenant`, `registrations` and `login`.
 */

import type { Tokens } from '../login/index.ts'
import { type Call, type Operation, Refused, type Service, type Tenant } from '../tenant/index.ts'
import { applicationOperations } from './applications.ts'
import { catalogueOperations } from './catalogue.ts'
import { consentOperations } from './consents.ts'
import { directoryRoleOperations } from './directory-roles.ts'
import { groupOperations, membershipOperations } from './groups.ts'
import { organizationOperations } from './organization.ts'
import table from './permissions.json' with { type: 'json' }
import { extensionOperations } from './schema-extensions.ts'
import { principalOperations } from './service-principals.ts'
import { siteOperations } from './sites.ts'
import { installedAppOperations, userOperations } from './users.ts'
import { BadQuery, badRequest, type GraphSettings, graphError } from './wire.ts'

/** Creates the service of Microsoft Graph v1.0. */
export function graphService(tenant: Tenant, tokens: Tokens, settings: GraphSettings): Service {
  const operations = [
    ...userOperations(tenant, settings),
    ...groupOperations(tenant, settings),
    ...membershipOperations(tenant, settings),
    ...siteOperations(tenant, settings),
    ...installedAppOperations(tenant, settings),
    ...organizationOperations(tenant, settings),
    ...applicationOperations(tenant, settings),
    ...principalOperations(tenant, settings),
    ...consentOperations(tenant, settings),
    ...directoryRoleOperations(tenant, settings),
    ...extensionOperations(tenant, settings),
    ...catalogueOperations(tenant, settings),
  ]
  return {
    name: 'graph',
    observed: true,
    owns: (path) => path.startsWith('/v1.0/'),
    operations: operations.map(refusingBadQueries).map(permitted),
    admit: async (call) => {
      try {
        return await tokens.verify(call.headers.authorization, 'graph')
      } catch (error) {
        const reason = error instanceof Error ? error.message : 'Access token validation failure.'
        throw new Refused(graphError(call, 401, 'InvalidAuthenticationToken', reason))
      }
    },
    refusal: (status, message, call) => graphError(call, status, codes[status] ?? 'BadRequest', message),
  }
}

const codes: Readonly<Record<number, string>> = {
  400: 'BadRequest',
  403: 'Forbidden',
  405: 'Request_BadRequest',
  429: 'TooManyRequests',
  500: 'InternalServerError',
  502: 'BadGateway',
  503: 'serviceNotAvailable',
  504: 'GatewayTimeout',
  507: 'InsufficientStorage',
}

const queryOptions = new Set(['$select', '$filter', '$search', '$top', '$count', '$skiptoken'])
/** Lists that support `$expand`. */
const expanding = ['graph.installedApps.list', 'graph.teamsApps.list', 'graph.teamsApps.get']
const isExpanding = (operation: Operation, name: string): boolean =>
  name === '$expand' && expanding.includes(operation.name)

/** Refuses unknown query options: an ignored option would let a test pass that fails with Graph. */
function refusingBadQueries(one: Operation): Operation {
  return {
    ...one,
    handle: (call) => {
      const unknown = [...call.query.keys()].find(
        (name) => name.startsWith('$') && !queryOptions.has(name) && !isExpanding(one, name),
      )
      if (unknown) return badRequest(call, `The simulator does not know the query option '${unknown}'.`)
      try {
        return one.handle(call)
      } catch (error) {
        if (error instanceof BadQuery) return badRequest(call, error.message)
        throw error
      }
    },
  }
}

interface Accepted {
  readonly application: readonly string[]
  readonly delegated: readonly string[]
}
const callOf: Readonly<Record<string, string>> = table.operations
const accepted: Readonly<Record<string, Accepted>> = table.calls

/** Returns the permissions that Graph accepts for an operation, without the marks of the least privileged ones. */
function acceptedFor(operation: string): Accepted | undefined {
  const entry = accepted[callOf[operation] ?? '']
  const plain = (names: readonly string[]) => names.map((name) => name.replace('*', ''))
  return entry && { application: plain(entry.application), delegated: plain(entry.delegated) }
}

/** Returns whether a caller has a permission of the table. `A+B,C` needs A and one of B and C. */
function suffices(entry: string, permissions: readonly string[]): boolean {
  const [name = '', others] = entry.split('+')
  return permissions.includes(name) && (others?.split(',').some((one) => permissions.includes(one)) ?? true)
}

/** Refuses callers without one of the permissions that Microsoft's table lists for the operation. */
export function permitted(one: Operation): Operation {
  const entry = acceptedFor(one.name)
  if (!entry) throw new Error(`graph/permissions.json has no entry for ${one.name}.`)
  return {
    ...one,
    handle: (call) => {
      const names = call.caller.appOnly ? entry.application : entry.delegated
      if (names.some((name) => suffices(name, call.caller.permissions))) return one.handle(call)
      throw new Refused(refusalOf(call, names))
    },
  }
}

/** Creates a refusal. The directory, sites and Teams use different texts for the same refusal. */
function refusalOf(call: Call, names: readonly string[]) {
  if (/\/(teamwork|appCatalogs)\//.test(call.path)) {
    const has = call.caller.permissions.filter((name) => name.includes('.')).join(', ')
    const [kind, title] = call.caller.appOnly ? ['role', 'Roles'] : ['scope', 'Scopes']
    const message = `Missing ${kind} permissions on the request. API requires one of '${names.join(', ')}'. ${title} on the request '${has}'.`
    return graphError(call, 403, 'Forbidden', message)
  }
  if (/\/sites(\/|$)/.test(call.path)) return graphError(call, 403, 'accessDenied', 'Access denied')
  return graphError(call, 403, 'Authorization_RequestDenied', 'Insufficient privileges to complete the operation.')
}
