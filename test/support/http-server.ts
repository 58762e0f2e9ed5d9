import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/**
 * Starts a server on this machine with the given answers, such as those of a failing or hostile service. An answer that throws
 * breaks the connection.
 */
export async function startServer(
  answer: (request: IncomingMessage, response: ServerResponse) => void | Promise<void>,
): Promise<{ url: string; close(): Promise<void> }> {
  const answerOnce = async (...call: Parameters<typeof answer>) => answer(...call)
  const server = createServer((request, response) => {
    answerOnce(request, response).catch(() => response.destroy())
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve())
      server.closeAllConnections()
    })
  return { url: `http://127.0.0.1:${port}`, close }
}

/** Sends an answer in two statements: with restify in the process, `writeHead` returns nothing to chain. */
export function send(
  response: ServerResponse,
  status: number,
  body?: string | undefined,
  headers: Record<string, string> = {},
) {
  response.writeHead(status, headers)
  response.end(body)
}

export function sendJson(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
) {
  send(response, status, JSON.stringify(body), { 'content-type': 'application/json', ...headers })
}
