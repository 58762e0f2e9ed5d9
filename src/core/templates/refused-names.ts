/** Returns a text for comparisons: without case, accents, width and invisible characters. */
export const folded = (text: string): string =>
  text
    .normalize('NFKD')
    .replace(/[\p{M}\p{Cf}]/gu, '')
    .replaceAll('ß', 'ss')
    .toLocaleLowerCase('en')

/** Scripts without spaces. In their texts a blocked word is found anywhere. */
const unspaced =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u

/**
 * Returns the blocked words that a text contains, unchanged. Ignores matches inside longer names, as Microsoft's naming
 * policy does ("Groups naming policy"): "class" contains no blocked word. A blocked phrase may have any separators.
 */
export function blockedWordsIn(text: string, blockedWords: readonly string[]): string[] {
  if (blockedWords.length === 0) return []
  const plain = folded(text)
  const words = ` ${plain.split(/[^\p{L}\p{N}]+/u).join(' ')} `
  return blockedWords.filter((blocked) => {
    const plainBlocked = folded(blocked)
    if (unspaced.test(plainBlocked)) return plain.includes(plainBlocked)
    const phrase = plainBlocked.split(/[^\p{L}\p{N}]+/u).filter(Boolean)
    return phrase.length > 0 && words.includes(` ${phrase.join(' ')} `)
  })
}

/**
 * Names before the `@` that certificate authorities, registrars and mail systems trust, by purpose. The owner of such
 * an address can obtain certificates and domains, or can pretend to be the operator of a service. Sources: CA/Browser
 * Forum Baseline Requirements 3.2.2.4.4 (admin, administrator, webmaster, hostmaster, postmaster), RFC 2142 sections 4
 * to 6 and, for ssladmin and root, CERT/CC VU#591120. Written without `.`, `-` and `_`, which comparisons ignore.
 *
 * Not included, because people request them for good reasons: the business names of RFC 2142 (info, marketing, sales,
 * support), news, it, is, help, registrar, and all longer names that only contain one of these.
 */
const reserved = {
  mail: [
    ...['postmaster', 'mailmaster', 'mailadmin', 'mailadministrator', 'emailadmin', 'emailadministrator'],
    ...['mailerdaemon', 'noreply', 'noreplies', 'donotreply', 'bounce', 'bounces', 'dkim', 'spf', 'mtasts', 'tlsrpt'],
    ...['dmarc', 'dmarcreport', 'dmarcreports', 'dmarcrua', 'dmarcruf'],
  ],
  domains: [
    ...['hostmaster', 'dns', 'dnsadmin', 'dnsadministrator', 'dnsmaster'],
    ...['domain', 'domains', 'domainadmin', 'domainadministrator', 'domainmaster', 'whois'],
  ],
  certificates: [
    ...['cert', 'certs', 'certadmin', 'certificate', 'certificates', 'certificateadmin', 'certmaster'],
    ...['pki', 'pkiadmin'],
  ],
  systems: [
    ...['admin', 'admins', 'administrator', 'administrators', 'root', 'superuser'],
    ...['sysadmin', 'sysadmins', 'sysadministrator', 'systemadmin', 'systemadministrator'],
    ...['netadmin', 'networkadmin', 'networkadministrator', 'uucp', 'usenet', 'ftp'],
  ],
  web: ['webmaster', 'webadmin', 'webadministrator', 'www'],
  security: ['security', 'securitytxt', 'abuse', 'noc', 'csirt', 'cirt', 'psirt', 'phishing'],
  discovery: ['autodiscover', 'autoconfig', 'wpad', 'isatap', 'localhost', 'broadcasthost'],
} as const
export type ReservedFor = keyof typeof reserved

/** Names with these prefixes are reserved too: ssladmin, sslwebmaster and others that certificate authorities use. */
const prefixes: Readonly<Record<string, ReservedFor>> = {
  ssl: 'certificates',
}

const purposes = new Map<string, ReservedFor>(
  (Object.keys(reserved) as ReservedFor[]).flatMap((purpose) =>
    reserved[purpose].map((name) => [name, purpose] as const),
  ),
)

/** Returns a name for a comparison with reserved names: folded and without separators. */
const bare = (name: string): string => folded(name).replace(/[._-]/g, '')

/**
 * Returns the purpose of a reserved name (before the `@`, or the last part of a site's address); undefined if it is not
 * reserved.
 */
export function reservedFor(name: string): ReservedFor | undefined {
  const plain = bare(name)
  const prefix = Object.keys(prefixes).find((one) => plain.startsWith(one))
  return purposes.get(plain) ?? (prefix === undefined ? undefined : prefixes[prefix])
}

/** Returns the purpose of a reserved name, unless the template allows the name. */
export function reservedIn(
  { allowReservedNames = [] }: { readonly allowReservedNames?: readonly string[] | undefined },
  name: string,
): ReservedFor | undefined {
  return allowReservedNames.some((one) => bare(one) === bare(name)) ? undefined : reservedFor(name)
}
