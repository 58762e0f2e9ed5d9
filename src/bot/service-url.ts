/**
 * Whether an address is the Bot connector's, so that we may write to it: a wrong one would be sent our cards, and our
 * token with them (reliability R24). Loopback counts in local mode only, where the Playground is the connector.
 */
export function isConnector(serviceUrl: string | undefined, allowLoopback: boolean): boolean {
  if (serviceUrl === undefined || !URL.canParse(serviceUrl)) return false
  const { protocol, hostname, port, username, password } = new URL(serviceUrl)
  if (allowLoopback && ['127.0.0.1', 'localhost', '[::1]'].includes(hostname)) return true
  if (port !== '' || username !== '' || password !== '') return false
  return protocol === 'https:' && (hostname === 'smba.trafficmanager.net' || hostname.endsWith('.botframework.com'))
}
