import { changedNames, isForMailbox, type Request, type RequestForMailbox } from '../../core/index.ts'
import type { Viewer } from './texts.ts'

/** A site's address without the scheme, which people do not need. */
export const withoutScheme = (url: string): string => url.replace(/^https?:\/\//, '').replace(/\/$/, '')

/**
 * Returns the address if a card may link to it, else `''`. Only sites of this organisation are allowed, because the address
 * may come from a webhook. Its origin must be that of `siteRoot` or one of the tenant's other hosts.
 */
export function siteLink(url: string | undefined, siteRoot: string, otherOrigins: readonly string[] = []): string {
  if (url === undefined || !URL.canParse(url) || !URL.canParse(siteRoot)) return ''
  const link = new URL(url)
  const web = link.protocol === 'https:' || link.protocol === 'http:'
  const plain = link.username === '' && link.password === ''
  const isOurs = link.origin === new URL(siteRoot).origin || otherOrigins.includes(link.origin)
  return web && plain && isOurs ? link.href : ''
}

/**
 * The address of an announced site: from its webhook or the directory, else as the service created it. `''` for an address
 * outside the organisation's sites.
 */
export const siteAddress = (
  request: Request,
  { siteRoot, otherSiteOrigins }: Pick<Viewer, 'siteRoot' | 'otherSiteOrigins'>,
): string =>
  isForMailbox(request) ? '' : siteLink(request.followUp.url ?? request.resource?.url, siteRoot, otherSiteOrigins)

/** The requested address as people read it: the primary address of a mailbox, or a site's address without the scheme. */
export const askedAddress = (request: Request, { siteRoot }: Viewer): string =>
  isForMailbox(request) || request.alias === ''
    ? 'address' in request
      ? request.address
      : ''
    : withoutScheme(`${siteRoot}${changedNames(request)?.alias ?? request.alias}`)

/**
 * The link that opens a mailbox in Outlook on the web: a shared mailbox for a viewer with full access, or a new meeting with
 * the room or device. Microsoft does not document the path of the meeting: an Outlook that does not know it opens the
 * calendar. `''` if the viewer can open nothing.
 */
export function outlookLink({ kind, address, details }: RequestForMailbox, { id, outlookRoot }: Viewer): string {
  const to = encodeURIComponent(address)
  if (kind !== 'sharedMailbox')
    return `${outlookRoot}calendar/deeplink/compose?path=/calendar/action/compose&rru=addevent&to=${to}`
  return details.permissions[id] === 'FullAccess' ? `${outlookRoot}mail/${to}/` : ''
}
