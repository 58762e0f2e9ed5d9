import { isIPv4 } from 'node:net'

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
