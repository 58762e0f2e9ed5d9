import { once } from 'node:events'
import type { Server as NodeServer } from 'node:http'
import { Server as NetServer } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { HttpError } from './problem.ts'
import { type Exchange, pathOf, sendError } from './respond.ts'
import type { Health } from './services.ts'

type Phase = 'starting' | 'open' | 'draining'

/** How long a request that is under way may take when the server drains, in milliseconds; then it is answered for it. */
const drainMilliseconds = 4000
/** How long what was answered may take to go out, and what was sent to come in, in milliseconds. */
const longestFarewell = 500

/** These are answered in every phase: that the process lives, that it is not ready, and how it does meanwhile. */
const always = ['/healthz', '/readyz', '/metrics']

/** Whether the server takes requests, and which ones are under way: so that none ends without an answer. */
export class Lifecycle {
  #phase: Phase
  readonly #underWay = new Set<Exchange>()
  readonly #stopping = new AbortController()

  constructor(phase: Phase) {
    this.#phase = phase
  }

  /** Aborted when no more requests are taken: what waits for something is to end. */
  get stopping(): AbortSignal {
    return this.#stopping.signal
  }

  /** Why a request is not taken just now; undefined when it is. */
  refusal(exchange: Pick<Exchange, 'request'>): HttpError | undefined {
    if (this.#phase === 'open' || always.includes(pathOf(exchange.request).replace(/\/$/, ''))) return undefined
    return this.#notNow()
  }

  /** Counts a request as under way until its answer has gone out or its caller has gone. */
  follow(exchange: Exchange): void {
    this.#underWay.add(exchange)
    exchange.response.once('close', () => this.#underWay.delete(exchange))
  }

  open(): void {
    if (this.#phase === 'starting') this.#phase = 'open'
  }

  /** Who is not open is not ready, whatever else is. */
  healthWith(health: Health): Health {
    return {
      ready: async () =>
        this.#phase === 'open' ? health.ready() : { ok: false, checks: { process: `is ${this.#phase}` } },
    }
  }

  /** Refuses what comes from now on; ends when what is under way is answered: by its handler, or by us after four seconds. */
  async drain(): Promise<void> {
    this.#phase = 'draining'
    this.#stopping.abort()
    const deadline = performance.now() + drainMilliseconds
    while (this.#underWay.size > 0 && performance.now() < deadline) await wait(20)
    for (const exchange of this.#underWay) sendError(exchange, this.#notNow())
  }

  /** Stops listening and lets go of all connections; those with an answer on its way a moment later. */
  async close(node: NodeServer, farewellMilliseconds = longestFarewell): Promise<void> {
    await this.drain()
    if (!node.listening) return
    const closed = once(node, 'close')
    // Node's own `close` for HTTP also cuts connections that have just come and whose request is still on its way.
    NetServer.prototype.close.call(node)
    await Promise.race([closed, wait(farewellMilliseconds)])
    node.close(() => undefined)
    node.closeAllConnections()
    await closed
  }

  #notNow(): HttpError {
    const [code, doing] =
      this.#phase === 'starting' ? (['starting', 'starting'] as const) : (['draining', 'restarting'] as const)
    return new HttpError(code, `The service is ${doing}. Please try again in a moment.`, {
      headers: { 'Retry-After': '5', Connection: 'close' },
    })
  }
}
