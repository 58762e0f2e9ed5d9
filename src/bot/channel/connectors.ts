/** The Bot connector of one of Microsoft's clouds: the issuer of its tokens, and the addresses that the bot may call. */
export interface Connector {
  /** Issuer of the tokens that come with activities. */
  readonly issuer: string
  readonly keysUrl: string
  /** Hosts of service URLs. A host that starts with a dot includes all hosts below it. */
  readonly hosts: readonly string[]
  /** The service URL of the whole cloud, for a tenant whose service URL is not known. */
  readonly serviceUrl: string
  /** The SDK's name of the cloud, which sets the login and the audience of the bot's own token. Empty: public. */
  readonly channelService: string
  /** Audience of the bot's own token. */
  readonly audience: string
}

/**
 * Sources: "Authenticate requests with the Bot Connector API" (learn.microsoft.com/azure/bot-service/rest-api/
 * bot-framework-rest-connector-authentication), "Configure Bot Framework bots for US Government customers"
 * (…/azure/bot-service/how-to-deploy-gov-cloud-high), GovernmentConstants of botframework-connector 4.23, buildJwksUri of
 * @microsoft/agents-hosting; service URLs: "Send proactive messages" (learn.microsoft.com/microsoftteams/platform/bots/
 * how-to/conversations/send-proactive-messages). GCC is in the public cloud and has a service URL of its own.
 */
export const connectors = {
  public: {
    issuer: 'https://api.botframework.com',
    keysUrl: 'https://login.botframework.com/v1/.well-known/keys',
    hosts: ['smba.trafficmanager.net', 'smba.infra.gcc.teams.microsoft.com', '.botframework.com'],
    serviceUrl: 'https://smba.trafficmanager.net/teams/',
    channelService: '',
    audience: 'https://api.botframework.com',
  },
  usgov: {
    issuer: 'https://api.botframework.us',
    keysUrl: 'https://login.botframework.azure.us/v1/.well-known/keys',
    hosts: ['smba.infra.gov.teams.microsoft.us', '.botframework.azure.us'],
    serviceUrl: 'https://smba.infra.gov.teams.microsoft.us/teams/',
    channelService: 'https://botframework.azure.us',
    audience: 'https://api.botframework.us',
  },
} as const satisfies Record<string, Connector>

const loopback: readonly string[] = ['127.0.0.1', 'localhost', '[::1]']

/** Whether an address is the Agents Playground's, whose people pickers do not show the people chosen before. */
export function isPlayground(serviceUrl: string | undefined): boolean {
  if (serviceUrl === undefined || !URL.canParse(serviceUrl)) return false
  const { hostname, pathname } = new URL(serviceUrl)
  return loopback.includes(hostname) && pathname.startsWith('/_connector')
}

/**
 * Whether an address is the Bot connector's. Any other address would receive our cards and our token (reliability R24).
 * Loopback is allowed in local mode only, where the Playground is the connector.
 */
export function isConnector(
  serviceUrl: string | undefined,
  allowLoopback: boolean,
  { hosts }: Pick<Connector, 'hosts'> = connectors.public,
): boolean {
  if (serviceUrl === undefined || !URL.canParse(serviceUrl)) return false
  const { protocol, hostname, port, username, password } = new URL(serviceUrl)
  if (allowLoopback && loopback.includes(hostname)) return true
  if (port !== '' || username !== '' || password !== '') return false
  return (
    protocol === 'https:' && hosts.some((host) => (host.startsWith('.') ? hostname.endsWith(host) : hostname === host))
  )
}
