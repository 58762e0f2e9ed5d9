import type { IncomingMessage, ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { onTestFinished } from 'vitest'
import { type ClientOptions, createClient, type Timing } from '../../src/client/index.ts'
import { startServer } from './http-server.ts'

/** The answer to one call. */
export type Reply = (response: ServerResponse, request: IncomingMessage) => void

/** The content of one call. */
export interface Heard {
  readonly call: string
  readonly headers: IncomingMessage['headers']
  readonly body: string
}

/** Starts a server that answers call after call as a test says; the last answer repeats. */
export async function hostileServer(...replies: readonly Reply[]) {
  const heard: Heard[] = []
  const { url, close } = await startServer(async (request, response) => {
    const body = await text(request)
    const reply = replies[Math.min(heard.length, replies.length - 1)]
    heard.push({ call: `${request.method} ${request.url}`, headers: request.headers, body })
    reply?.(response, request)
  })
  onTestFinished(close)
  return { heard, url }
}

/** Creates a JSON answer. */
export const reply =
  (status: number, body: unknown, headers: Record<string, string> = {}): Reply =>
  (response) => {
    response.writeHead(status, {
      'content-type': status < 400 ? 'application/json' : 'application/problem+json',
      ...headers,
    })
    response.end(status === 304 ? undefined : JSON.stringify(body))
  }

/** Creates a clock that advances only while a client waits, and records each wait in seconds. */
export function slowMotion() {
  const waits: number[] = []
  let at = Date.parse('2026-11-20T09:00:00Z')
  const timing: Timing = {
    now: () => at,
    random: () => 0,
    async sleep(milliseconds, signal) {
      signal?.throwIfAborted()
      waits.push(milliseconds / 1000)
      at += milliseconds
    },
  }
  const pass = (seconds: number): void => {
    at += seconds * 1000
  }
  return { timing, waits, pass }
}

/** Creates a client of such servers. */
export function clientOf(url: string, more: Partial<ClientOptions> = {}) {
  const time = slowMotion()
  const token = async () => 'token-of-kim'
  return { ...time, client: createClient({ baseUrl: url, directoryUrl: url, token, timing: time.timing, ...more }) }
}
