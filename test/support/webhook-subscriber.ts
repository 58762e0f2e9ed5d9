import { text } from 'node:stream/consumers'
import { send, startServer } from './http-server.ts'

/** A received webhook, byte for byte. */
export interface ReceivedWebhook {
  readonly headers: Record<string, string>
  readonly body: string
}

/** Starts a webhook receiver that stores deliveries and returns the given answers (default 204). */
export async function startSubscriber() {
  const received: ReceivedWebhook[] = []
  const answers: number[] = []
  const { url, close } = await startServer(async (request, response) => {
    const body = await text(request)
    const headers = Object.entries(request.headers).map(([name, value]) => [name, String(value)] as const)
    received.push({ headers: Object.fromEntries(headers), body })
    send(response, answers.shift() ?? 204)
  })
  return {
    url: `${url}/hooks/sites`,
    received,
    /** Statuses of the next answers, in order. */
    answers,
    close,
  }
}
