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

/** The address that a request asks for, as people read it: of a mailbox the primary one, of a site without the scheme. */
export const askedAddress = (request: Request, { siteRoot }: Viewer): string =>
  isForMailbox(request) || request.alias === ''
    ? 'address' in request
      ? request.address
      : ''
    : withoutScheme(`${siteRoot}${changedNames(request)?.alias ?? request.alias}`)

/**
 * Where Outlook on the web opens a shared mailbox, for those who have full access; for a room or a device a new meeting
 * with it invited. The path of the latter is Outlook's own, which no page documents: where it is not known, the calendar
 * opens without the invitation. `''` when the viewer has nothing to open.
 */
export function outlookLink({ kind, address, details }: RequestForMailbox, { id, outlookRoot }: Viewer): string {
  const to = encodeURIComponent(address)
  if (kind !== 'sharedMailbox')
    return `${outlookRoot}calendar/deeplink/compose?path=/calendar/action/compose&rru=addevent&to=${to}`
  return details.permissions[id] === 'FullAccess' ? `${outlookRoot}mail/${to}/` : ''
}
