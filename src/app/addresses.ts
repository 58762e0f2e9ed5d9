import { isIPv4 } from 'node:net'
import { routeOf } from '../store/index.ts'

/**
 * Whether a host name is this machine by itself, without a look-up: `localhost`, 127.0.0.0/8 or `::1`, with or without
 * brackets. Other spellings (`localhost.`, `127.1`, `foo.localhost`) depend on the resolver, so they do not count.
 */
export function isLoopbackHost(host: string): boolean {
  const name = host.toLowerCase().replace(/^\[(.+)\]$/, '$1')
  return name === 'localhost' || name === '::1' || (isIPv4(name) && name.startsWith('127.'))
}

/** Whether an http address leads to this machine, read as `fetch` reads it: `http://127.0.0.1@evil.example` does not. */
export function isLoopbackUrl(address: string): boolean {
  return URL.canParse(address) && isLoopbackHost(new URL(address).hostname)
}

/**
 * Why production must not use this PostgreSQL server, as one sentence; undefined when it may. Requests, names and secrets
 * travel on the connection, so over a network it is encrypted and the server proves who it is.
 */
export function unsafeServer(databaseUrl: string): string | undefined {
  if (!URL.canParse(databaseUrl)) return undefined
  try {
    const { host, isSocket, isVerified } = routeOf(databaseUrl)
    if (host.includes(',')) return `DATABASE_URL names several hosts (${host}): name one.`
    if (isSocket || isVerified || isLoopbackHost(host)) return undefined
    return `DATABASE_URL must use TLS and verify the server ${host} when MODE=production: add sslmode=verify-full, and sslrootcert=<file> if its certificate is not of a public authority.`
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

/** What production says when nothing checks certificates. */
export const uncheckedCertificates =
  'NODE_TLS_REJECT_UNAUTHORIZED=0 switches off the check of every certificate: remove it unless MODE=local. NODE_EXTRA_CA_CERTS=<file> adds an authority.'

/**
 * The same rule for commands that an operator starts, where MODE is often set for the service only: they allow less unless
 * MODE=local says otherwise. `name` is what the operator wrote the address into.
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
