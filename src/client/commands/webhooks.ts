import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { mailboxKinds, siteKinds, templateIdOf } from '../command-line/body.ts'
import { defineCommand, type Scope } from '../command-line/define-command.ts'
import { momentOf } from '../command-line/show.ts'
import { clean, exitCodes, fill, texts, UsageError } from '../command-line/terminal.ts'
import { type ProvisioningEvent, verifyProvisioningWebhook, WebhookError } from '../index.ts'

const usualPort = 8787
/** The largest accepted body; webhooks are small. Bytes. */
const largestBody = 64 * 1024

/** Receives webhooks, and prints those with a valid signature. */
export const listenToWebhooks = defineCommand({
  name: 'webhook listen',
  options: {
    port: { type: 'number', value: '<number>' },
    host: { type: 'text', value: '<address>' },
    secret: { type: 'text', value: '<whsec_…>' },
    count: { type: 'number', value: '<number>' },
  },
  async run(scope, { port = usualPort, host = '127.0.0.1', secret, count = Number.POSITIVE_INFINITY }) {
    const { terminal, signal, variables } = scope
    if (!Number.isInteger(port) || port < 0 || port > 65_535) throw new UsageError(texts.usage.port, 'webhook listen')
    const known = secret ?? (variables['QUARTERMASTER_WEBHOOK_SECRET'] || undefined)
    const used = known ?? `whsec_${randomBytes(32).toString('base64')}`
    checkSecret(used)
    const received = new ReceivedWebhooks(scope, count)
    const server = createServer((request, response) => void receive(request, response, used, received))
    server.listen(port, host)
    await once(server, 'listening', { signal }).catch((error: unknown) => {
      signal.throwIfAborted()
      throw new UsageError(fill(texts.listen.noPort, { port, why: Object(error).code ?? '' }))
    })
    const address = server.address()
    const at = `http://${host.includes(':') ? `[${host}]` : host}:${typeof address === 'object' ? address?.port : port}/`
    if (!known) terminal.note(fill(texts.listen.secret, { secret: used }))
    terminal.note(fill(texts.listen.listening, { address: at }))
    try {
      await received.enough(signal)
    } finally {
      server.close()
      server.closeAllConnections()
    }
    // A script that requires a number of webhooks must notice that they did not arrive.
    if (Number.isFinite(count) && received.isShort) return exitCodes.interrupted
    return exitCodes.done
  },
})

function checkSecret(secret: string): void {
  try {
    verifyProvisioningWebhook({}, '', secret)
  } catch (error) {
    // The unsigned call fails with WebhookError if the secret itself is valid.
    if (!(error instanceof WebhookError)) throw new UsageError(texts.usage.secret, 'webhook listen')
  }
  if (!/^whsec_[A-Za-z0-9+/]+=*$/.test(secret)) throw new UsageError(texts.usage.secret, 'webhook listen')
}

/** Counts and prints webhooks. The same message may arrive again with the same id. */
class ReceivedWebhooks {
  readonly #scope: Scope
  readonly #ids = new Set<string>()
  readonly #done = new AbortController()
  #left: number
  constructor(scope: Scope, count: number) {
    this.#scope = scope
    this.#left = count
  }

  /** Whether fewer webhooks have arrived than requested. */
  get isShort(): boolean {
    return this.#left > 0
  }

  note(text: string): void {
    this.#scope.terminal.note(text)
  }

  event(event: ProvisioningEvent): void {
    const again = this.#ids.has(event.id)
    this.#ids.add(event.id)
    const line = fill(texts.listen.event, {
      at: momentOf(event.timestamp, 'seconds'),
      type: clean(event.type),
      request: clean(event.requestId),
    })
    this.#scope.terminal.result(event, [
      again ? `${line} ${texts.listen.again}` : line,
      ...Object.entries(event.data).map(([name, value]) => `  ${clean(name)}: ${clean(textOf(value))}`),
    ])
    this.#left -= 1
    if (this.#left <= 0) this.#done.abort()
  }

  /** Waits until the requested number has arrived, or until Ctrl-C. */
  async enough(signal: AbortSignal): Promise<void> {
    const ended = AbortSignal.any([signal, this.#done.signal])
    if (!ended.aborted) await once(ended, 'abort')
    // Gives the last answer time to be sent.
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}
const textOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))

async function receive(
  request: IncomingMessage,
  response: ServerResponse,
  secret: string,
  received: ReceivedWebhooks,
): Promise<void> {
  const answer = (status: number) => void response.writeHead(status, { connection: 'close' }).end()
  try {
    if (request.method !== 'POST') return answer(405)
    const body = await readBody(request)
    if (body === undefined) return answer(413)
    received.event(verifyProvisioningWebhook(request.headers, body, secret))
    answer(204)
  } catch (error) {
    if (!(error instanceof WebhookError)) return void response.destroy()
    received.note(fill(texts.listen.refused, { why: error.message }))
    answer(error.reason === 'body' ? 400 : 401)
  }
}

async function readBody(request: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request) {
    const bytes = Buffer.from(chunk)
    size += bytes.length
    if (size > largestBody) return undefined
    chunks.push(bytes)
  }
  return Buffer.concat(chunks)
}

/**
 * Lets the service test the receiver of a template once, and shows the result, so that a receiver's own test can wait for
 * it.
 */
export const testWebhook = defineCommand({
  name: 'webhook test',
  options: {},
  operands: ['template'],
  async run(scope, _, [operand = '']) {
    const { terminal, signal } = scope
    const client = await scope.client()
    const templateId = await templateIdOf(client, operand, [...siteKinds, ...mailboxKinds], signal)
    const result = await client.testWebhook(templateId, { signal })
    const { taken, notTaken } = texts.testWebhook
    const values = { status: clean(result.status), url: clean(result.url), milliseconds: result.milliseconds }
    terminal.result(result, [fill(result.delivered ? taken : notTaken, values)])
    return result.delivered ? exitCodes.done : exitCodes.cameToNothing
  },
})

/** Sends all waiting deliveries of a template now, for example after a receiver was repaired. */
export const sendWaitingWebhooks = defineCommand({
  name: 'webhook send-waiting',
  options: {},
  operands: ['template'],
  async run(scope, _, [operand = '']) {
    const { terminal, signal } = scope
    const client = await scope.client()
    const templateId = await templateIdOf(client, operand, [...siteKinds, ...mailboxKinds], signal)
    const result = await client.sendWaitingWebhooks(templateId, { signal })
    terminal.result(result, [fill(texts.sendWaiting.sent, { count: result.sent })])
    return exitCodes.done
  },
})
