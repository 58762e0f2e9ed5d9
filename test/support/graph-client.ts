import { Client, type Context, HTTPMessageHandler, RetryHandler } from '@microsoft/microsoft-graph-client'

/**
 * Creates Microsoft's own Graph client for the simulated directory. The client removes tokens from calls that are not
 * https, and the simulator uses http, so an own step adds the header.
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
