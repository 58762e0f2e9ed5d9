import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'

/**
 * Linux, macOS and Windows do not use these ports for outgoing connections, so a free one is still free when the service
 * listens.
 */
const range = { from: 20_000, to: 32_768 }
const maxTries = 100
/** Each call continues at the next port, so that calls at the same time get different ones. Each process begins at random. */
let next = randomInt(range.from, range.to)

/** Returns the port, or another free port if it is in use. Addresses must be known before the servers listen. */
export async function freePort(preferred?: number): Promise<number> {
  if (preferred !== undefined && (await isFree(preferred))) return preferred
  for (let tries = 0; tries < maxTries; tries += 1) {
    const port = next
    next = port + 1 < range.to ? port + 1 : range.from
    if (await isFree(port)) return port
  }
  throw new Error(`No port is free between ${range.from} and ${range.to}. Set PORT.`)
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer()
  try {
    await once(server.listen(port, '127.0.0.1'), 'listening')
  } catch {
    return false
  }
  await new Promise((closed) => server.close(closed))
  return true
}
