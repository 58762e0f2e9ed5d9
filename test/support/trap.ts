import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll } from 'vitest'

/** An address that nobody has a reason to call, and everybody that did: what an attacker would listen on. */
export interface Trap {
  readonly url: string
  /** Method and path of every call, in order. */
  readonly hits: readonly string[]
}

/** A trap that stands from `beforeAll` to `afterAll` of the block. It answers with keys, as whoever lays it would. */
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
