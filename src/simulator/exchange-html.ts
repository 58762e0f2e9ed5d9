const named: Readonly<Record<string, string>> = {
  ä: 'auml',
  ö: 'ouml',
  ü: 'uuml',
  é: 'eacute',
  '…': 'hellip',
  '–': 'ndash',
}

const head = `<head>\r
<meta http-equiv="Content-Type" content="text/html; charset=utf-8">\r
<style type="text/css" style="display:none">\r
<!--\r
p\r
	{margin-top:0;\r
	margin-bottom:0}\r
-->\r
</style>\r
</head>`

/**
 * An automatic reply as Exchange shows it: each message in a page of its own with a style, entities where they were
 * letters and letters where they were entities.
 */
export function asPages(reply: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const { InternalMessage, ExternalMessage } = reply
  return { ...reply, InternalMessage: asPage(InternalMessage), ExternalMessage: asPage(ExternalMessage) }
}

function asPage(html: unknown): unknown {
  if (typeof html !== 'string' || html === '') return html
  const body = html
    .replaceAll('&#39;', "'")
    .replaceAll('<br>', '<br>\r\n')
    .replaceAll('  ', '&nbsp; ')
    .replace(/[^\s\u0020-\u007e]/gu, (letter) => `&${named[letter] ?? `#${letter.codePointAt(0)}`};`)
  return `<html>\r\n${head}\r\n<body>\r\n${body}\r\n</body>\r\n</html>\r\n`
}
