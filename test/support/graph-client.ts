import { Client, type Context, HTTPMessageHandler, RetryHandler } from '@microsoft/microsoft-graph-client'

/**
 * Microsoft's own Graph client for the simulated directory. The client's step for tokens removes the header from calls
 * that are not https, and the simulator is http, so a step of ours adds it.
 */
export function graphClient(directoryUrl: string, token?: string): Client {
  const retries = new RetryHandler()
  retries.setNext(new HTTPMessageHandler())
  const middleware = {
    execute(context: Context) {
      const headers = { ...context.options?.headers, ...(token && { Authorization: `Bearer ${token}` }) }
      context.options = { ...context.options, headers }
      return retries.execute(context)
    },
  }
  return Client.initWithMiddleware({ baseUrl: `${directoryUrl}/`, middleware })
}
