/**
 * A text for any field that a renderer, template, log, page or spreadsheet might interpret. `shown` is the text that
 * people must read if it differs: control and direction characters are removed, and the character U+2060 splits a date
 * function (src/cards/shared/render.ts). Each text is short enough to be complete on a card, except those named long.
 */
export interface HostileText {
  readonly what: string
  readonly text: string
  readonly shown: string
}

const evil = 'https://evil.example'
/** Writes an expression without a template literal. */
const expression = (inner: string): string => `$\{${inner}}`
const joiner = '\u2060'

const asTheyAre: Readonly<Record<string, readonly string[]>> = {
  'markdown link': ['[x](https://evil.example)', '[x][y]\n\n[y]: //evil.example', '[x](<//evil.example> "t")'],
  'markdown image': ['![x](https://evil.example/i)', `![](${evil}/p.png)`],
  'markdown emphasis': ['**b** __b__ *i* _i_ ~~s~~', '`code` ***both***', '\\**escaped\\**'],
  'markdown block': ['# Heading', '- one\n- two', '1. one\n2. two', '> quoted', '```\ncode\n```', '---\nrule'],
  'markdown table': ['|a|b|\n|-|-|\n|1|2|'],
  autolink: ['https://evil.example/x', 'www.evil.example', '<https://evil.example>', '//evil.example/x'],
  'autolink of a person': ['a@evil.example', 'mailto:a@evil.example', 'tel:+41441234567', '+41 44 123 45 67'],
  scheme: ['javascript:alert(1)', 'JaVaScRiPt:alert(1)', 'data:text/html,<b>x</b>', 'vbscript:msgbox(1)'],
  'markdown scheme': ['[x](javascript:alert(1))', '[x](data:text/html,x)', '[x](vbscript:x)'],
  html: ['<b>x</b>', '<img src=//evil.example/i>', '<a href=//evil.example>x</a>', '&lt;b&gt; &amp; &#60;b&#62;'],
  script: ['<script>alert(1)</script>', '<img src=x onerror=alert(1)>', '"><svg onload=alert(1)>', "' onload='x"],
  mention: ['<at>all</at>', '<at id="0">Sam Roy</at>', '@everyone'],
  'template expression': [
    expression('$root'),
    expression('strings.button.send'),
    expression('1+1'),
    expression("json('{}')"),
    `$${expression('$data')}`,
    '@{utcNow()}',
  ],
  'template binding': ['{"$data":[1,2]}', '{"$when":false}', '"$when": "false"', '{"type":"Image"}'],
  'placeholder of ours': ['{name} {count} {reference}', '{strings}', '{0}'],
  formula: ['=1+1', "=cmd|'/C calc'!A0", '+1', '-1', '@SUM(A1)', '\t=1+1', '=HYPERLINK("//evil.example")'],
  'log line': ['x\n{"level":60,"msg":"no"}', 'x\n2026-11-20 ERROR y'],
  'field of a card': ['x\nApproved by: Dana Fox', 'x\n\n✓ Approved'],
  json: ['"},{"a":"b', '\\', '\\u0022', '\'"`', '{"__proto__":{"x":1}}'],
  'name of a member': ['__proto__', 'constructor', 'toString', 'strings.notice', '../../etc/passwd'],
  'zero width': ['a\u200bb\u200dc\ufeffd', 'x\u2060y'],
  homoglyph: ['Dаna Fоx', 'ｃｏｎｔｏｓｏ', 'İıſß'],
  'mark of direction': ['a\u200fb\u200ec', 'שלום world'],
  emoji: ['👩‍👩‍👧‍👦 🏳️‍🌈', '👍🏽 1️⃣ 🇨🇭'],
  combining: [`Z${'\u0300\u0301\u0302\u0323'.repeat(5)}algo`],
  sql: ["'; drop table requests;--", "' or 1=1 --"],
}

const cleaned: readonly HostileText[] = [
  { what: 'carriage return', text: '\r=1+1\r\nx', shown: '\n=1+1\nx' },
  { what: 'other line breaks', text: 'a\u2028b\u2029c\u0085d', shown: 'a\nb\nc\nd' },
  { what: 'terminal escape', text: '\u001b[31mred\u001b[0m \u009b1m', shown: '[31mred[0m 1m' },
  { what: 'terminal link', text: '\u001b]8;;//evil.example\u0007x', shown: ']8;;//evil.examplex' },
  { what: 'controls', text: 'a\u0000b\u0007c\bd\u000be\u007ff', shown: 'abcdef' },
  { what: 'override of direction', text: 'a\u202efdp.exe\u202cb', shown: 'afdp.exeb' },
  { what: 'override that does not end', text: '\u202eevil', shown: 'evil' },
  { what: 'isolate that does not end', text: '\u2066a\u2067b\u2068c', shown: 'abc' },
  { what: 'first half of a pair', text: 'a\ud83db', shown: 'a\ufffdb' },
  { what: 'second half of a pair', text: '\ude00b', shown: '\ufffdb' },
  { what: 'date function', text: '{{DATE(2026-01-01T00:00:00Z)}}', shown: `{${joiner}{DATE(2026-01-01T00:00:00Z)}}` },
  {
    what: 'long date function',
    text: '{{DATE(2026-01-01T00:00:00Z, LONG)}}',
    shown: `{${joiner}{DATE(2026-01-01T00:00:00Z, LONG)}}`,
  },
  { what: 'time function', text: '{{TIME(2026-01-01T00:00:00Z)}}', shown: `{${joiner}{TIME(2026-01-01T00:00:00Z)}}` },
]

/** Longer than most fields show. */
const long: Readonly<Record<string, string>> = {
  'long word': 'Donaudampfschiff'.repeat(20),
  'long text': 'Wörter **und** [mehr](https://evil.example) '.repeat(25),
  'long combining': `a${'\u0301'.repeat(400)}`,
}

const entries = Object.entries(asTheyAre).flatMap(([what, texts]) => texts.map((text) => ({ what, text, shown: text })))

/** Texts that fit into every field of a card. */
export const shortHostileTexts: readonly HostileText[] = [...entries, ...cleaned]

export const hostileTexts: readonly HostileText[] = [
  ...shortHostileTexts,
  ...Object.entries(long).map(([what, text]) => ({ what, text, shown: text })),
]

/**
 * Addresses that a webhook or the directory could return for a site of https://contoso.sharepoint.com, but that belong
 * elsewhere.
 */
export const foreignUrls: readonly string[] = [
  ...[
    'javascript:alert(1)',
    'data:text/html,x',
    'vbscript:x',
    'file:///etc/passwd',
    'ftp://contoso.sharepoint.com/',
    'x',
  ],
  ...['http://contoso.sharepoint.com/sites/x', 'https://contoso.sharepoint.com:8443/sites/x', '//evil.example', ''],
  ...['https://contoso.sharepoint.com.evil.example/', 'https://evil.example/contoso.sharepoint.com/sites/x'],
  ...['https://contoso.sharepoint.com@evil.example/', 'https://a:b@contoso.sharepoint.com/sites/x'],
  ...['https://contoso.sharepoint.com%2eevil.example/', 'https://'],
  ...[
    'https://cоntoso.sharepoint.com/sites/x',
    'https://contoso-my.sharepoint.com/',
    'blob:https://contoso.sharepoint.com/x',
  ],
  ...[
    '[x](https://contoso.sharepoint.com)',
    'msteams://x',
    ' https://evil.example/sites/x',
    '\u202ehttps://evil.example/',
  ],
]
