import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'

/** What becomes of the next webhook: `hold` keeps it from the service, `deafen` hands it over and keeps the answer. */
export type RelayMode = 'pass' | 'hold' | 'deafen'
/** Decides over one webhook by its body; `met` is told when it is held, or when its answer is kept. */
export type RelayChoice = (body: string) => { readonly mode: RelayMode; met?(): void }

/**
 * Stands before the service as its public address, and hands webhooks on, so that a test can stop one on its way. What
 * is held is held until the line breaks.
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
    /** How many webhooks met something else than `pass` since the mode was set. */
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
