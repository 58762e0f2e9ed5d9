import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'

/** The behaviour for the next webhook: `hold` keeps it from the service, `deafen` delivers it and drops the answer. */
export type RelayMode = 'pass' | 'hold' | 'deafen'
/**
 * Chooses the behaviour for one webhook by its body; `met` is called when the webhook is held or its answer is dropped.
 */
export type RelayChoice = (body: string) => { readonly mode: RelayMode; met?(): void }

/**
 * Starts a relay as the service's public address. It forwards webhooks, so that a test can stop one on its way. A held
 * webhook stays until the connection breaks.
 */
export async function startWebhookRelay(target: () => string) {
  let choose: RelayChoice = () => ({ mode: 'pass' })
  let met = 0
  const server = createServer((request, response) => {
    relay(request, response).catch(() => response.destroy())
  })
  const relay = async (...[request, response]: Parameters<Parameters<typeof createServer>[1] & object>) => {
    const body = await buffer(request)
    const choice = choose(body.toString('utf8'))
    const meets = () => {
      met += 1
      choice.met?.()
    }
    if (choice.mode === 'hold') return meets()
    const deaf = choice.mode === 'deafen'
    const headers = new Headers()
    for (const name of ['content-type', 'webhook-id', 'webhook-timestamp', 'webhook-signature']) {
      const value = request.headers[name]
      if (typeof value === 'string') headers.set(name, value)
    }
    const answer = await fetch(`${target()}${request.url}`, { method: request.method ?? 'GET', headers, body })
    await answer.body?.cancel()
    if (deaf) return meets()
    response.writeHead(answer.status)
    response.end()
  }
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** Returns how many webhooks had another behaviour than `pass` since the mode was set. */
    met: () => met,
    set(next: RelayMode | RelayChoice) {
      choose = typeof next === 'string' ? () => ({ mode: next }) : next
      met = 0
    },
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
export type WebhookRelay = Awaited<ReturnType<typeof startWebhookRelay>>
