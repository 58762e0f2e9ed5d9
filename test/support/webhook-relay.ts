import type { IncomingMessage, ServerResponse } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { startServer } from './http-server.ts'

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
  const relay = async (request: IncomingMessage, response: ServerResponse) => {
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
  const { url, close } = await startServer(relay)
  return {
    url,
    /** Returns how many webhooks had another behaviour than `pass` since the mode was set. */
    met: () => met,
    set(next: RelayMode | RelayChoice) {
      choose = typeof next === 'string' ? () => ({ mode: next }) : next
      met = 0
    },
    close,
  }
}
