/** Microsoft Graph v1.0: users, groups, sites, installed apps. Imports `tenant` and `login`. */

import type { Tokens } from '../login/index.ts'
import {
  type Call,
  contoso,
  type Operation,
  operation,
  Refused,
  type Service,
  select,
  type Tenant,
} from '../tenant/index.ts'
import { groupOperations, membershipOperations } from './groups.ts'
import table from './permissions.json' with { type: 'json' }
import { siteOperations } from './sites.ts'
import { installedAppOperations, userOperations } from './users.ts'
import { BadQuery, badRequest, extensionProperties, filterTest, type GraphSettings, graphError } from './wire.ts'

/** Creates the service of Microsoft Graph v1.0. */
export function graphService(tenant: Tenant, tokens: Tokens, settings: GraphSettings): Service {
  const operations = [
    ...userOperations(tenant, settings),
    ...groupOperations(tenant, settings),
    ...membershipOperations(tenant, settings),
    ...siteOperations(tenant, settings),
    ...installedAppOperations(tenant, settings),
    organization(settings),
    groupSettings(tenant, settings),
    schemaExtensions(settings),
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
/** Only one list supports `$expand`. */
const isExpanding = (operation: Operation, name: string): boolean =>
  name === '$expand' && operation.name === 'graph.installedApps.list'

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

function organization({ url }: GraphSettings): Operation {
  const verifiedDomains = contoso.domains.map((name, index) => ({
    capabilities: 'Email, OfficeCommunicationsOnline',
    isDefault: index === 0,
    isInitial: index === 0,
    name,
    type: 'Managed',
  }))
  const doc = { id: contoso.tenantId, displayName: contoso.displayName, verifiedDomains }
  return operation('graph.organization.list', 'GET', /^\/v1\.0\/organization$/, (call) => {
    const body = { '@odata.context': `${url}/v1.0/$metadata#organization`, value: [select(doc, call.query)] }
    return { status: 200, body }
  })
}

/** The settings of groups for the whole tenant. Without a naming policy the list is empty, as in a new tenant. */
function groupSettings(tenant: Tenant, { url }: GraphSettings): Operation {
  return operation('graph.groupSettings.list', 'GET', /^\/v1\.0\/groupSettings$/, () => {
    const { groupPrefix } = tenant.modes
    const value = groupPrefix === '' ? [] : [unifiedSettings(groupPrefix)]
    return { status: 200, body: { '@odata.context': `${url}/v1.0/$metadata#groupSettings`, value } }
  })
}

const unifiedSettings = (prefix: string) => ({
  id: '00000000-0000-4000-8000-000000000366',
  displayName: 'Group.Unified',
  templateId: '62375ab9-6b52-47ed-826b-58e47e0e304b',
  values: [
    { name: 'CustomBlockedWordsList', value: '' },
    { name: 'PrefixSuffixNamingRequirement', value: `${prefix}[GroupName]` },
  ],
})

function schemaExtensions({ url, directoryExtension }: GraphSettings): Operation {
  const extension = {
    id: directoryExtension,
    description: 'What the provisioning service writes on its security groups',
    targetTypes: ['Group'],
    status: 'Available',
    owner: '00000000-0000-4000-8000-000000000365',
    properties: extensionProperties.map((name) => ({ name, type: 'String' })),
  }
  return operation('graph.schemaExtensions.list', 'GET', /^\/v1\.0\/schemaExtensions$/, (call) => {
    const value = [extension].filter(filterTest(call))
    return { status: 200, body: { '@odata.context': `${url}/v1.0/$metadata#schemaExtensions`, value } }
  })
}

interface Accepted {
  readonly application: readonly string[]
  readonly delegated: readonly string[]
}
const callOf: Readonly<Record<string, string>> = table.operations
const accepted: Readonly<Record<string, Accepted>> = table.calls

/** Returns what Graph accepts for an operation of the simulator, without the marks of the least privileged. */
function acceptedFor(operation: string): Accepted | undefined {
  const entry = accepted[callOf[operation] ?? '']
  const plain = (names: readonly string[]) => names.map((name) => name.replace('*', ''))
  return entry && { application: plain(entry.application), delegated: plain(entry.delegated) }
}

/** Refuses callers without one of the permissions that Microsoft's table lists for the operation. */
export function permitted(one: Operation): Operation {
  const entry = acceptedFor(one.name)
  if (!entry) throw new Error(`graph/permissions.json has no entry for ${one.name}.`)
  return {
    ...one,
    handle: (call) => {
      const names = call.caller.appOnly ? entry.application : entry.delegated
      if (call.caller.permissions.some((name) => names.includes(name))) return one.handle(call)
      throw new Refused(refusalOf(call, names))
    },
  }
}

/** The directory, sites and Teams each word the same refusal differently. */
function refusalOf(call: Call, names: readonly string[]) {
  if (call.path.includes('/teamwork/')) {
    const has = call.caller.permissions.filter((name) => name.includes('.')).join(', ')
    const message = `Missing role permissions on the request. API requires one of '${names.join(', ')}'. Roles on the request '${has}'.`
    return graphError(call, 403, 'Forbidden', message)
  }
  if (/\/sites(\/|$)/.test(call.path)) return graphError(call, 403, 'accessDenied', 'Access denied')
  return graphError(call, 403, 'Authorization_RequestDenied', 'Insufficient privileges to complete the operation.')
}
