import type { INetworkModule, NetworkRequestOptions } from '@azure/msal-node'

export const http = (url: string): string => url.replace(/^https:/, 'http:')

/**
 * MSAL accepts only https authorities and issuers, and the simulator uses http. This maps the scheme, like a proxy that
 * terminates TLS, and nothing else.
 */
export const network: INetworkModule = {
  sendGetRequestAsync: (url, options) => exchange('GET', url, options),
  sendPostRequestAsync: (url, options) => exchange('POST', url, options),
}

async function exchange<T>(method: string, url: string, { headers, body }: NetworkRequestOptions = {}) {
  const response = await fetch(http(url), {
    method,
    ...(headers && { headers }),
    ...(body !== undefined && { body }),
  })
  const answer: T = JSON.parse((await response.text()).replaceAll('"http://', '"https://'))
  return { status: response.status, headers: Object.fromEntries(response.headers), body: answer }
}
