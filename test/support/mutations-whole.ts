import { gzipSync } from 'node:zlib'
import type { JsonObject, Mutation } from './mutations.ts'
import { pick, type Random, someId } from './odd-values.ts'

const types = [
  'text/plain',
  'application/xml',
  'application/x-www-form-urlencoded',
  'application/json; charset=utf-16',
  '*/*',
]

/** The same body in formats that nobody should accept. */
const wholeChanges: Readonly<Record<string, (text: string, random: Random) => Omit<Mutation, 'what' | 'pointers'>>> = {
  'cut off': (text, random) => ({ body: text.slice(0, Math.max(1, Math.floor(random() * text.length))) }),
  'garbage behind': (text, random) => ({ body: text + pick(random, ['}', ',', 'x', '\0', text, '//x', ';', ']']) }),
  'garbage before': (text, random) => ({ body: pick(random, [")]}',\n", ',', 'x=', '\0', '[']) + text }),
  'a byte order mark': (text) => ({ body: Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), Buffer.from(text)]) }),
  'UTF-16': (text) => ({ body: Buffer.from(text, 'utf16le') }),
  'Latin 1': (text) => ({ body: Buffer.from(text.replace('"', '"é'), 'latin1') }),
  'bytes that are no text': (text, random) => {
    const body = Buffer.from(text)
    body[Math.floor(random() * body.length)] = pick(random, [0x00, 0x80, 0xc0, 0xff, 0xfe, 0x1f])
    return { body }
  },
  'words of JavaScript': (text, random) => ({
    body: text.replace(
      /:("[^"]*"|\d+)/,
      `:${pick(random, ['NaN', 'Infinity', 'undefined', '01', '+1', "'x'", '0x1', '.5'])}`,
    ),
  }),
  'a comment': (text) => ({ body: `/* x */${text}` }),
  'a comma at the end': (text) => ({ body: text.replace(/}$/, ',}') }),
  'something else': (_, random) => ({
    body: pick(random, ['null', '[]', '"x"', '1', 'true', '', ' ', '{', '[{}]', '""', '-']),
  }),
  'too large': (text) => ({ body: text.replace(/^{/, `{"filler":"${'x'.repeat(300_000)}",`) }),
  'a thousand levels': (text) => ({ body: text.replace(/^{/, `{"deep":${'[{"a":'.repeat(500)}1${'}]'.repeat(500)},`) }),
  'a thousand keys': (text) => ({
    body: text.replace(/^{/, `{${Array.from({ length: 1000 }, (_, index) => `"key${index}":${index},`).join('')}`),
  }),
  'another type': (text, random) => ({ body: text, headers: { 'content-type': pick(random, types) } }),
  'a coding': (text, random) => ({
    body: pick(random, [text, gzipSync(text), bomb]),
    headers: { 'content-encoding': pick(random, ['gzip', 'deflate', 'br', 'zstd', 'x', 'gzip, gzip']) },
  }),
}
/** Four megabytes in four kilobytes. */
const bomb = gzipSync(Buffer.alloc(4_000_000))
const wholeChangeNames = Object.keys(wholeChanges)

/** Returns a valid body in a format that a JSON parser need not accept. */
export function mutateWhole(good: JsonObject, random: Random): Mutation {
  const name = pick(random, wholeChangeNames)
  const changed = wholeChanges[name]?.(JSON.stringify(good), random)
  if (!changed) throw new Error(`nobody knows how to do ${name}`)
  return { what: name, pointers: [], ...changed }
}

const addressParts = [
  ...[
    someId,
    '%00',
    '%ff',
    '%2e%2e%2f',
    '..%2f..',
    '%',
    'null',
    'undefined',
    '-1',
    '*',
    '%7B%7D',
    '%27%20or%201=1',
    '%E2%80%AE',
  ],
  ...['a'.repeat(3000), '__proto__', 'constructor', `${someId}%0a`, `{${someId}}`.replace(/[{}]/g, '%7B'), 'REQ-1042'],
]
/** Returns an address with changed ids, or with an addition at the end. */
export const mutateAddress = (path: string, random: Random): string =>
  random() < 0.7 && /[0-9a-f]{8}-[0-9a-f-]{27}/i.test(path)
    ? path.replace(/[0-9a-f]{8}-[0-9a-f-]{27}/i, pick(random, addressParts))
    : path +
      pick(random, ['/', '//', '?x=1', '?__proto__=1', '?limit=1&limit=2', '#x', '%00', ';a=b', '?%', '/..', '?x=%ff'])

const headerValues = [
  '',
  'x',
  '"',
  '*',
  '\x80\xff',
  'a'.repeat(300),
  '"1"',
  'W/"1"',
  '"999999999"',
  '-1',
  '1e9',
  '{}',
  ', ,',
  'é',
]
/** Returns a header that the service reads, with an unexpected value. */
export const mutateHeader = (random: Random): Record<string, string> => ({
  [pick(random, [
    'idempotency-key',
    'accept',
    'if-match',
    'if-none-match',
    'content-type',
    'x-forwarded-for',
    'forwarded',
    'expect',
    'host',
    'x-http-method-override',
    'accept-encoding',
    'content-encoding',
    'accept-language',
    'te',
    'cookie',
  ])]: pick(random, headerValues),
})
