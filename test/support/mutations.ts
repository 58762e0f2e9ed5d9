import { oddNumbers, oddTexts, pick, prototypeKeys, type Random, someId } from './odd-values.ts'

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json }
export type JsonObject = { [key: string]: Json }

/** A valid body with one change. */
export interface Mutation {
  /** The change and its place. */
  readonly what: string
  /** The JSON pointers (RFC 6901) one of which a refusal must name; empty if the change does not concern one field. */
  readonly pointers: readonly string[]
  readonly body: string | Buffer
  readonly headers?: Readonly<Record<string, string>>
}

interface Place {
  readonly holder: JsonObject | Json[]
  readonly key: string | number
  readonly pointer: string
  readonly value: Json
}

const escaped = (key: string | number): string => String(key).replaceAll('~', '~0').replaceAll('/', '~1')

/** Returns every member and element of a value, at any depth. */
function placesIn(holder: JsonObject | Json[], at = ''): Place[] {
  const keys: (string | number)[] = Array.isArray(holder) ? [...holder.keys()] : Object.keys(holder)
  return keys.flatMap((key) => {
    const value = Reflect.get(holder, key) as Json
    const pointer = `${at}/${escaped(key)}`
    const here: Place = { holder, key, pointer, value }
    return typeof value === 'object' && value !== null ? [here, ...placesIn(value, pointer)] : [here]
  })
}

function put(holder: JsonObject | Json[], key: string | number, value: Json): void {
  // A plain assignment to `__proto__` would set the prototype, and the body would not contain it.
  Object.defineProperty(holder, key, { value, enumerable: true, configurable: true, writable: true })
}

/** Placeholders for texts that JSON.stringify would escape. They are replaced in the final text. */
const raw = { token: '@@raw@@', key: '@@key@@' }

const nested = (levels: number): Json => {
  let value: Json = []
  for (let level = 1; level < levels; level += 1) value = [value]
  return value
}
const long = (value: Json, random: Random): Json => {
  const times = pick(random, [70, 300, 1100, 3000, 40_000])
  if (Array.isArray(value)) return Array.from({ length: Math.min(times, 3000) }, () => value[0] ?? 'x')
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(Array.from({ length: Math.min(times, 2000) }, (_, index) => [`k${index}`, 'v']))
  return pick(random, ['x', 'é', '漢', '😀', ' ', '\u0301', 'a b ']).repeat(times).slice(0, 50_000)
}

const otherType = (value: Json, random: Random): Json => {
  const all: Json[] = ['text', 7, true, [], {}, ['text'], { a: 1 }, [[]], [{}], [null], 0, false]
  const kind = (one: Json) => (Array.isArray(one) ? 'array' : typeof one)
  return pick(
    random,
    all.filter((one) => kind(one) !== kind(value)),
  )
}
const otherId = (random: Random, id: string): Json =>
  pick<Json>(random, [
    ...[
      someId,
      id.toUpperCase(),
      id.slice(1),
      `{${id}}`,
      `urn:uuid:${id}`,
      id.replaceAll('-', ''),
      `${id} `,
      `${id}\n`,
    ],
    ...['00000000-0000-0000-0000-000000000000', 'ffffffff-ffff-ffff-ffff-ffffffffffff', `${id}${id}`, [id], { id }],
  ])
const isId = (value: Json): value is string => typeof value === 'string' && /^[0-9a-f]{8}-[0-9a-f-]{27}$/i.test(value)

/** Changes one place, and returns other pointers that a refusal may name. */
type FieldChange = (place: Place, random: Random, root: JsonObject) => readonly string[] | undefined

const instead =
  (make: (value: Json, random: Random) => Json): FieldChange =>
  ({ holder, key, value }, random) => {
    put(holder, key, make(value, random))
    return []
  }
