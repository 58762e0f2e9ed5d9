/**
 * A small Microsoft 365 with the same wire protocol, for local mode and tests. `main.ts` runs it alone and `token.ts`
 * prints an access token. Nothing here knows the product.
 */
import { createServer, type Server } from 'node:http'
import { controlService, createDispatcher, createFaults, type Faults, pageService } from './control/index.ts'
import { type ExchangeSettings, exchangeService } from './exchange/index.ts'
import { graphService } from './graph/index.ts'
import { loginService, openTokens } from './login/index.ts'
import { seedAdministration } from './registrations/index.ts'
import { sharePointService } from './sharepoint/index.ts'
import {
  addEmployees,
  contoso,
  openTenant,
  registerApi,
  type Service,
  seedGroups,
  seedMailboxes,
  seedSites,
} from './tenant/index.ts'

/** Location and delays of the simulated tenant. Times are seconds. */
export interface SimulatorOptions {
  readonly dataDir: string
  /**
   * `empty`: Contoso's people, sites and mailboxes, without the objects that administrators of a service create:
   * registrations, consents, roles, schema extensions, groups, apps of the catalogue. Unknown clients are refused.
   */
  readonly tenant?: 'contoso' | 'empty'
  /** How long some calls do not find new objects of Entra ID. Default: 0 in Contoso, 1 in the empty tenant. */
  readonly replicationSeconds?: number
  /** The number of employees of Contoso besides those with names. Default: 0. */
  readonly employees?: number
  /** The port; 0 takes any free port. */
  readonly port: number
  readonly host?: string
  /**
   * The address that callers use, if a proxy with TLS is in front: `https://127.0.0.1:8443`. Default: the simulator's
   * own.
   */
  readonly publicUrl?: string
  /** Delay until the schema-extension filter finds a new security group. */
  readonly directorySeconds?: number
  /** How long a new site is not ready. */
  readonly siteReadySeconds?: number
  /** How long a new mailbox is found only by Get-Recipient. */
  readonly exchangeSettleSeconds?: number
  /** Other settings of Exchange: see {@link ExchangeSettings}. */
  readonly exchange?: Partial<Pick<ExchangeSettings, 'recipientLagSeconds' | 'nameIsObjectId' | 'trusteesShownAs'>>
  readonly directoryExtension?: string
  /**
   * Address of a service. If it is set, `{baseUrl}/collab` and `{baseUrl}/mail` name Contoso's APIs, as `api://{client
   * id}` does.
   */
  readonly baseUrl?: string
  /** Faults that a test decides for each call. Default: the faults of `/control/faults`. */
  readonly faults?: Faults
}

/** A running simulator. All services have one root, so every `…Url` is `url`. */
export interface Simulator {
  readonly url: string
  readonly tenantId: string
  readonly loginUrl: string
  readonly directoryUrl: string
  readonly sharePointUrl: string
  readonly sharePointAdminUrl: string
  readonly exchangeUrl: string
  /** Closes open connections at once, then the stored state. */
  close(): Promise<void>
}

/** Starts a small Microsoft 365 with the tenant Contoso; its state is `{dataDir}/simulator.sqlite`. */
export async function startSimulator(options: SimulatorOptions): Promise<Simulator> {
  const { host = '127.0.0.1', directoryExtension = 'svc_group' } = options
  const { directorySeconds = 15, siteReadySeconds = 1, exchangeSettleSeconds = 1 } = options
  const isEmpty = options.tenant === 'empty'
  addEmployees(options.employees ?? 0)
  const tenant = openTenant(options.dataDir, {
    isEmpty,
    replicationSeconds: options.replicationSeconds ?? (isEmpty ? 1 : 0),
  })
  tenant.transaction(() => {
    seedAdministration(tenant, directoryExtension)
    seedGroups(tenant)
    seedMailboxes(tenant)
    seedSites(tenant)
  })
  for (const [name, api] of isEmpty ? [] : Object.entries(contoso.apis)) {
    registerApi(tenant, api)
    if (options.baseUrl) registerApi(tenant, { ...api, appIdUris: [`${options.baseUrl}/${name}`] })
  }
  const server = createServer()
  // All slow work is done before the port opens, so every request finds a listener.
  const tokens = await openTokens(tenant)
  const port = await listen(server, host, options.port).catch((error: unknown) => {
    tenant.close()
    throw error
  })
  const url = options.publicUrl ?? `http://${host}:${port}`
  const settings = { url, directorySeconds, siteReadySeconds, exchangeSettleSeconds }
  const usual = { recipientLagSeconds: 0, nameIsObjectId: false, trusteesShownAs: 'userPrincipalName' } as const
  tokens.issueAt(url)
  const faults = options.faults ?? createFaults()
  const services: Service[] = [
    // First, because the path of the sign-in page for codes would also match the login service.
    pageService(tenant),
    loginService(tenant, tokens, url),
    graphService(tenant, tokens, settings),
    sharePointService(tenant, tokens, settings),
    exchangeService(tenant, tokens, { ...settings, ...usual, ...options.exchange }),
  ]
  const names = [...new Set(services.filter(({ observed }) => observed).flatMap(namesOf))]
  services.push(controlService(tenant, tokens, faults, () => names))
  const closing = new AbortController()
  server.on('request', createDispatcher({ tenant, faults, services, host, closing: closing.signal }))
  return {
    url,
    tenantId: contoso.tenantId,
    loginUrl: url,
    directoryUrl: url,
    sharePointUrl: url,
    sharePointAdminUrl: url,
    exchangeUrl: url,
    close: async () => {
      if (closing.signal.aborted) return
      closing.abort()
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      server.closeAllConnections()
      await closed
      tenant.close()
    },
  }
}

const namesOf = (service: Service): string[] => service.operations.map(({ name }) => name)

/** Opens the port and returns its number. */
async function listen(server: Server, host: string, port: number): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => reject(bindFailure(error, host, port)))
    server.listen(port, host, () => resolve())
  })
  const address = server.address()
  return typeof address === 'object' && address !== null ? address.port : port
}

function bindFailure(error: NodeJS.ErrnoException, host: string, port: number): Error {
  if (error.code !== 'EADDRINUSE') return error
  const advice =
    'This service probably runs already. Stop it, or set PORT, SIMULATOR_PORT and DATA_DIR to run a second.'
  return new Error(`The simulator cannot listen on ${host}:${port}: port ${port} is in use. ${advice}`, {
    cause: error,
  })
}
