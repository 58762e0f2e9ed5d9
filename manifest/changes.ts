/** Lists the differences between two JSON values, one line each: `path: before → after`. */
export function changesBetween(before: unknown, after: unknown): string[] {
  const [old, current] = [leaves(before), leaves(after)]
  return [...new Set([...old.keys(), ...current.keys()])].flatMap((path) => {
    const [was, is] = [old.get(path), current.get(path)]
    if (was === is) return []
    if (was === undefined) return [`${path}: ${is}, new`]
    return [is === undefined ? `${path}: removed` : `${path}: ${was} → ${is}`]
  })
}

/** Returns all strings, numbers and other leaves as JSON, by path. */
function leaves(value: unknown, path = ''): Map<string, string> {
  if (typeof value !== 'object' || value === null) return new Map([[path, JSON.stringify(value)]])
  const entries = Object.entries(value).flatMap(([name, member]) => {
    const step = Array.isArray(value) ? `[${name}]` : path === '' ? name : `.${name}`
    return [...leaves(member, path + step)]
  })
  return new Map(entries)
}
