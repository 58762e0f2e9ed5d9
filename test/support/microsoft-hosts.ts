import tls from 'node:tls'

/**
 * Loaded into a process of the service before its own code (`NODE_OPTIONS=--import=…`). Redirects TLS connections to
 * the hosts of `MICROSOFT_HOSTS` (JSON: ports by host) to servers of the test on this machine. The service still checks
 * the certificate for Microsoft's name, so the process must trust the test's authority.
 */
const ports = JSON.parse(process.env['MICROSOFT_HOSTS'] ?? '{}') as Record<string, number>
const connect = tls.connect as (options: tls.ConnectionOptions, ...rest: unknown[]) => tls.TLSSocket
const redirected: typeof connect = (options, ...rest) => {
  const { host = '' } = options
  const port = ports[host]
  if (port === undefined) return connect(options, ...rest)
  return connect({ ...options, servername: host, host: '127.0.0.1', port }, ...rest)
}
Object.assign(tls, { connect: redirected })
