/**
 * What Microsoft 365 does not have: faults, the call log and tokens for tests, web pages for people, and the dispatcher
 * that applies faults and log to each call. Imports `tenant`, `login` and `exchange`.
 */
import { z } from 'zod'
import { defaultLifetime, parseScope, type Tokens } from '../login/index.ts'
import {
  accountStates,
  asRecord,
  type Call,
  contoso,
  findPerson,
  installApp,
  modesSchema,
  nobody,
  type Operation,
  operation,
  Refused,
  type Reply,
  type Service,
  setAccount,
  setUserPermission,
  type Tenant,
  userPermissions,
  usualModes,
} from '../tenant/index.ts'
import { clearCalls, listCalls } from './calls.ts'
import { type Faults, faultRequest, matches } from './faults.ts'

export { createDispatcher } from './dispatch.ts'
export { createFaults, type Faults } from './faults.ts'
export { pageService } from './pages.ts'

const tokenRequest = z.strictObject({
  userPrincipalName: z.string().optional(),
  userId: z.string().optional(),
  scope: z.string(),
  audience: z.string().optional(),
  lifetime: z.int().optional(),
  tenantId: z.string().optional(),
  appOnly: z.boolean().default(false),
  clientId: z.string().default('00000000-0000-4000-8000-000000003978'),
  claims: z.record(z.string(), z.unknown()).optional(),
})

const accountChange = z.strictObject({ userId: z.string(), state: z.enum(accountStates) })
const appInstallation = z.strictObject({ userId: z.string(), teamsAppId: z.string() })
const permissionChange = z.strictObject({ users: z.enum(userPermissions) })

/** Creates the service for tests and for `npm run token`: faults, the call log, modes, states of accounts, any token. */
export function controlService(
  tenant: Tenant,
  tokens: Tokens,
  faults: Faults,
  operationNames: () => readonly string[],
): Service {
  const on = (name: string, method: string, path: RegExp, handle: Operation['handle']) =>
    operation(`control.${name}`, method, path, handle)
  return {
    name: 'control',
    observed: false,
    owns: (path) => path.startsWith('/control/'),
    admit: async (call) => {
      // A web page can post forms or text to another origin, but not JSON.
      const json = call.headers['content-type']?.startsWith('application/json')
      if (call.method === 'POST' && !json) throw new Refused(problem(415, 'Send application/json.'))
      return nobody
    },
    refusal: problem,
    operations: [
      on('operations', 'GET', /^\/control\/operations$/, () => ({ status: 200, body: { value: operationNames() } })),
      on('faults.list', 'GET', /^\/control\/faults$/, () => ({ status: 200, body: { value: faults.list() } })),
      on('faults.add', 'POST', /^\/control\/faults$/, (call) => {
        const request = parse(faultRequest, call)
        if (!operationNames().some((name) => matches(request.operation, name))) {
          throw new Refused(problem(400, `There is no operation '${request.operation}'. See GET /control/operations.`))
        }
        return { status: 201, body: faults.add(request) }
      }),
      on('faults.clear', 'DELETE', /^\/control\/faults$/, () => {
        faults.clear()
        return { status: 204 }
      }),
      on('calls.list', 'GET', /^\/control\/calls$/, (call) => ({
        status: 200,
        body: { value: listCalls(tenant, call.query.get('operation')) },
      })),
      on('calls.clear', 'DELETE', /^\/control\/calls$/, () => {
        clearCalls(tenant)
        return { status: 204 }
      }),
      on('tenant.read', 'GET', /^\/control\/tenant$/, () => ({ status: 200, body: tenant.modes })),
      on('tenant.change', 'POST', /^\/control\/tenant$/, (call) => {
        // Defaults of the schema must not undo earlier changes, so the changes are merged before the check.
        const changes = call.body === undefined ? {} : asRecord(call.body)
        tenant.modes = parse(modesSchema, { ...call, body: { ...tenant.modes, ...changes } })
        return { status: 200, body: tenant.modes }
      }),
      on('tenant.reset', 'DELETE', /^\/control\/tenant$/, () => {
        tenant.modes = usualModes()
        return { status: 204 }
      }),
      on('accounts.change', 'POST', /^\/control\/accounts$/, (call) => {
        const { userId, state } = parse(accountChange, call)
        const person = findPerson(userId)
        if (!person) throw new Refused(problem(404, `Nobody in Contoso is called '${userId}'.`))
        setAccount(tenant, person, state)
        return { status: 204 }
      }),
      // As an admin's setup policy does: nobody asks Graph, and the bot may not be running yet.
      on('installedApps.add', 'POST', /^\/control\/installed-apps$/, (call) => {
        const { userId, teamsAppId } = parse(appInstallation, call)
        const person = findPerson(userId)
        if (!person) throw new Refused(problem(404, `Nobody in Contoso is called '${userId}'.`))
        if (!contoso.teamsApps.some(({ id }) => id === teamsAppId))
          throw new Refused(problem(404, `The catalogue has no app '${teamsAppId}'.`))
        installApp(tenant, person, teamsAppId)
        return { status: 204 }
      }),
      on('permissions.change', 'POST', /^\/control\/permissions$/, (call) => {
        setUserPermission(tenant, parse(permissionChange, call).users)
        return { status: 204 }
      }),
      on('token', 'POST', /^\/control\/token$/, (call) => mintToken(tokens, parse(tokenRequest, call))),
    ],
  }
}

const problem = (status: number, message: string): Reply => ({ status, body: { error: { message } } })

function parse<T>(schema: z.ZodType<T>, call: Call): T {
  const result = schema.safeParse(call.body ?? {})
  if (result.success) return result.data
  throw new Refused(problem(400, z.prettifyError(result.error)))
}

function mintToken(tokens: Tokens, request: z.infer<typeof tokenRequest>): Reply {
  const named = request.userPrincipalName ?? request.userId
  const person = named === undefined ? undefined : findPerson(named)
  if (!request.appOnly && named === undefined) {
    throw new Refused(problem(400, 'Name a person by userPrincipalName or userId, or ask for appOnly.'))
  }
  if (!request.appOnly && !person) throw new Refused(problem(404, `Nobody in Contoso is called '${named}'.`))
  const { resource, names, oidc } = parseScope(request.scope)
  const { lifetime = defaultLifetime } = request
  const access = tokens.access({
    audience: request.audience ?? resource,
    scopes: request.appOnly ? names : [...names, ...oidc],
    person: request.appOnly ? undefined : person,
    clientId: request.clientId,
    proof: request.appOnly ? '2' : '0',
    lifetime,
    tenantId: request.tenantId,
    claims: request.claims,
  })
  return { status: 200, body: access.then((access_token) => ({ access_token, expires_in: lifetime })) }
}
