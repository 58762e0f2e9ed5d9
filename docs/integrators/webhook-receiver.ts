import { createServer, type IncomingMessage } from 'node:http'
import { verifyProvisioningWebhook, WebhookError } from '../../src/client/index.ts'

const secret = process.env['WEBHOOK_SECRET'] ?? ''
const port = Number(process.env['PORT'] ?? 8080)
/** The ids of handled messages. Keep them for some days in your database, because a message may come again. */
const known = new Set<string>()

/** Returns the original bytes, because parsed and rewritten JSON has another signature. Our bodies are far below 64 KiB. */
async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of request) {
    chunks.push(chunk)
    if (chunks.reduce((size, { length }) => size + length, 0) > 65_536) throw new Error('The body is too large.')
  }
  return Buffer.concat(chunks)
}

/** Verifies the message and handles it. Returns the status of the answer. */
async function take(request: IncomingMessage): Promise<number> {
  const body = await bodyOf(request)
  try {
    const event = verifyProvisioningWebhook(request.headers, body, secret)
    // A test by an admin needs no work.
    if (event.type === 'webhook.test') return 204
    const { id, type, data } = event
    if (!known.has(id)) console.log(type, data.reference, data.url ?? data.address ?? '')
    known.add(id)
    return 204
  } catch (error) {
    if (error instanceof WebhookError) return error.reason === 'body' ? 400 : 401
    throw error
  }
}

const server = createServer((request, response) => {
  take(request).then(
    (status) => response.writeHead(status).end(),
    (error: unknown) => {
      console.error(error)
      response.destroy()
    },
  )
})
server.listen(port, '127.0.0.1', () => console.log(`Listening on http://127.0.0.1:${port}/hooks/sites`))
