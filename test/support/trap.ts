import { afterAll, beforeAll } from 'vitest'
import { sendJson, startServer } from './http-server.ts'

/** An address that nobody should call, with the calls that it received: the server of an attacker. */
export interface Trap {
  readonly url: string
  /** Method and path of every call, in order. */
  readonly hits: readonly string[]
}

/** Runs a trap from `beforeAll` to `afterAll` of the block. It returns keys, as an attacker would. */
export function withTrap(keys: () => readonly object[] = () => []): Trap {
  const hits: string[] = []
  let server: Awaited<ReturnType<typeof startServer>> | undefined
  beforeAll(async () => {
    server = await startServer((request, response) => {
      hits.push(`${request.method} ${request.url}`)
      sendJson(response, 200, { keys: keys() })
    })
  })
  afterAll(() => server?.close())
  return {
    get url() {
      return server?.url ?? ''
    },
    hits,
  }
}
