/** A site's address for people: without the scheme, which they do not need. */
export const withoutScheme = (url: string): string => url.replace(/^https?:\/\//, '').replace(/\/$/, '')

/**
 * An address that a card may link to, or `''`: a site of this organisation and nothing else, since the address may have
 * come with a webhook or from the directory. Its origin must be that of `siteRoot`.
 */
export function siteLink(url: string | undefined, siteRoot: string): string {
  if (url === undefined || !URL.canParse(url) || !URL.canParse(siteRoot)) return ''
  const link = new URL(url)
  const web = link.protocol === 'https:' || link.protocol === 'http:'
  const plain = link.username === '' && link.password === ''
  return web && plain && link.origin === new URL(siteRoot).origin ? link.href : ''
}
