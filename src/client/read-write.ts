import type { SendCall } from './call.ts'
import type { CallOptions, TokenResource, WriteOptions } from './types.ts'

/** Reads and writes below the service's address. An answer is taken for `T` when it has the fields that are named. */
export interface ReadWrite {
  read<T>(path: string, fields: readonly string[], given: CallOptions, query?: Query): Promise<T>
  /** A POST that changes nothing, so that it needs no key to be repeated. */
  inquire<T>(path: string, fields: readonly string[], body: unknown, given: CallOptions, how?: How): Promise<T>
  write<T>(
    path: string,
    resource: TokenResource | 'either',
    body: unknown,
    given: WriteOptions,
    fields?: readonly string[],
  ): Promise<T>
}
/** Whose token an inquiry takes where not either's will do, and how much longer than other calls it may take, in seconds. */
interface How {
  readonly query?: Query
  readonly resource?: TokenResource
  readonly seconds?: number
}
type Query = Readonly<Record<string, string | number | undefined>>

export function createReadWrite(send: SendCall, root: string, eitherToken: 'collab' | 'mail'): ReadWrite {
  return {
    async read<T>(path: string, fields: readonly string[], { signal }: CallOptions, query: Query = {}) {
      const about = { method: 'GET', path, ...requestIn(path) } as const
      const { body } = await send({ about, url: root + path + searchOf(query), resource: eitherToken, fields, signal })
      return body as T
    },
    async inquire<T>(
      path: string,
      fields: readonly string[],
      body: unknown,
      { signal }: CallOptions,
      { query = {}, resource = eitherToken, seconds: heldSeconds = 0 }: How = {},
    ) {
      const about = { method: 'POST', path } as const
      const url = root + path + searchOf(query)
      return (await send({ about, url, resource, body, fields, signal, heldSeconds })).body as T
    },
    async write<T>(
      path: string,
      whose: TokenResource | 'either',
      body: unknown,
      given: WriteOptions,
      fields: readonly string[] = ['requestId', 'status'],
    ) {
      const resource = whose === 'either' ? eitherToken : whose
      const { signal, idempotencyKey = globalThis.crypto.randomUUID() } = given
      if (!/^[\x20-\x7e]{1,255}$/.test(idempotencyKey))
        throw new TypeError('An Idempotency-Key is 1 to 255 printable ASCII characters.')
      const about = { method: 'POST', path, idempotencyKey, ...requestIn(path) } as const
      const answer = await send({ about, url: root + path, resource, body, fields, signal })
      return answer.body as T
    },
  }
}

function requestIn(path: string): { requestId?: string } {
  const requestId = /^\/requests\/v1\/([0-9a-f-]{36})/.exec(path)?.[1]
  return requestId === undefined ? {} : { requestId }
}

function searchOf(query: Query): string {
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) if (value !== undefined) search.set(name, String(value))
  return search.size === 0 ? '' : `?${search}`
}
