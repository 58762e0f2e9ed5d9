import { Agent as HttpAgent } from 'node:http'
import { Agent as HttpsAgent } from 'node:https'

/** How long a connection may have been idle before a request uses it again, in milliseconds. */
const freshMilliseconds = 2000

/** The part of the SDK's request that chooses its connection. */
interface ConnectorRequest {
  readonly url: string
  agent?: HttpAgent
}

/**
 * Creates a policy of the connector client that uses a connection again only shortly after its last use. A server closes an idle
 * connection after some seconds (Node's after 5). A request that leaves in the same moment is lost: nobody knows whether it arrived, so
 * it cannot be repeated, and a person would see an error in place of an answer. The clock is asked as well as the agent's timer, because a
 * busy process runs its timers late. A connection through a proxy stays as the SDK chose it.
 */
export function freshConnections(now: () => number = () => performance.now()) {
  const options = { keepAlive: true, timeout: freshMilliseconds }
  const [http, https] = [new HttpAgent(options), new HttpsAgent(options)]
  let usedAt = Number.NEGATIVE_INFINITY
  return {
    name: 'freshConnections',
    async sendRequest<Request extends ConnectorRequest, Answer>(
      request: Request,
      next: (request: Request) => Promise<Answer>,
    ): Promise<Answer> {
      const agent = request.url.startsWith('https:') ? https : http
      if (now() - usedAt > freshMilliseconds) closeIdle(agent)
      request.agent ??= agent
      usedAt = now()
      try {
        return await next(request)
      } finally {
        usedAt = now()
      }
    },
  }
}

function closeIdle(agent: HttpAgent): void {
  for (const socket of Object.values(agent.freeSockets).flat()) socket?.destroy()
}
