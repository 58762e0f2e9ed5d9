/** Returns a number from 0 to 1, not including 1. */
export type Random = () => number

export const pick = <T>(random: Random, from: readonly T[]): T => {
  const found = from[Math.floor(random() * from.length)]
  if (found === undefined) throw new Error('there is nothing to pick from')
  return found
}

/** An id without an object. */
export const someId = '9f8e7d6c-5b4a-4321-8fed-cba987654321'

export const oddTexts = [
  ...[
    '\0',
    'a\0b',
    '\ud800',
    'a\udfff',
    '\u202eevil',
    '\u2066x\u2069',
    'a\u200bb',
    '\u200f',
    '\ufeff',
    '\ufffe',
    '\u2028',
  ],
  ...[
    'NaN',
    'Infinity',
    '-1',
    '0x1f',
    '1e400',
    'true',
    'null',
    'undefined',
    '[object Object]',
    ' ',
    '\t\r\n',
    '\u007f',
  ],
  ...[
    "' or 1=1 --",
    "x'; drop table requests; --",
    '{{DATE()}}',
    ['$', '{1+1}'].join(''),
    '../../etc/passwd',
    '%00',
    '<script>',
    '=1+1',
  ],
  ...['**b** [x](https://evil.example)', '<at>Sam</at>', 'javascript:alert(1)', '(objectId=*)', "a' or 'a' eq 'a"],
  ...[
    'http://169.254.169.254/',
    'https://127.0.0.1/',
    'ftp://x',
    'x@y@z',
    'a..b@c',
    'İ',
    'ß',
    '１２',
    'ａｂ',
    '\ud83d\ude00',
  ],
]
export const oddNumbers = [
  -1,
  -0,
  0,
  1.5,
  1e300,
  -1e300,
  5e-324,
  2 ** 31,
  2 ** 53 + 2,
  Number.MIN_SAFE_INTEGER,
  102_401,
]
export const prototypeKeys = [
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'hasOwnProperty',
  '__defineGetter__',
  'valueOf',
]
