import type { IncomingMessage, ServerResponse } from 'node:http'
import { onTestFinished } from 'vitest'
import { answersSignIn, connectTo, sendJson, startServer } from './microsoft365.ts'

/** A cmdlet that the connector ran. */
export interface Asked {
  readonly url: string
  readonly headers: IncomingMessage['headers']
  readonly cmdlet: string
  readonly parameters: Record<string, unknown>
}
export type ExchangeAnswer = (asked: Asked, response: ServerResponse, url: string) => void

/** An Exchange that answers as it is told; everything that is no cmdlet gets `otherwise`. */
export async function exchangeThat(
  answer: ExchangeAnswer,
  otherwise: ExchangeAnswer = (_, response) => sendJson(response, 404, {}),
) {
  const asked: Asked[] = []
  const hear = async (request: IncomingMessage, response: ServerResponse) => {
    let text = ''
    for await (const part of request) text += part
    const input = text === '' ? {} : JSON.parse(text).CmdletInput
    const { url = '', headers } = request
    const call = { url, headers, cmdlet: input?.CmdletName ?? '', parameters: input?.Parameters ?? {} }
    if (call.cmdlet === '') return otherwise(call, response, server.url)
    asked.push(call)
    answer(call, response, server.url)
  }
  const server = await startServer((request, response) => {
    if (!answersSignIn(request, response)) hear(request, response).catch(() => response.destroy())
  })
  onTestFinished(server.close)
  return { ...connectTo(server.url), asked, url: server.url }
}
/** Finds nothing, and does what it is told. */
export const nothing: ExchangeAnswer = (_, response) => sendJson(response, 200, { value: [] })
