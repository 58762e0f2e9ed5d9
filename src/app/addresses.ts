import { isIPv4 } from 'node:net'
import { type Connector, connectors } from '../bot/index.ts'
import { routeOf } from '../store/index.ts'

/** Addresses of one of Microsoft's clouds. `LOGIN_URL`, `DIRECTORY_URL` and `EXCHANGE_URL` replace the first three. */
interface Cloud {
  readonly loginUrl: string
  readonly directoryUrl: string
  readonly exchangeUrl: string
  /** The end of the host names of the organisation's sites. */
  readonly sharePointSuffix: string
  /** Where an administrator creates the Azure Bot. */
  readonly azurePortalUrl: string
  readonly connector: Connector
}

/**
 * The clouds in which the service works. Version 1 tokens have the issuer `https://sts.windows.net/{tenant}/` in both;
 * version 2 tokens have the login's own. Sources: learn.microsoft.com/graph/deployments (login, Graph);
 * learn.microsoft.com/powershell/module/exchange/connect-exchangeonline, `-ExchangeEnvironmentName` (Exchange);
 * learn.microsoft.com/microsoft-365/enterprise/microsoft-365-u-s-government-gcc-high-endpoints (SharePoint, Exchange);
 * microsoft.github.io/teams-sdk, "Sovereign Cloud Configuration" (Azure's portal).
 */
export const clouds: Readonly<Record<'public' | 'usgov', Cloud>> = {
  public: {
    loginUrl: 'https://login.microsoftonline.com',
    directoryUrl: 'https://graph.microsoft.com',
    exchangeUrl: 'https://outlook.office365.com',
    sharePointSuffix: '.sharepoint.com',
    azurePortalUrl: 'https://portal.azure.com',
    connector: connectors.public,
  },
  usgov: {
    loginUrl: 'https://login.microsoftonline.us',
    directoryUrl: 'https://graph.microsoft.us',
    exchangeUrl: 'https://outlook.office365.us',
    sharePointSuffix: '.sharepoint.us',
    azurePortalUrl: 'https://portal.azure.us',
    connector: connectors.usgov,
  },
}
export type CloudName = keyof typeof clouds

/** The reasons why the service does not work in some clouds (docs/decisions/24-clouds.md). */
const unsupported = new Map(
  Object.entries({
    'usgov-dod': 'Microsoft documents bots of Azure Government only for Teams in GCC High.',
    china: 'Microsoft does not document the addresses of Teams bots in the cloud of 21Vianet.',
  }),
)

/** Returns the fault of a value of `CLOUD`; undefined for a supported cloud. */
export function cloudFault(value: string): string | undefined {
  if (Object.hasOwn(clouds, value)) return undefined
  const reason = unsupported.get(value)
  return reason === undefined
    ? 'must be public (also for GCC) or usgov (GCC High)'
    : `must not be ${value}: the service does not work in that cloud. ${reason}`
}

/** Ends of SharePoint hosts by cloud, for addresses that belong to another cloud than `CLOUD`. */
const sharePointOf: readonly (readonly [end: string, cloud: string])[] = [
  ...Object.entries(clouds).map(([name, { sharePointSuffix }]) => [sharePointSuffix, name] as const),
  ['.sharepoint-mil.us', 'usgov-dod'],
  ['.sharepoint.cn', 'china'],
]

/** Returns the cloud of a SharePoint address; undefined for any other host. */
export function cloudOfSharePoint(address: string): string | undefined {
  const { hostname } = URL.canParse(address) ? new URL(address) : { hostname: '' }
  return sharePointOf.find(([end]) => hostname.endsWith(end))?.[1]
}

/**
 * Whether a host name always means this machine, without a lookup: `localhost`, 127.0.0.0/8 or `::1`, with or without
 * brackets. Other spellings (`localhost.`, `127.1`, `foo.localhost`) depend on the resolver, so they do not count.
 */
export function isLoopbackHost(host: string): boolean {
  const name = host.toLowerCase().replace(/^\[(.+)\]$/, '$1')
  return name === 'localhost' || name === '::1' || (isIPv4(name) && name.startsWith('127.'))
}

/** Whether `fetch` would send a call for this address to this machine: not for `http://127.0.0.1@evil.example`. */
export function isLoopbackUrl(address: string): boolean {
  return URL.canParse(address) && isLoopbackHost(new URL(address).hostname)
}

/**
 * Returns why production must not use this PostgreSQL server, as one sentence; undefined if it may. The connection carries
 * requests, names and secrets, so over a network it must be encrypted and the server must be verified.
 */
export function unsafeServer(databaseUrl: string): string | undefined {
  if (!URL.canParse(databaseUrl)) return undefined
  try {
    const { host, isSocket, isVerified } = routeOf(databaseUrl)
    if (host.includes(',')) return `DATABASE_URL has several hosts (${host}): use one.`
    if (isSocket || isVerified || isLoopbackHost(host)) return undefined
    return `DATABASE_URL must use TLS and verify the server ${host} when MODE=production: add sslmode=verify-full, and sslrootcert=<file> if a private authority issued its certificate.`
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

/** The fault in production if certificates are not checked. */
export const uncheckedCertificates =
  'NODE_TLS_REJECT_UNAUTHORIZED=0 disables all certificate checks: remove it unless MODE=local. To trust another authority, set NODE_EXTRA_CA_CERTS=<file>.'

/**
 * Throws if a command must not use this server. MODE is often set only for the service, so commands apply the rule of
 * production unless MODE=local. `name` is the variable or option that has the address.
 */
export function assertSafeServer(
  databaseUrl: string,
  { MODE, NODE_TLS_REJECT_UNAUTHORIZED }: Readonly<Record<string, string | undefined>>,
  name = 'DATABASE_URL',
): void {
  if (MODE === 'local') return
  if (NODE_TLS_REJECT_UNAUTHORIZED === '0') throw new Error(uncheckedCertificates)
  const fault = unsafeServer(databaseUrl)
  if (fault !== undefined)
    throw new Error(fault.replace('DATABASE_URL', name).replace('when MODE=production', 'unless MODE=local'))
}
