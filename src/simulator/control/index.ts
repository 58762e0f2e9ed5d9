/**
 * The parts that Microsoft 365 does not have: faults, the call log and tokens for tests, web pages for people, and the
 * dispatcher that applies faults and log to each call. Imports `tenant`, `registrations`, `login` and `exchange`.
 */
import { z } from 'zod'
import { defaultLifetime, readScope, type Tokens } from '../login/index.ts'
import { installableApp } from '../registrations/index.ts'
import {
  accountStates,
  apiRegistration,
  asRecord,
  type Call,
  findPerson,
  grantedRoles,
  grantRoles,
  installApp,
  modesSchema,
  nobody,
  type Operation,
  operation,
  type Person,
  Refused,
  type Reply,
  registerApi,
  resetConsents,
  resources,
  type Service,
  setAccount,
  type Tenant,
  usualModes,
} from '../tenant/index.ts'
import { clearCalls, listCalls } from './dispatch.ts'
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
const consentChange = z.strictObject({
  resource: z.enum(resources),
  roles: z.array(z.string().regex(/^[\w.]+( \w+)*$/)),
})
const appInstallation = z.strictObject({ userId: z.string(), teamsAppId: z.string() })

/** Creates the service for tests and for `npm run token`: faults, call log, modes, consents, account states, tokens. */
export function controlService(
  tenant: Tenant,
  tokens: Tokens,
  faults: Faults,
  operationNames: () => readonly string[],
): Service {
  const on = (name: string, method: string, path: RegExp, handle: Operation['handle']) =>
    operation(`control.${name}`, method, path, handle)
  const consents = () => Object.fromEntries(resources.map((one) => [one, grantedRoles(tenant, one)]))
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
        if (request.kind === 'wrapped' && !request.operation.startsWith('exchange.')) {
          throw new Refused(problem(400, "Only Exchange's cmdlets have wrapped errors."))
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
        setAccount(tenant, requirePerson(userId), state)
        return { status: 204 }
      }),
      // Installs the app as an admin's setup policy does: without a call of Graph. The bot may not be running yet.
      on('installedApps.add', 'POST', /^\/control\/installed-apps$/, (call) => {
        const { userId, teamsAppId } = parse(appInstallation, call)
        const person = requirePerson(userId)
        if (!installableApp(tenant, teamsAppId))
          throw new Refused(problem(404, `The catalogue has no app '${teamsAppId}'.`))
        installApp(tenant, person, teamsAppId)
        return { status: 204 }
      }),
      on('consents.read', 'GET', /^\/control\/consents$/, () => ({ status: 200, body: consents() })),
      on('consents.change', 'POST', /^\/control\/consents$/, (call) => {
        const { resource, roles } = parse(consentChange, call)
        grantRoles(tenant, resource, roles)
        return { status: 200, body: consents() }
      }),
      on('consents.reset', 'DELETE', /^\/control\/consents$/, () => {
        resetConsents(tenant)
        return { status: 204 }
      }),
      on('apis.register', 'POST', /^\/control\/apis$/, (call) => ({
        status: 201,
        body: registerApi(tenant, parse(apiRegistration, call)),
      })),
      on('token', 'POST', /^\/control\/token$/, (call) => mintToken(tenant, tokens, parse(tokenRequest, call))),
    ],
  }
}

const problem = (status: number, message: string): Reply => ({ status, body: { error: { message } } })

function parse<T>(schema: z.ZodType<T>, call: Call): T {
  const result = schema.safeParse(call.body ?? {})
  if (result.success) return result.data
  throw new Refused(problem(400, z.prettifyError(result.error)))
}

/** Finds a person by object id or userPrincipalName; 404 for an unknown person. */
function requirePerson(idOrUpn: string): Person {
  const person = findPerson(idOrUpn)
  if (person) return person
  throw new Refused(problem(404, `Contoso has no person '${idOrUpn}'.`))
}

function mintToken(tenant: Tenant, tokens: Tokens, request: z.infer<typeof tokenRequest>): Reply {
  const named = request.userPrincipalName ?? request.userId
  if (!request.appOnly && named === undefined) {
    throw new Refused(problem(400, 'Set userPrincipalName or userId to a person, or set appOnly.'))
  }
  const person = request.appOnly || named === undefined ? undefined : requirePerson(named)
  const { resource, names, oidc } = readScope(tenant, request.scope)
  const { lifetime = defaultLifetime, audience } = request
  const access = tokens.access({
    audience: resource,
    scopes: request.appOnly ? names : [...names, ...oidc],
    person,
    clientId: request.clientId,
    proof: request.appOnly ? '2' : '0',
    lifetime,
    tenantId: request.tenantId,
    claims: { ...(audience !== undefined && { aud: audience }), ...request.claims },
  })
  return { status: 200, body: access.then((access_token) => ({ access_token, expires_in: lifetime })) }
}
