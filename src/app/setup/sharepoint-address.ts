import { fill } from '../../client/command-line/terminal.ts'
import { type CloudName, clouds } from '../addresses.ts'
import texts from './strings.json' with { type: 'json' }

/** Returns the default address of an organisation's sites: `contoso.onmicrosoft.com` → `https://contoso.sharepoint.com`. */
export function sharePointAddress(initialDomain: string | undefined, cloud: CloudName): string | undefined {
  const [, name] = /^([a-z0-9-]+)\.(?:[a-z0-9-]+\.)?onmicrosoft\.(?:com|us)$/i.exec(initialDomain ?? '') ?? []
  return name === undefined ? undefined : `https://${name.toLowerCase()}${clouds[cloud].sharePointSuffix}`
}

const timeoutMilliseconds = 15_000

export interface SharePointCheck {
  /** The fault of the address; undefined without a known fault. */
  readonly fault?: string
  /** The address belongs to this tenant. */
  readonly isKnown: boolean
}

/**
 * Finds the tenant of a SharePoint address. Without a token, SharePoint refuses the call and names the tenant
 * as `realm` in `WWW-Authenticate`.
 */
export async function checkSharePoint(url: string, tenantId: string, send: typeof fetch): Promise<SharePointCheck> {
  const init = { headers: { authorization: 'Bearer' }, redirect: 'manual' } as const
  const signal = AbortSignal.timeout(timeoutMilliseconds)
  const response = await send(`${url}/_vti_bin/client.svc`, { ...init, signal }).catch(() => undefined)
  if (response === undefined) return { fault: fill(texts.sharePoint.noAnswer, { url }), isKnown: false }
  await response.body?.cancel()
  const [, realm] = /realm="([0-9a-f-]{36})"/i.exec(response.headers.get('www-authenticate') ?? '') ?? []
  if (realm === undefined) return { isKnown: false }
  if (realm.toLowerCase() === tenantId.toLowerCase()) return { isKnown: true }
  return { fault: fill(texts.sharePoint.foreign, { url }), isKnown: false }
}
