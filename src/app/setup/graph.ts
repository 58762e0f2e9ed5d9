import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import { parsedJson } from '../../core/index.ts'

/** Microsoft Graph, called on behalf of the signed-in person. */
export interface Graph {
  /** Reads an object; undefined if it does not exist, or, with `refused`, if the person may not read it. */
  get<T>(path: string, schema: z.ZodType<T>, options?: ReadOptions): Promise<T | undefined>
  /** Reads all pages of a collection, and waits while Microsoft does not know its object everywhere. */
  list<T>(path: string, item: z.ZodType<T>): Promise<T[]>
  /** Changes something. Returns the answer's body, `{}` for an empty one. */
  send(method: 'POST' | 'PATCH', path: string, write: Write): Promise<unknown>
}

interface ReadOptions {
  readonly refused?: boolean
  readonly headers?: Readonly<Record<string, string>>
}

export interface Write {
  readonly body: object
  readonly headers?: Readonly<Record<string, string>>
  /** Whether a refusal means that the change is already applied. */
  isDone?(error: GraphError): boolean
}

/** A failed call. `status` is undefined if no answer arrived. Contains no token and no body. */
export class GraphError extends Error {
  override readonly name = 'GraphError'
  readonly status: number | undefined
  readonly code: string
  /** Microsoft's own sentence. */
  readonly description: string
  readonly requestId: string
  readonly isWrite: boolean
  constructor(fault: Pick<GraphError, 'status' | 'code' | 'description' | 'requestId' | 'isWrite'>, cause?: unknown) {
    super(fault.description || fault.code, { cause })
    this.status = fault.status
    this.code = fault.code
    this.description = fault.description
    this.requestId = fault.requestId
    this.isWrite = fault.isWrite
  }
  /** Whether it is unknown if the change was applied, so it must be read again. */
  get isUncertain(): boolean {
    return this.isWrite && (this.status === undefined || this.status >= 500)
  }
}

interface GraphOptions {
  /** `https://graph.microsoft.com` */
  readonly url: string
  readonly token: () => Promise<string>
  readonly fetch: typeof fetch
  readonly pause: (milliseconds: number) => Promise<void>
  /** How long to repeat a call about an object that Microsoft does not know everywhere yet. Milliseconds. */
  readonly patience: number
  /** Called once for each call that waits for this reason. */
  readonly onWait: () => void
}

const timeoutMilliseconds = 60_000
const maxRepeats = 4
const longestWaitSeconds = 60

export function createGraph(options: GraphOptions): Graph {
  const root = `${options.url}/v1.0`
  const read = async (url: string, headers?: ReadOptions['headers']): Promise<unknown> =>
    repeated(
      options,
      () => exchange(options, 'GET', url, headers && { headers }),
      (error) => isPassing(error),
    )
  return {
    async get(path, schema, { refused = false, headers } = {}) {
      try {
        return schema.parse(await read(root + path, headers))
      } catch (error) {
        if (error instanceof GraphError && (error.status === 404 || (refused && isRefusal(error)))) return undefined
        throw error
      }
    },
    async list(path, item) {
      const page = z.object({ value: z.array(item), '@odata.nextLink': z.string().optional() })
      const all: z.output<typeof item>[] = []
      for (let url: string | undefined = root + path; url !== undefined; ) {
        const at = url
        const { value, '@odata.nextLink': next }: z.output<typeof page> = page.parse(
          await patiently(options, () => read(at)),
        )
        all.push(...value)
        // The token goes to Microsoft Graph only.
        url = next !== undefined && new URL(next).origin === new URL(root).origin ? next : undefined
      }
      return all
    },
    async send(method, path, write) {
      const attempt = () => exchange(options, method, root + path, write)
      try {
        return await patiently(options, () =>
          repeated(
            options,
            attempt,
            ({ status, retryAfter }) => status === 429 || (status === 503 && retryAfter !== undefined),
          ),
        )
      } catch (error) {
        if (error instanceof GraphError && write.isDone?.(error)) return {}
        throw error
      }
    },
  }
}

/** Thrown by a change that needs an object which Microsoft does not show yet. */
export class TooEarly extends Error {
  override readonly name = 'TooEarly'
}

