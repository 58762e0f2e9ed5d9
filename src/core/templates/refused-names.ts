/** A text as it is compared: without case, accents and width, and without the signs that nobody sees. */
export const folded = (text: string): string =>
  text
    .normalize('NFKD')
    .replace(/[\p{M}\p{Cf}]/gu, '')
    .replaceAll('ß', 'ss')
    .toLocaleLowerCase('en')

/** Scripts that put no space between words: there a blocked word is found anywhere. */
const unspaced =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u

/**
 * Those of the blocked words that a text has, as they were written. Whole words only, as Microsoft's own naming policy
 * has it ("Groups naming policy"), so that "class" is none because of what is in it; a blocked phrase is found whatever
 * stands between its words.
 */
export function blockedWordsIn(text: string, blockedWords: readonly string[]): string[] {
  if (blockedWords.length === 0) return []
  const plain = folded(text)
  const words = ` ${plain.split(/[^\p{L}\p{N}]+/u).join(' ')} `
  return blockedWords.filter((blocked) => {
    const wanted = folded(blocked)
    if (unspaced.test(wanted)) return plain.includes(wanted)
    const phrase = wanted.split(/[^\p{L}\p{N}]+/u).filter(Boolean)
    return phrase.length > 0 && words.includes(` ${phrase.join(' ')} `)
  })
}

/**
 * Names before the `@` that certificate authorities, registrars and mail systems trust, by what they are for. The owner of such an
 * address can obtain certificates and domains, or is taken for the people who run the service. Sources: CA/Browser Forum
 * Baseline Requirements 3.2.2.4.4 (admin, administrator, webmaster, hostmaster, postmaster), RFC 2142 sections 4 to 6 and,
 * for ssladmin and root, CERT/CC VU#591120. Written without `.`, `-` and `_`, which a comparison leaves out.
 *
 * Left out, because people request them for good reasons: the business names of RFC 2142 (info, marketing, sales, support),
 * news, it, is, help, registrar, and all longer names that only contain one of these.
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

/** Names that begin like this are reserved too: ssladmin, sslwebmaster, certificate authorities' own inventions. */
const prefixes: Readonly<Record<string, ReservedFor>> = {
  ssl: 'certificates',
}

const purposes = new Map<string, ReservedFor>(
  (Object.keys(reserved) as ReservedFor[]).flatMap((purpose) =>
    reserved[purpose].map((name) => [name, purpose] as const),
  ),
)

/** A name as reserved names are compared: folded, and without what separates words in it. */
const bare = (name: string): string => folded(name).replace(/[._-]/g, '')

/** What a name before the `@`, or the last part of a site's address, is reserved for; undefined where anybody may have it. */
export function reservedFor(name: string): ReservedFor | undefined {
  const wanted = bare(name)
  const prefix = Object.keys(prefixes).find((one) => wanted.startsWith(one))
  return purposes.get(wanted) ?? (prefix === undefined ? undefined : prefixes[prefix])
}

/** The same for a template: names that it allows are reserved for nothing. */
export function reservedIn(
  { allowReservedNames = [] }: { readonly allowReservedNames?: readonly string[] | undefined },
  name: string,
): ReservedFor | undefined {
  return allowReservedNames.some((one) => bare(one) === bare(name)) ? undefined : reservedFor(name)
}
