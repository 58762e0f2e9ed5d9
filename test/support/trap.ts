import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll } from 'vitest'

/** An address that nobody should call, with the calls that it received: the server of an attacker. */
export interface Trap {
  readonly url: string
  /** Method and path of every call, in order. */
  readonly hits: readonly string[]
}

/** Runs a trap from `beforeAll` to `afterAll` of the block. It returns keys, as an attacker would. */
export function withTrap(keys: () => readonly object[] = () => []): Trap {
  const hits: string[] = []
  let url = ''
  // No chained calls on the response: restify, in the same process, makes writeHead return nothing.
  const server = createServer((request, response) => {
    hits.push(`${request.method} ${request.url}`)
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ keys: keys() }))
  })
  beforeAll(async () => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  })
  afterAll(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  return {
    get url() {
      return url
    },
    hits,
  }
}