/** The refusal of a call, with Microsoft's Retry-After in seconds. */
class Refusal extends GraphError {
  retryAfter: number | undefined
}

const isRefusal = ({ status }: GraphError): boolean => status === 401 || status === 403
const isPassing = ({ status }: GraphError): boolean => status === undefined || status === 429 || status >= 500

/** Repeats a call that may be repeated, after the wait that Microsoft requests. */
async function repeated<T>(
  { pause }: GraphOptions,
  attempt: () => Promise<T>,
  mayRepeat: (error: Refusal) => boolean,
): Promise<T> {
  for (let count = 0; ; count += 1) {
    try {
      return await attempt()
    } catch (error) {
      if (!(error instanceof Refusal) || count === maxRepeats || !mayRepeat(error)) throw error
      await pause(1000 * Math.min(longestWaitSeconds, error.retryAfter ?? 0.5 * 2 ** count))
    }
  }
}

/** Repeats a call while parts of Microsoft's directory do not know the object yet, which is usual for a minute. */
async function patiently<T>({ pause, patience, onWait }: GraphOptions, attempt: () => Promise<T>): Promise<T> {
  let waited = 0
  for (;;) {
    try {
      return await attempt()
    } catch (error) {
      if (!(error instanceof GraphError) || !isTooEarly(error) || waited >= patience) throw error
      const wait = nextWait(waited)
      if (isLong(waited, wait)) onWait()
      await pause(wait)
      waited += wait
    }
  }
}

/** Returns the next of several growing waits. Milliseconds. */
export const nextWait = (waited: number): number => Math.min(5000, Math.max(250, waited))

/** Whether to show a message with the next wait. True once. */
export const isLong = (waited: number, next: number): boolean => waited < 3000 && waited + next >= 3000

/** Microsoft's answers while a new object is not known everywhere. */
const isTooEarly = ({ status, code, description }: GraphError): boolean =>
  status === 404 ||
  (status === 400 &&
    (/ResourceNotFound|NoBackingApplicationObject/.test(code) ||
      /does not exist|not present|backing application|does not reference a valid application/i.test(description)))

async function exchange(
  { token, fetch: send }: GraphOptions,
  method: string,
  url: string,
  how?: Partial<Write>,
): Promise<unknown> {
  const isWrite = method !== 'GET'
  const isZip = how?.body instanceof Uint8Array
  const headers = {
    authorization: `Bearer ${await token()}`,
    accept: 'application/json',
    'client-request-id': randomUUID(),
    ...(isWrite && { 'content-type': isZip ? 'application/zip' : 'application/json' }),
    ...how?.headers,
  }
  const body = how?.body && (isZip ? new Uint8Array(how.body as Uint8Array) : JSON.stringify(how.body))
  const signal = AbortSignal.timeout(timeoutMilliseconds)
  const init = { method, headers, redirect: 'manual', signal, ...(body !== undefined && { body }) } as const
  const answered = await send(url, init)
    .then(async (response) => ({ response, text: await response.text() }))
    .catch((error: unknown) => {
      const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
      const code = cause instanceof Error && 'code' in cause ? String(cause.code) : 'no-answer'
      throw new Refusal({ status: undefined, code, description: '', requestId: '', isWrite }, error)
    })
  const { response, text } = answered
  if (response.ok) return parsedJson(text) ?? {}
  const { error } = problemBody.parse(parsedJson(text))
  const refusal = new Refusal({
    status: response.status,
    code: error.code,
    description: error.message,
    requestId: response.headers.get('request-id') ?? '',
    isWrite,
  })
  const retryAfter = Number(response.headers.get('retry-after') ?? Number.NaN)
  refusal.retryAfter = Number.isFinite(retryAfter) ? retryAfter : undefined
  throw refusal
}

const problemBody = z
  .object({ error: z.object({ code: z.string().catch(''), message: z.string().catch('') }) })
  .catch({ error: { code: '', message: '' } })

/** Quotes a value for a path or filter: `O'Hara` → `O''Hara`. */
export const quotedValue = (text: string): string => encodeURIComponent(text.replaceAll("'", "''"))
