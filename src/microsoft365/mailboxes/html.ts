const entities = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' } as const

/** Converts plain text to HTML that shows the text unchanged. */
export const toHtml = (text: string): string =>
  text.replace(/[&<>"']/g, (character) => Reflect.get(entities, character)).replace(/\r\n|\r|\n/g, '<br>')

/** Longer than any of our replies with its entities. Characters. */
const maxReply = 500_000

/**
 * Returns the text that people see in HTML, with normalized white space. Exchange wraps a reply in a page with a style and
 * exchanges letters and entities.
 */
export const visibleText = (html: string): string =>
  normalizeSpace(
    html
      .slice(0, maxReply)
      .replace(/<!--[\s\S]*?(?:-->|$)/g, '')
      .replace(/<(head|style|script|title)\b[\s\S]*?(?:<\/\1[^<>]*>|$)/gi, '')
      .replace(/<(?:br|\/?(?:p|div|li|tr))\b[^<>]*>/gi, '\n')
      .replace(/<[^<>]*>/g, '')
      .replace(/&(?:#(\d{1,7})|#x([\da-f]{1,6})|([a-z]+\d*));/gi, decodeEntity),
  )

/** Named entities of western languages (HTML 4, Latin-1 and common punctuation). */
const latin1 = (
  'nbsp iexcl cent pound curren yen brvbar sect uml copy ordf laquo not shy reg macr deg plusmn sup2 sup3 acute micro para ' +
  'middot cedil sup1 ordm raquo frac14 frac12 frac34 iquest Agrave Aacute Acirc Atilde Auml Aring AElig Ccedil Egrave ' +
  'Eacute Ecirc Euml Igrave Iacute Icirc Iuml ETH Ntilde Ograve Oacute Ocirc Otilde Ouml times Oslash Ugrave Uacute Ucirc ' +
  'Uuml Yacute THORN szlig agrave aacute acirc atilde auml aring aelig ccedil egrave eacute ecirc euml igrave iacute icirc ' +
  'iuml eth ntilde ograve oacute ocirc otilde ouml divide oslash ugrave uacute ucirc uuml yacute thorn yuml'
).split(' ')
const characters: ReadonlyMap<string, string> = new Map([
  ...latin1.map((name, index) => [name, String.fromCharCode(160 + index)] as const),
  ...Object.entries({
    amp: '&',
    lt: '<',
    gt: '>',
    quot: '"',
    apos: "'",
    hellip: '…',
    ndash: '–',
    mdash: '—',
    bull: '•',
  }),
  ...Object.entries({ lsquo: '‘', rsquo: '’', sbquo: '‚', ldquo: '“', rdquo: '”', bdquo: '„', euro: '€', trade: '™' }),
  ...Object.entries({ OElig: 'Œ', oelig: 'œ', Scaron: 'Š', scaron: 'š', lsaquo: '‹', rsaquo: '›' }),
])

/** Returns the character of an entity; unknown entities stay unchanged. */
function decodeEntity(entity: string, decimal?: string, hexadecimal?: string, name?: string): string {
  if (name !== undefined) return characters.get(name) ?? entity
  const code = decimal === undefined ? Number.parseInt(hexadecimal ?? '', 16) : Number(decimal)
  return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : entity
}

/** Normalizes white space, for comparisons: services may change it. */
export const normalizeSpace = (text: string): string => text.replace(/\s+/g, ' ').trim()
