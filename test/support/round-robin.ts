import {
  request as ask,
  createServer,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  type ServerResponse,
} from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'

/** Replicas behind one address, used in turn. */
export interface RoundRobin {
  readonly url: string
  /** Returns the replicas that receive calls now. */
  ready(): string[]
  /** Excludes a replica from further calls. Resolves when none of its calls is running. */
  leaveOut(target: string): Promise<void>
  /** Includes a replica again as soon as it reports that it is ready. */
  takeBack(target: string): void
  close(): Promise<void>
}

interface Target {
  readonly url: string
  ready: boolean
  leftOut: boolean
  underWay: number
}

/** How often each replica's readiness is checked, in milliseconds. */
const checkMilliseconds = 250

/**
 * Starts a small load balancer. A replica whose `/readyz` is not 200 receives no calls. A refused connection has no
 * effect, so the call goes to the next replica. Without a ready replica the answer is 503 with Retry-After.
 */
export async function startRoundRobin(urls: readonly string[], port = 0): Promise<RoundRobin> {
  const targets: Target[] = urls.map((url) => ({ url, ready: false, leftOut: false, underWay: 0 }))
  let turn = 0
  const next = (tried: ReadonlySet<Target>): Target | undefined => {
    const open = targets.filter((target) => target.ready && !target.leftOut && !tried.has(target))
    turn += 1
    return open[turn % open.length]
  }
  const named = (url: string): Target => {
    const target = targets.find((one) => one.url === url)
    if (!target) throw new Error(`${url} is no replica`)
    return target
  }
  const watches = targets.map((target) => watchReadiness(target))
  const server = createServer((request, response) => {
    serve(request, response, next).catch(() => response.destroy())
  })
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    ready: () => targets.filter(({ ready, leftOut }) => ready && !leftOut).map(({ url }) => url),
    async leaveOut(url) {
      const target = named(url)
      target.leftOut = true
      while (target.underWay > 0) await new Promise((resolve) => setTimeout(resolve, 10))
    },
    takeBack(url) {
      Object.assign(named(url), { leftOut: false, ready: false })
    },
    async close() {
      for (const stop of watches) stop()
      const closed = new Promise((resolve) => server.close(resolve))
      server.closeIdleConnections()
      await closed
    },
  }
}

function watchReadiness(target: Target): () => void {
  let asking = false
  const timer = setInterval(() => {
    if (asking) return
    asking = true
    fetch(`${target.url}/readyz`, { signal: AbortSignal.timeout(2000) })
      .then(async (answer) => {
        await answer.body?.cancel()
        target.ready = answer.status === 200
      })
      .catch(() => {
        target.ready = false
      })
      .finally(() => {
        asking = false
      })
  }, checkMilliseconds)
  return () => clearInterval(timer)
}

type Next = (tried: ReadonlySet<Target>) => Target | undefined

async function serve(request: IncomingMessage, response: ServerResponse, next: Next): Promise<void> {
  const body = await buffer(request)
  const tried = new Set<Target>()
  for (;;) {
    const target = next(tried)
    if (!target) return refuse(response, 503, 'No replica is ready.')
    tried.add(target)
    target.underWay += 1
    try {
      return await forward(target, request, body, response)
    } catch (error) {
      target.ready = false
      const refused = error instanceof Error && 'code' in error && error.code === 'ECONNREFUSED'
      if (response.headersSent) return void response.destroy()
      if (!refused && request.method !== 'GET') return refuse(response, 502, 'The replica did not answer.')
    } finally {
      target.underWay -= 1
    }
  }
}

/** Forwards a call and its answer. Rejects when the replica ends before its answer. */
function forward(target: Target, request: IncomingMessage, body: Buffer, response: ServerResponse): Promise<void> {
  const { 'transfer-encoding': _, ...headers } = request.headers
  const sent: OutgoingHttpHeaders = { ...headers, 'content-length': body.length, connection: 'close' }
  if (body.length === 0 && request.method === 'GET') delete sent['content-length']
  return new Promise((resolve, reject) => {
    const { method = 'GET', url = '/' } = request
    const outgoing = ask(`${target.url}${url}`, { method, headers: sent, agent: false }, (answer) => {
      const { connection: _connection, 'keep-alive': _keep, ...back } = answer.headers
      response.writeHead(answer.statusCode ?? 502, back)
      answer.on('error', reject)
      answer.pipe(response).on('finish', resolve).on('close', resolve)
    })
    outgoing.on('error', reject)
    outgoing.end(body)
  })
}

function refuse(response: ServerResponse, status: number, detail: string): void {
  response.writeHead(status, { 'content-type': 'application/problem+json', 'retry-after': '1' })
  response.end(JSON.stringify({ type: 'about:blank', title: 'Not available just now', status, detail }))
}
