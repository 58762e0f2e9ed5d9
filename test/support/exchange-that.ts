import type { IncomingMessage, ServerResponse } from 'node:http'
import { onTestFinished } from 'vitest'
import { sendJson, startServer } from './http-server.ts'
import { answersSignIn, connectTo } from './microsoft365.ts'

/** A cmdlet that the connector ran. */
export interface ReceivedCall {
  readonly url: string
  readonly headers: IncomingMessage['headers']
  readonly cmdlet: string
  readonly parameters: Record<string, unknown>
}
export type ExchangeAnswer = (received: ReceivedCall, response: ServerResponse, url: string) => void

/** Starts an Exchange with the given answers; `otherwise` answers calls that are not cmdlets. */
export async function exchangeThat(
  answer: ExchangeAnswer,
  otherwise: ExchangeAnswer = (_, response) => sendJson(response, 404, {}),
) {
  const received: ReceivedCall[] = []
  const hear = async (request: IncomingMessage, response: ServerResponse) => {
    let text = ''
    for await (const part of request) text += part
    const input = text === '' ? {} : JSON.parse(text).CmdletInput
    const { url = '', headers } = request
    const call = { url, headers, cmdlet: input?.CmdletName ?? '', parameters: input?.Parameters ?? {} }
    if (call.cmdlet === '') return otherwise(call, response, server.url)
    received.push(call)
    answer(call, response, server.url)
  }
  const server = await startServer((request, response) => {
    if (!answersSignIn(request, response)) hear(request, response).catch(() => response.destroy())
  })
  onTestFinished(server.close)
  return { ...connectTo(server.url), received, url: server.url }
}
/** Finds nothing, and accepts all writes. */
export const nothing: ExchangeAnswer = (_, response) => sendJson(response, 200, { value: [] })