/** Adds a member next to the place or inside it. */
const beside = (place: Place, root: JsonObject, key: string, value: Json): readonly string[] => {
  const inside = typeof place.value === 'object' && place.value !== null && !Array.isArray(place.value)
  const [holder, at] = inside
    ? [place.value as JsonObject, place.pointer]
    : Array.isArray(place.holder)
      ? [root, '']
      : [place.holder, place.pointer.slice(0, place.pointer.lastIndexOf('/'))]
  put(holder, key, value)
  // In a map of people or of metadata, the map itself has too many members, or a wrong key.
  return [`${at}/${escaped(key)}`, ...(at === '' ? [] : [at])]
}

const fieldChanges: Readonly<Record<string, FieldChange>> = {
  'another type': instead(otherType),
  null: instead(() => null),
  nothing: instead((value) => (Array.isArray(value) ? [] : typeof value === 'object' ? {} : '')),
  'too long': instead(long),
  'too deep': instead((_, random) => nested(pick(random, [9, 12, 100, 1000]))),
  'odd text': instead((_, random) => pick(random, oddTexts)),
  'odd text within': instead((value, random) =>
    typeof value === 'string' ? `${value}${pick(random, oddTexts)}` : pick(random, oddTexts),
  ),
  'odd number': instead((_, random) => pick(random, oddNumbers)),
  'a number of no size': instead(() => raw.token),
  'a list of it': instead((value) => [value]),
  'another id': instead((value, random) => (isId(value) ? otherId(random, value) : someId)),
  'another case': instead((value) =>
    typeof value === 'string' ? (value === value.toUpperCase() ? value.toLowerCase() : value.toUpperCase()) : [value],
  ),
  'left out': ({ holder, key }) => {
    if (Array.isArray(holder)) holder.splice(Number(key), 1)
    else delete holder[key]
    return []
  },
  'key in another case': ({ holder, key, pointer }) => {
    if (Array.isArray(holder)) return undefined
    const name = String(key) === String(key).toUpperCase() ? String(key).toLowerCase() : String(key).toUpperCase()
    if (name === key) return undefined
    put(holder, name, holder[key] ?? null)
    delete holder[key]
    return [`${pointer.slice(0, pointer.lastIndexOf('/'))}/${escaped(name)}`]
  },
  'unknown field': (place, random, root) =>
    beside(
      place,
      root,
      pick(random, ['unknown', 'isAdmin', 'tenantId', 'status', 'a/b~c', '', '$ref', 'k'.repeat(200)]),
      'x',
    ),
  'key of a prototype': (place, random, root) => beside(place, root, pick(random, prototypeKeys), { isAdmin: true }),
  // A key that is no text has no pointer, so the refusal names its object.
  'key that is no text': (place, random, root) => {
    const [pointer = '', holder = ''] = beside(
      place,
      root,
      pick(random, ['\0', 'a\ud800', '\u202e', '\ufeffname']),
      'x',
    )
    return [pointer, holder]
  },
  'key twice': ({ holder, key }, random) => {
    if (Array.isArray(holder)) return undefined
    put(holder, `${raw.key}${key}`, pick<Json>(random, ['x', null, 1, []]))
    return []
  },
}
const fieldChangeNames = Object.keys(fieldChanges)

/** Changes one field of a valid body, at a place and in a way that `random` chooses. */
export function mutateField(good: JsonObject, random: Random): Mutation {
  for (;;) {
    const root = structuredClone(good)
    const place = pick(random, placesIn(root))
    const name = pick(random, fieldChangeNames)
    const more = fieldChanges[name]?.(place, random, root)
    if (more === undefined) continue
    const isBeside = name === 'unknown field' || name === 'key of a prototype' || name === 'key that is no text'
    const pointers = isBeside ? more : [place.pointer, ...more]
    const number = pick(random, ['1e400', '-1e400', '9007199254740993', '0.1e-400', '-0'])
    const body = JSON.stringify(root).replaceAll(`"${raw.token}"`, number).replaceAll(`"${raw.key}`, '"')
    return { what: `${name} at ${place.pointer}`, pointers, body }
  }
}
