import { type Connector, connectors } from '../bot/index.ts'

/** Addresses of one of Microsoft's clouds. `LOGIN_URL`, `DIRECTORY_URL` and `EXCHANGE_URL` replace the first three. */
interface Cloud {
  readonly loginUrl: string
  readonly directoryUrl: string
  readonly exchangeUrl: string
  /** What the hosts of the organisation's sites end with. */
  readonly sharePointSuffix: string
  readonly connector: Connector
}

/**
 * The clouds in which the service works. Version 1 tokens have the issuer `https://sts.windows.net/{tenant}/` in both;
 * version 2 tokens have the login's own. Sources: learn.microsoft.com/graph/deployments (login, Graph);
 * learn.microsoft.com/powershell/module/exchange/connect-exchangeonline, `-ExchangeEnvironmentName` (Exchange);
 * learn.microsoft.com/microsoft-365/enterprise/microsoft-365-u-s-government-gcc-high-endpoints (SharePoint, Exchange).
 */
export const clouds: Readonly<Record<'public' | 'usgov', Cloud>> = {
  public: {
    loginUrl: 'https://login.microsoftonline.com',
    directoryUrl: 'https://graph.microsoft.com',
    exchangeUrl: 'https://outlook.office365.com',
    sharePointSuffix: '.sharepoint.com',
    connector: connectors.public,
  },
  usgov: {
    loginUrl: 'https://login.microsoftonline.us',
    directoryUrl: 'https://graph.microsoft.us',
    exchangeUrl: 'https://outlook.office365.us',
    sharePointSuffix: '.sharepoint.us',
    connector: connectors.usgov,
  },
}
export type CloudName = keyof typeof clouds

/** Why the service does not work in a cloud (docs/decisions/24-clouds.md). */
const unsupported = new Map(
  Object.entries({
    'usgov-dod': 'Microsoft documents bots of Azure Government for Teams in GCC High only.',
    china: 'Microsoft does not document the addresses of Teams bots in the cloud of 21Vianet.',
  }),
)

/** The fault of a value of `CLOUD`; undefined for a cloud in which the service works. */
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

/** The cloud that a SharePoint address belongs to; undefined for any other host. */
export function cloudOfSharePoint(address: string): string | undefined {
  const { hostname } = URL.canParse(address) ? new URL(address) : { hostname: '' }
  return sharePointOf.find(([end]) => hostname.endsWith(end))?.[1]
}
