import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

/** A received webhook, byte for byte. */
export interface ReceivedWebhook {
  readonly headers: Record<string, string>
  readonly body: string
}

/** Starts a webhook receiver that stores deliveries and returns the given answers (default 204). */
export async function startSubscriber() {
  const received: ReceivedWebhook[] = []
  const answers: number[] = []
  const server = createServer((request, response) => {
    text(request).then(
      (body) => {
        const headers = Object.entries(request.headers).map(([name, value]) => [name, String(value)] as const)
        received.push({ headers: Object.fromEntries(headers), body })
        response.writeHead(answers.shift() ?? 204)
        response.end()
      },
      () => response.destroy(),
    )
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hooks/sites`,
    received,
    /** Statuses of the next answers, in order. */
    answers,
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
