/**
 * The same value with all its text fit to be stored: no column holds U+0000 or half of a surrogate pair. Clients send
 * such text when something was pasted badly, so it is mended rather than refused.
 */
export function cleaned(value: unknown): unknown {
  if (typeof value === 'string') return value.replaceAll('\0', '').toWellFormed()
  if (Array.isArray(value)) return value.map(cleaned)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [String(cleaned(key)), cleaned(member)]))
}
